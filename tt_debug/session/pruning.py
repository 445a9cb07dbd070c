"""What a store could be freed of, thread by thread, and what it must keep and why. Looks only; nothing is deleted.

Reached as ``session.pruning``. Owns gathering the facts; the rules are `tt_debug.pruning`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from stores.errors import NotFound, StoreError
from stores.keeping import TellsNeeds, TellsProtected, TellsRoom
from stores.model import Header, Ref, ThreadInfo
from stores.protocol import Store
from tt_debug.pruning import FREE_TO_GO, Facts, Why, kept
from tt_debug.session.journal import Journal
from tt_debug.session.listing import every_header, every_thread

if TYPE_CHECKING:
    from tt_debug.session.questions import OnProgress


@dataclass(frozen=True, slots=True)
class Policy:
    """What is to stay beside what must: the ``newest`` checkpoints of every line, and threads younger than ``age``."""

    newest: int = 1
    age: timedelta | None = None


Reasons: TypeAlias = Mapping[Why, tuple[int, int]]
"""Why checkpoints stay → how many do for that, and the bytes of their states."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One thread: how many ``checkpoints`` it has, how many of them could be ``freed``, why the others stay.

    ``total`` and ``free`` are bytes, in the store where ``exact`` (values stored once for several checkpoints count
    once), else of the states alone. ``kept`` are those that stay, oldest first, where one thread was asked about.
    ``problem`` is why nothing could be found out: all stays.
    """

    thread: str
    status: str
    checkpoints: int = 0
    freed: int = 0
    total: int = 0
    free: int = 0
    exact: bool = False
    reasons: Reasons = field(default_factory=dict)
    kept: tuple[tuple[Header, Why], ...] = ()
    problem: str | None = None

    @property
    def sized(self) -> bool:
        """Whether its bytes are known: a state is never of none."""
        return bool(self.total or not self.checkpoints)


@dataclass(slots=True)
class Sum:
    """The advice on many threads, added up."""

    threads: int = 0
    checkpoints: int = 0
    freed: int = 0
    total: int = 0
    free: int = 0
    exact: bool = True
    reasons: dict[Why, tuple[int, int]] = field(default_factory=dict)

    @property
    def sized(self) -> bool:
        """Whether bytes are known of them: a state is never of none."""
        return bool(self.total or not self.checkpoints)

    def add(self, advice: Advice) -> None:
        """One more thread."""
        self.threads += 1
        self.checkpoints += advice.checkpoints
        self.freed += advice.freed
        self.total += advice.total
        self.free += advice.free
        self.exact = self.exact and (advice.exact or advice.problem is not None)
        for why, (count, size) in advice.reasons.items():
            before = self.reasons.get(why, (0, 0))
            self.reasons[why] = before[0] + count, before[1] + size


class Pruning:
    """Advice on one store."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store = store
        self._journal = journal

    def advice(
        self, policy: Policy, thread: str | None = None, on_progress: OnProgress | None = None
    ) -> Iterator[Advice]:
        """Of every thread, or of one; the newest write first. Raises NotFound, and Stopped."""
        infos = list(every_thread(self._store, self._journal))
        # A store that copies a fork's rows has all of the fork in its own thread.
        linked = [] if self._store.info.kind.startswith("langgraph") else [info.forked_from for info in infos]
        bases = frozenset(ref for ref in linked if ref is not None)
        marks = frozenset(mark.ref for mark in self._journal.marks())
        protected = self._store.protected() if isinstance(self._store, TellsProtected) else frozenset()
        wanted = [info for info in infos if thread in (None, info.thread)]
        if not wanted and thread is not None:
            raise NotFound(f"no thread {thread!r} in {self._store.info.url}", hint="tt-debug threads lists them")
        for done, info in enumerate(wanted):
            if on_progress is not None and not on_progress(done, len(wanted)):
                from tt_debug.session.questions import Stopped  # with blame and search, 10 ms

                raise Stopped
            whole = Why.PROTECTED if info.thread in protected else _whole(info, policy)
            facts = Facts(frozenset(), whole, marks, bases, policy.newest, self._needed)
            yield self._of(info, facts, told=thread is not None)

    def _of(self, info: ThreadInfo, known: Facts, *, told: bool) -> Advice:
        try:
            headers = tuple(every_header(self._store, info.thread))
            stays = kept(headers, replace(known, heads=self._heads(info.thread, headers)))
            size = self._bytes(info.thread, headers, stays)
        except StoreError as error:
            return Advice(info.thread, info.status, problem=str(error))
        why = [(header, stays[header.ref]) for header in headers if header.ref in stays]
        counts, freed = _counted(why), len(headers) - len(why)
        return Advice(info.thread, info.status, len(headers), freed, *size, counts, tuple(why) if told else ())

    def _heads(self, thread: str, headers: Sequence[Header]) -> frozenset[Ref]:
        """What the runtime loads; in LangGraph's tables also of subgraphs that keep their state."""
        found = set()
        for ns in {header.ref.ns for header in headers}:
            try:
                found.add(self._store.head(thread, ns))
            except NotFound:
                continue
        return frozenset(ref for ref in found if ":" not in ref.ns.rpartition("|")[2])

    def _needed(self, ref: Ref) -> tuple[Ref, ...]:
        return self._store.needed(ref) if isinstance(self._store, TellsNeeds) else ()

    def _bytes(self, thread: str, headers: Sequence[Header], stays: Mapping[Ref, Why]) -> tuple[int, int, bool]:
        if isinstance(self._store, TellsRoom):
            return (*self._store.room(thread, frozenset(stays)), True)
        sizes = [(header.size or 0, header.ref in stays) for header in headers]
        return sum(size for size, _ in sizes), sum(size for size, stays in sizes if not stays), False


def _counted(why: Iterable[tuple[Header, Why]]) -> Reasons:
    found: dict[Why, tuple[int, int]] = {}
    for header, reason in why:
        count, size = found.get(reason, (0, 0))
        found[reason] = count + 1, size + (header.size or 0)
    return found


def _whole(info: ThreadInfo, policy: Policy) -> Why | None:
    """Why all of a thread stays."""
    if info.status not in FREE_TO_GO:
        return Why.STANDING
    if policy.age is not None and (info.updated is None or datetime.now(UTC) - info.updated < policy.age):
        return Why.RECENT
    return None
