"""Which rows of a thread a fork to a new thread takes along.

Owns the choice: the base's line, and what ran below it; refuses SQL and contents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stores.langgraph.rows import NULL_TASK
from stores.langgraph.skeleton import Key, Skeleton

Owners = Mapping[str, str]
"""Namespace → the checkpoint there whose step a checkpoint belongs to: the metadata's ``parents``."""


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """The checkpoints to copy. ``left_out`` are writes that stay behind: all of a checkpoint, or those of some tasks.

    ``given`` has a row of its own in the copy, which is not copied: only its writes are.
    """

    checkpoints: tuple[Key, ...]
    left_out: Mapping[Key, frozenset[str] | None]
    given: Key | None = None

    @property
    def rows(self) -> tuple[Key, ...]:
        """The checkpoints whose rows are copied as they are."""
        return tuple(key for key in self.checkpoints if key != self.given)


def plan_copy(
    skeleton: Skeleton, base: Key, owners_of: Callable[[Key], Owners], *, keep_results: bool = False
) -> CopyPlan:
    """The line of ``base`` and of the checkpoints it runs below, with the finished namespaces of their tasks.

    Where ``base`` has a child, its own writes are the results of the step that went on from it: copied, the
    runtime would apply them and skip that step, so they stay behind with the namespaces below its tasks.
    """
    cuts = {base.ns: base}
    cuts |= {ns: Key(id, ns) for ns, id in owners_of(base).items() if Key(id, ns) in skeleton}
    left_out = _left_out(skeleton, base, cuts, keep_results)
    taken = {key: None for cut in cuts.values() for key in skeleton.lineage(cut)}
    # An outer namespace before those inside it: what a checkpoint runs below is decided first.
    for key in sorted(skeleton.order, key=lambda key: (key.ns.count("|"), key)):
        if key.ns not in cuts and _belongs(key, owners_of(key), taken, left_out):
            taken[key] = None
    return CopyPlan(tuple(taken), left_out)


def _left_out(
    skeleton: Skeleton, base: Key, cuts: Mapping[str, Key], keep_results: bool
) -> dict[Key, frozenset[str] | None]:
    """What stays behind of the writes at each end of a line."""
    found: dict[Key, frozenset[str] | None] = {}
    goes_on = skeleton.has_child(base)
    if goes_on and not keep_results:
        found[base] = None
    for ns, cut in cuts.items():
        if cut == base:
            continue
        if skeleton.has_child(cut) and not keep_results:
            found[cut] = None
        elif skeleton.has_child(cut) or goes_on:
            # The task around the base runs again; an answer given to it is not an answer to what it asks then.
            found[cut] = frozenset({task_below(ns, base.ns), NULL_TASK})
    return found


def _belongs(
    key: Key, owners: Owners, taken: Mapping[Key, None], left_out: Mapping[Key, frozenset[str] | None]
) -> bool:
    """Whether a checkpoint of an inner namespace ran below checkpoints that are taken, by tasks that are."""
    if not owners:
        return False
    for ns, id in owners.items():
        owner = Key(id, ns)
        if owner not in taken:
            return False
        if owner in left_out:
            tasks = left_out[owner]
            if tasks is None or task_below(ns, key.ns) in tasks:
                return False
    return True


def task_below(outer: str, inner: str) -> str:
    """The task of the graph at namespace ``outer`` in whose run ``inner`` lies; empty for a persistent subgraph."""
    rest = inner.removeprefix(outer).removeprefix("|") if outer else inner
    return rest.partition("|")[0].partition(":")[2]
