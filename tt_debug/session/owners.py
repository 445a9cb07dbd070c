"""Runs as they really stand: what their rows say, corrected by whether their owner still lives."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from stores.errors import Conflict, LeaseLost, NotFound
from stores.model import Checkpoint, Header, Ref, Status
from stores.protocol import RunStore, Store
from stores.run_status import RunStatus
from tt_debug.engine import ownership
from tt_debug.session.run_records import elsewhere

if TYPE_CHECKING:
    from stores.runs import Run

_OPEN: Final = frozenset({Status.UNFINISHED})
_UNSURE: Final = _OPEN | {Status.RUNNING}


def known_runs(store: RunStore, thread: str | None = None) -> tuple[Run, ...]:
    """Newest first. A run whose owner is gone, or has no lease any more, is crashed, whatever its row says."""
    return tuple(
        replace(run, status=RunStatus.CRASHED)
        if run.status == RunStatus.RUNNING and not ownership.is_alive(store, run)
        else run
        for run in store.runs(thread)
    )


def status_now(store: Store, thread: str, status: str) -> str:
    """A thread's or a head's status, corrected in the same way."""
    if status != Status.RUNNING or not isinstance(store, RunStore):
        return status
    active = next((run for run in known_runs(store, thread) if run.status in RunStatus.ACTIVE), None)
    return Status.CRASHED if active is not None and active.status == RunStatus.CRASHED else status


def header_now(store: Store, header: Header, ours: Mapping[str, Run] | None = None) -> Header:
    """The header with that status; ``ours`` are the `standings` of the store, read anew where they are not given."""
    # Asked first: what kind a store is takes 100 µs to tell, more than all else of a header.
    if header.status not in _UNSURE:
        return header
    if isinstance(store, RunStore):
        status = status_now(store, header.ref.thread, header.status)
    elif header.ref.ns or header.status not in _OPEN:
        return header
    else:
        run = (standings(store) if ours is None else ours).get(header.ref.thread)
        status = told(header.status, header.ref.id, run)
    return header if status == header.status else replace(header, status=status)


def loaded(store: Store, ref: Ref) -> Checkpoint:
    """The checkpoint with its header as it really stands. Raises what `stores.protocol.Store.load` does."""
    found = store.load(ref)
    return replace(found, header=header_now(store, found.header))


def settle(store: RunStore, thread: str) -> None:
    """Record a run whose owner died as crashed, so that its thread can be edited. A living run is left alone."""
    for run in store.runs(thread):
        if run.status == RunStatus.RUNNING and not ownership.is_alive(store, run):
            with suppress(LeaseLost):  # somebody took it over since: it is alive
                store.finish(run.run_id, run.token, RunStatus.CRASHED)


def driven_by(store: Store, thread: str) -> Run | None:
    """The run that somebody works on at this moment, in a store that is not ours."""
    with elsewhere(store) as records:
        runs = () if records is None else records.runs(thread)
        return next((run for run in runs if records is not None and ownership.is_alive(records, run)), None)


def refuse_if_driven(store: Store, thread: str) -> None:
    """A driven graph goes on from what it has in memory, and its next checkpoint would overtake an edit.

    Raises Conflict."""
    driver = driven_by(store, thread)
    if driver is not None:
        text = f"process {driver.owner_pid} is running thread {thread!r}"
        raise Conflict(text, hint="pause it first, or fork to a new thread")


def standings(store: Store) -> dict[str, Run]:
    """The newest run of each thread of a store that is not ours, as it really stands, where it has not ended."""
    with elsewhere(store) as records:
        newest: dict[str, Run] = {}
        for run in () if records is None else known_runs(records):
            newest.setdefault(run.thread, run)
    return {thread: run for thread, run in newest.items() if run.status in (RunStatus.RUNNING, RunStatus.CRASHED)}


def told(status: str, head: str | None, run: Run | None) -> str:
    """The status of a foreign thread whose head that is: what our own run tells, where it stands there still.

    Its application may have gone on since, and then says itself how it stands."""
    here = run is not None and run.head is not None and run.head.id == head
    return run.shown if here and run is not None and status in _OPEN else status


def stop(store: RunStore, thread: str, what: str, *, force: bool = False) -> None:
    """Ask the thread's active run to "pause" or "cancel"; see `recover.stop`. Raises NotFound when it has none."""
    from tt_debug.engine import recover  # with the records of runs, 8 ms, and looking stops nothing

    active = next((run for run in store.runs(thread) if run.status in RunStatus.ACTIVE), None)
    if active is None:
        raise NotFound(f"no active run on {thread!r}", hint="tt-debug runs STORE lists them")
    recover.stop(store, active.run_id, what, force=force)
