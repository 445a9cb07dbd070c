"""What only runs of our own have to tell: how a state came about, which effects they had, what may be done twice.

Reads only. In a store that keeps no runs there is nothing of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from stores.effects import EffectClass, EffectStatus, EffectUse
from stores.model import Header, Ref
from stores.protocol import RunStore, Store
from stores.runs import Definition, Run, RunStatus, StepRecord
from tt_debug.session.definitions import definition_of
from tt_debug.session.listing import every_header
from tt_debug.session.pacing import SlowNode, slow_nodes
from tt_debug.session.run_records import Records
from tt_debug.session.thread_view import ThreadView

_Place = tuple[str, int]
_KEPT: Final = 8  # threads
_KEYED: Final = (EffectClass.IDEMPOTENT, EffectClass.PROBE, EffectClass.AT_MOST_ONCE)
_MAY_BE_DONE: Final = (EffectStatus.DONE, EffectStatus.INTENT, EffectStatus.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a node and the effects that it came to, in order."""

    record: StepRecord
    uses: tuple[EffectUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """What led to a checkpoint: the attempts at the step that ended there. ``header`` None: the step under way."""

    header: Header | None
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Something that may have been done twice. ``key`` is None where the node has no effect that tells."""

    thread: str
    node: str
    visit: int
    attempts: tuple[str, ...]
    effect: str | None
    key: str | None
    why: str


@dataclass(frozen=True, slots=True)
class PlacedUse:
    """A use of an effect, with the thread and the step it belongs to; ``step`` is None while that has not ended."""

    thread: str
    step: int | None
    use: EffectUse


class Executor:
    """The executor's records of one store."""

    def __init__(self, store: Store, records: Records | None = None) -> None:
        self._records = records or Records(store)
        self._known: dict[str, tuple[tuple[Run, ...], tuple[Attempt, ...]]] = {}

    @property
    def has_runs(self) -> bool:
        """Whether runs of ours are kept for the store. Asks no store."""
        return self._records.is_there

    @property
    def _store(self) -> RunStore | None:
        return self._records.found

    def effects(self, thread: str | None = None) -> tuple[PlacedUse, ...]:
        """Every time that a run of the thread, or of all, came to an effect, in the order of the steps."""
        if self._store is None:
            return ()
        found: list[PlacedUse] = []
        for name in self._threads(self._store, thread):
            uses = self._store.effects(name)
            steps = self._steps(self._store, name) if uses else {}
            found += [PlacedUse(name, steps.get((use.run_id, use.ordinal)), use) for use in uses]
        return tuple(found)

    def story(self, line: Sequence[Header]) -> tuple[Chapter, ...]:
        """How the last checkpoint of ``line`` (oldest first) came about; what runs or failed from there comes last."""
        if self._store is None:
            return tuple(Chapter(header) for header in line)
        ended: dict[Ref, list[Attempt]] = defaultdict(list)
        begun: dict[Ref, list[Attempt]] = defaultdict(list)
        for thread in dict.fromkeys(header.ref.thread for header in line):
            for attempts in _by_step(self._attempts(self._store, thread)):
                end = next((one.record.checkpoint for one in reversed(attempts) if one.record.checkpoint), None)
                place, where = (ended, end) if end else (begun, attempts[-1].record.base)
                place[Ref(thread, "", where or "")].extend(attempts)
        told = [Chapter(header, tuple(ended.get(header.ref, ()))) for header in line]
        under_way = tuple(begun.get(line[-1].ref, ())) if line else ()
        return (*told, Chapter(None, under_way)) if under_way else tuple(told)

    def code(self, thread: str) -> tuple[tuple[datetime, Mapping[str, str]], ...]:
        """When the code that runs the thread was looked at, and a digest of each node's then, the oldest first."""
        if self._store is None:
            return ()
        events = self._store.events(["code"], thread=thread)
        return tuple(
            (event.at, event.data["nodes"]) for event in events if isinstance(event.data.get("nodes"), Mapping)
        )

    def duplicates(self, thread: str | None = None) -> tuple[Duplicate, ...]:
        """What may have been done twice: called again, perhaps under another key, or run again without an effect."""
        if self._store is None:
            return ()
        found: list[Duplicate] = []
        for name in self._threads(self._store, thread):
            attempts = self._attempts(self._store, name)
            found += _called_again(name, attempts)
            found += _run_again_without_a_key(name, attempts)
        return tuple(found)

    def completed(self, ref: Ref) -> Mapping[str, int] | None:
        """How often each node was completed on the line up to there, across forks; None where no run of ours says."""
        return None if self._records.own is None else self._records.own.visits(ref)

    def slow_nodes(self) -> tuple[SlowNode, ...]:
        """Nodes that take more than five times the mean of the others: their parts should be kept by themselves."""
        if self._store is None:
            return ()
        names: dict[str, str] = {}
        for run in self._store.runs():
            if run.workflow_hash not in names:
                names[run.workflow_hash] = self._store.definition(run.workflow_hash).workflow_id
        of_run = {run.run_id: names[run.workflow_hash] for run in self._store.runs()}
        asked = {(step.run_id, step.ordinal) for step in self._answered(self._store)}
        steps = (step for step in self._store.steps() if (step.run_id, step.ordinal) not in asked)
        return slow_nodes(steps, of_run)

    def definition(self, view: ThreadView, ref: Ref) -> Definition | None:
        """The workflow that a checkpoint of the view is bound to; None where there is none."""
        return None if self._records.own is None else definition_of(self._records.own, view, ref)

    def timed(self) -> Iterator[tuple[str, StepRecord, bool]]:
        """Every attempt at a node by the runs of the store: its thread, and whether its time is a person's."""
        if self._store is None:
            return
        people = {(step.run_id, step.ordinal) for step in self._answered(self._store)}
        threads = {run.run_id: run.thread for run in self._store.runs()}
        for step in self._store.steps():
            if not step.substep and step.run_id in threads:
                yield threads[step.run_id], step, (step.run_id, step.ordinal) in people

    def _answered(self, store: RunStore) -> Iterable[StepRecord]:
        """The steps that were a human's: their time is the human's too."""
        people = {(asked.run_id, asked.node) for asked in store.approvals(status=None) if asked.kind == "approval"}
        return (step for step in store.steps() if (step.run_id, step.node) in people)

    def _threads(self, store: RunStore, thread: str | None) -> list[str]:
        """The one, or all that ever ran, the oldest first."""
        return [thread] if thread is not None else list(dict.fromkeys(run.thread for run in reversed(store.runs())))

    def _steps(self, store: RunStore, thread: str) -> dict[_Place, int | None]:
        """The step's number in the thread, for each step of a run that has ended."""
        numbers = {header.ref.id: header.step for header in every_header(store, thread)}
        records = (record for run in store.runs(thread) for record in store.steps(run.run_id) if record.checkpoint)
        return {(record.run_id, record.ordinal): numbers.get(record.checkpoint or "") for record in records}

    def _attempts(self, store: RunStore, thread: str) -> tuple[Attempt, ...]:
        """Every attempt of the thread, oldest first; kept while no run of it moves, as a cursor comes back again."""
        runs = store.runs(thread)
        known = self._known.get(thread)
        if known is not None and known[0] == runs and all(run.status != RunStatus.RUNNING for run in runs):
            return known[1]
        uses: dict[tuple[str, int, int], list[EffectUse]] = defaultdict(list)
        for use in store.effects(thread):
            uses[use.run_id, use.ordinal, use.attempt].append(use)
        records = (record for run in reversed(runs) for record in store.steps(run.run_id))
        found = tuple(
            Attempt(record, () if record.substep else tuple(uses[record.run_id, record.ordinal, record.attempt]))
            for record in records
        )
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[thread] = runs, found
        return found


def _by_step(attempts: Iterable[Attempt]) -> Iterable[list[Attempt]]:
    """The attempts of one step together; a part of it that was completed by itself stands for itself."""
    steps: dict[tuple[_Place, str], list[Attempt]] = defaultdict(list)
    for one in attempts:
        steps[(one.record.run_id, one.record.ordinal), one.record.substep].append(one)
    return steps.values()


def _called_again(thread: str, attempts: Sequence[Attempt]) -> Iterable[Duplicate]:
    """What was called under several keys; and under one key that the other side need not know."""
    called: dict[str, list[tuple[Attempt, EffectUse]]] = defaultdict(list)
    for one in attempts:
        for use in one.uses:
            if use.called and use.effect.kind in _KEYED and use.effect.status in _MAY_BE_DONE:
                called[use.effect.slot.key].append((one, use))
    for slot, calls in called.items():
        keys = {use.effect.key: use.effect.status for _, use in calls}
        # An attempt that failed knew that nothing was done; one that was given up did not.
        unsure = [use for one, use in calls[:-1] if one.record.status == "abandoned"]
        if len(keys) == 1 and not (unsure and unsure[0].effect.kind == EffectClass.AT_MOST_ONCE):
            continue
        if len(keys) == 1:
            why = f"called {len(calls)} times under one key, as somebody decided"
        elif all(status == EffectStatus.DONE for status in keys.values()):
            why = f"done under {len(keys)} keys, as somebody decided"
        else:
            why = f"called under {len(keys)} keys, as somebody decided; not each is known to be done"
        tries = tuple(f"{one.record.attempt} {one.record.status}" for one, _ in calls)
        first, use = calls[0]
        yield Duplicate(thread, first.record.node, first.record.visit, tries, use.effect.slot.name, slot, why)


def _run_again_without_a_key(thread: str, attempts: Sequence[Attempt]) -> Iterable[Duplicate]:
    for tries in _by_step(attempts):
        first = tries[0].record
        asked = any(one.record.status == "waiting" for one in tries)
        if len(tries) > 1 and not asked and not first.substep and not any(one.uses for one in tries):
            told = tuple(f"{one.record.attempt} {one.record.status}" for one in tries)
            why = "no effect, so no key: what it does outside may have been done each time"
            yield Duplicate(thread, first.node, first.visit, told, None, None, why)
