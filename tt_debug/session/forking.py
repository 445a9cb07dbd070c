"""Forks and edits: checked before anything is stored, then one transaction, then our note of where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from stores.blobs import taken_out
from stores.changes import apply_changes
from stores.codec import json as strict_json
from stores.errors import Conflict, Invalid, Unsupported
from stores.model import Capability, Change, Checkpoint, Header, Ref, Value
from stores.protocol import RunStore, Store, Writer
from stores.server_runs import ServerRuns
from tt_debug.definition.schemas import BadSchema, schema_fault
from tt_debug.equality import strict_equal
from tt_debug.errors import UsageError
from tt_debug.session import owners
from tt_debug.session.addresses import thread_exists
from tt_debug.session.definitions import ADOPTED
from tt_debug.session.heads import place, places
from tt_debug.session.journal import Journal


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork as asked for; ``thread`` is the new thread's name, None any free one.

    ``fresh``: no effect on record is its own."""

    base: Ref
    thread: str | None
    changes: tuple[Change, ...] = ()
    keep_results: bool = False
    adopt: Path | None = None
    fresh: bool = False


def checked(
    store: Store, checkpoint: Checkpoint, changes: Sequence[Change], definition: str | None
) -> Mapping[str, Value]:
    """The state after ``changes``. Raises Invalid, with the path, for what cannot be applied or stored."""
    state: Mapping[str, Value] = apply_changes(dict(checkpoint.state), changes)
    if not isinstance(state, Mapping):
        raise Invalid("the whole state must stay an object of keys and values")
    plain = taken_out(dict(state))[0] if Capability.BLOBS in store.info.capabilities else dict(state)
    if changes and store.info.kind in ("native", "memory"):
        strict_json.dumps(plain)
    schema = orjson.loads(definition).get("state_schema") if definition and changes else None
    try:
        fault = schema_fault(schema, plain) if schema else None
    except BadSchema as error:
        raise Invalid(f"the workflow's state_schema cannot be applied: it {error}") from error
    if fault is not None:
        raise Invalid(f"the workflow's state_schema does not allow it: {fault}")
    return state


def fork(store: Store, journal: Journal, asked: Fork) -> Header:
    """Append the fork. Raises Conflict when the thread that was asked for exists, the base's own among them."""
    if asked.thread is not None:
        return _forked(store, journal, asked, asked.thread)
    while True:
        name = free_name(store, asked.base.thread)
        try:
            return _forked(store, journal, asked, name)
        except Conflict:
            # Another process may have taken the name since; nobody asked for this very one.
            if not name or not thread_exists(store, name):
                raise


def _forked(store: Store, journal: Journal, asked: Fork, thread: str) -> Header:
    writer = _writer(store)
    if thread == asked.base.thread:  # a store would take it for an edit
        raise _taken(thread)
    meta: dict[str, object] = {}
    if asked.adopt is not None:
        meta[ADOPTED] = _adopted(store, asked.adopt, store.load(asked.base).header)
    if asked.fresh and isinstance(store, ServerRuns):
        raise Unsupported(f"a {store.info.kind} store records no effects", hint="leave out --fresh-effects")
    if asked.fresh and isinstance(store, RunStore):
        meta["business_id"] = _fresh_scope(asked.base, thread)
    changes = _telling(store, asked.base, asked.changes)
    header = writer.fork(asked.base, thread, changes, keep_results=asked.keep_results, meta=meta)
    if not isinstance(store, RunStore):
        journal.record_fork(header.ref.thread, asked.base, fresh=asked.fresh)
    return header


def rooted(journal: Journal, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint; where it is an edited copy, under the id of what it is a copy of, with that as its parent."""
    header = checkpoint.header
    if header.source != "fork":
        return checkpoint
    base = journal.forks().get(header.ref.thread)
    if base is None or (base.ns, base.id) != (header.ref.ns, header.ref.id):
        return checkpoint
    return replace(checkpoint, header=replace(header, parent=base))


def _fresh_scope(base: Ref, thread: str) -> str:
    """A business id that no other line of work has, so that no effect has a key that was used before."""
    return f"{base.thread}~{thread}~{base.id}"


def new_name(store: Store, thread: str, wanted: str | None) -> str:
    """``wanted`` when no thread has that name, else Conflict; a free one when none is wanted.

    Raises UsageError for an empty one, and for any where the store names threads itself.
    """
    names_itself = Capability.NAMES_FORKS in store.info.capabilities
    if wanted and names_itself:
        raise UsageError(f"{store.info.url} names threads itself", hint="leave out the new thread's name")
    if wanted is None or names_itself:
        return free_name(store, thread)
    if not wanted:
        raise UsageError("the new thread's name cannot be empty", hint="left out, a free one is found")
    if thread_exists(store, wanted):
        raise _taken(wanted)
    return wanted


def _taken(thread: str) -> Conflict:
    return Conflict(f"thread {thread!r} exists", hint="choose another name; edit is what appends to a thread itself")


def free_name(store: Store, thread: str) -> str:
    """The first of ``<thread>-fork-1``, ``-2``, … that no thread has; "" where the store names threads itself."""
    if Capability.NAMES_FORKS in store.info.capabilities:
        return ""
    number = 1
    while thread_exists(store, f"{thread}-fork-{number}"):
        number += 1
    return f"{thread}-fork-{number}"


def edit(store: Store, ref: Ref, changes: Sequence[Change]) -> Header:
    """Append the edit to the thread itself. Raises Conflict when its head has moved on, or a run is moving it."""
    changes = _telling(store, ref, changes)
    if not changes:
        raise UsageError("an edit without a change would store nothing", hint="give --set PATH=JSON")
    head = store.head(ref.thread, ref.ns)
    if head != ref:
        here, there = places(store.load(ref).header, store.load(head).header)
        raise Conflict(
            f"{here} is not the head of {ref.thread!r} (that is {there})",
            hint="fork there instead: the thread itself goes on from its head only",
        )
    if isinstance(store, RunStore):
        owners.settle(store, ref.thread)
    else:
        owners.refuse_if_driven(store, ref.thread)
    return _writer(store).fork(ref, ref.thread, changes)


def _telling(store: Store, base: Ref, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes, or none at all where they leave the state exactly as it is: a form that was saved untouched."""
    before = dict(store.load(base).state)
    return () if strict_equal(before, apply_changes(before, changes)) else tuple(changes)


def _writer(store: Store) -> Writer:
    if Capability.FORK not in store.info.capabilities or not isinstance(store, Writer):
        raise Unsupported(
            f"a {store.info.kind} store can be read, not written", hint="export the thread and import it elsewhere"
        )
    return store


def _adopted(store: Store, path: Path, base: Header) -> str:
    """Register the changed definition and give its hash, by which the fork's runs will find it.

    Raises Conflict when it could not go on from ``base``.
    """
    from tt_debug.definition.load import load_workflow  # 57 ms for pydantic, only when a definition is read

    if not isinstance(store, RunStore):
        raise Unsupported(f"a {store.info.kind} store holds no workflow definitions", hint="leave out the workflow")
    workflow = load_workflow(path)
    missing = next((name for name in base.next if workflow.node(name) is None), None)
    if missing is not None:
        raise Conflict(
            f"{workflow.workflow_id} {workflow.version} has no node {missing!r}, which comes next at {place(base)}",
            hint="fork at a step whose next node it has",
        )
    store.put_definition(workflow.definition())
    return workflow.hash
