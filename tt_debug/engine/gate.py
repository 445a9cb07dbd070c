"""What is checked before a run goes on: that its line is what was written, and that its definition can go on with it.

Runs in the child process, under the run's ownership; user code is called for a migration only. Nothing is run on
what does not pass: the run is held, and the intact checkpoints before it are offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stores.blobs import taken_out
from stores.codec import json as codec
from stores.errors import Corrupt, Invalid, NotFound
from stores.ids import new_id
from stores.model import Checkpoint, Header, NewCheckpoint, Ref, Value
from stores.runs import Approval, Run, RunStatus
from stores.supervision import Case
from tt_debug.definition.code import Code, fingerprint, reference_of
from tt_debug.definition.load import load_body
from tt_debug.definition.schemas import BadSchema, schema_fault
from tt_debug.definition.versions import NoWay, Way, way
from tt_debug.definition.workflow import Workflow
from tt_debug.engine.events import Event
from tt_debug.engine.nodes import find
from tt_debug.engine.retry import FatalError
from tt_debug.engine.traces import message
from tt_debug.errors import DefinitionError
from tt_debug.references import fault as reference_fault

if TYPE_CHECKING:
    from stores.protocol import RunStore
    from tt_debug.engine.surroundings import Surroundings

OFFERED: Final = 3
"""How many intact checkpoints are named to fork from."""


class Held(Exception):
    """The run does not pass. ``kind`` is one of `stores.supervision.Case`."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Passed:
    """The definition to run by, and what the user is told of it."""

    workflow: Workflow
    notes: tuple[str, ...] = ()


def check(store: RunStore, run: Run, adopt: str | None = None, *, check_refs: bool = False) -> Passed:
    """Let a run pass that is owned by us, or raise Held. ``adopt`` is the hash of a definition it is to go on with;
    with ``check_refs`` servers on the web are asked for what the state refers to there.

    A definition is moved from to another only where that says how; this leaves a checkpoint with source "migrate".
    """
    checkpoint = _intact(store, run)
    beside = Path(store.info.path).parent if store.info.path else None
    wrong = reference_fault(checkpoint.state, beside, web=check_refs)
    if wrong is not None:
        raise Held(Case.CHECKSUM, wrong)
    workflow = _definition(store, run.workflow_hash)
    target = workflow if adopt in (None, run.workflow_hash) else _definition(store, adopt or "")
    if target is not workflow:
        return _moved(store, run, workflow, target, checkpoint)
    missing = _unrunnable(workflow, checkpoint.header)
    if missing is None:
        return Passed(workflow, tuple(_code_changes(store, run, workflow)))
    return _moved_on(store, run, workflow, checkpoint, missing)


def let_pass(run: Run, around: Surroundings, adopt: str | None = None, *, check_refs: bool = False) -> Workflow | None:
    """The definition to run an owned run by; None when it is held, which has been told as the run's end."""

    def tell(kind: str, **fields: Value) -> None:
        around.tell(Event(kind, run.run_id, run.thread, around.clock.now().isoformat(), fields))

    try:
        passed = check(around.store, run, adopt, check_refs=check_refs)
    except Held as held:
        run = hold(around.store, run, held)
        head = run.head.id if run.head else None
        tell("run_ended", status=run.shown, head=head, error=run.error)
        return None
    for note in passed.notes:
        tell("output", stream="stderr", text=f"note: {note}")
    return passed.workflow


def hold(store: RunStore, run: Run, held: Held) -> Run:
    """Hold the run by a case that says why, and from where it could be forked instead."""
    why = f"{held}{_offer(store, run)}"
    head = store.head(run.thread)
    case = Approval(
        f"{run.run_id}-{held.kind}-{run.token}", run.thread, "", head.id, "", why,
        {"enum": ["retry", "cancel", "dismiss"]}, run_id=run.run_id, kind=held.kind,
    )  # fmt: skip
    return store.finish(run.run_id, run.token, RunStatus.CRASHED, why, case=case)


def _intact(store: RunStore, run: Run) -> Checkpoint:
    head = store.head(run.thread)
    before = store.events(["verified"], thread=run.thread, limit=1)
    known = Ref(run.thread, "", str(before[0].data.get("checkpoint"))) if before else None
    fault = store.fault(head, known)
    if fault is not None:
        ref, what = fault
        raise Held(Case.CHECKSUM, f"checkpoint {ref.id} of {ref.thread!r} is not what was written: {what}")
    if known != head:
        store.log_event("verified", {"checkpoint": head.id}, run_id=run.run_id, thread=run.thread)
    try:
        return store.load(head)
    except Corrupt as error:
        raise Held(Case.CHECKSUM, str(error)) from error


def intact(store: RunStore, thread: str) -> tuple[Header, ...]:
    """The newest checkpoints of the thread's line that are what was written, from which it can be forked."""
    at: Ref | None = store.head(thread)
    while at is not None and (fault := store.fault(at)) is not None:
        at = _parent(store, fault[0])
    found: list[Header] = []
    while at is not None and len(found) < OFFERED:
        found.append(store.load(at).header)
        at = found[-1].parent
    return tuple(found)


def _parent(store: RunStore, ref: Ref) -> Ref | None:
    """Of a checkpoint that may not be readable itself; None where it is gone."""
    after: str | None = None
    while True:
        page = store.headers(ref.thread, after)
        for header in page.items:
            if header.ref == ref:
                return header.parent
        if page.next is None:
            return None
        after = page.next


def _offer(store: RunStore, run: Run) -> str:
    sound = [header for header in intact(store, run.thread) if header.ref != store.head(run.thread)]
    if not sound:
        return ""
    names = ", ".join(f"{header.ref.thread}@{header.ref.id}" for header in sound)
    return f"; intact, to fork from: {names}"


def _definition(store: RunStore, hash: str) -> Workflow:
    try:
        definition = store.definition(hash)
        return load_body(definition.body, definition.origin)
    except (NotFound, DefinitionError) as error:
        raise Held(Case.VERSION, f"its definition cannot be had: {error}") from error


def _unrunnable(workflow: Workflow, header: Header) -> str | None:
    """Why what comes next cannot be run by its definition any more; a thread that has just begun fails by itself."""
    name = header.next[0] if header.next else None
    if name is None or header.source == "input":
        return None
    node = workflow.node(name)
    if node is None:
        return f"{workflow.workflow_id} {workflow.version} has no node {name!r}, which comes next"
    reference = reference_of(node)
    if not reference:
        return None
    try:
        find(reference)
    except FatalError as error:
        return f"{name} cannot be run any more: {error}"
    except BaseException:  # noqa: BLE001  user code: a module that fails to load fails the node, which tells of it
        return None
    return None


def _moved_on(store: RunStore, run: Run, old: Workflow, checkpoint: Checkpoint, why: str) -> Passed:
    """Under the newest definition of the workflow that takes over. Raises Held where none does."""
    reasons = [why]
    for hash in store.definitions_of(old.workflow_id):
        if hash != old.hash:
            try:
                return _moved(store, run, old, _definition(store, hash), checkpoint)
            except Held as error:
                reasons.append(str(error))
    raise Held(Case.VERSION, "; ".join(reasons))


def _moved(store: RunStore, run: Run, old: Workflow, new: Workflow, checkpoint: Checkpoint) -> Passed:
    names = [*store.visits(checkpoint.header.ref), *checkpoint.header.next]
    try:
        found = way(old, new, names)
    except NoWay as error:
        raise Held(Case.VERSION, str(error)) from error
    state = _migrated(new, found, checkpoint.state)
    header = checkpoint.header
    missing = next((name for name in header.next if new.node(name) is None), None)
    if missing is not None:
        raise Held(Case.VERSION, f"{new.workflow_id} {new.version} has no node {missing!r}, which comes next")
    note = found.said(old, new)
    moved = NewCheckpoint(
        ref=Ref(run.thread, "", new_id(header.step or 0, header.ref.id)),
        parent=header.ref, state=state, source="migrate", step=header.step, next=header.next,
        meta={"run_id": run.run_id, "workflow_hash": new.hash, "note": note},
    )  # fmt: skip
    store.rebind(run.run_id, run.token, new.hash, moved)
    return Passed(new, (note,))


def _migrated(new: Workflow, found: Way, state: Mapping[str, Value]) -> Mapping[str, Value]:
    if found.migration is None:
        return state
    name = found.migration.run
    try:
        result = find(name)(codec.loads(codec.dumps(taken_out(dict(state))[0])))
        codec.dumps(result)
    except Invalid as error:
        raise Held(Case.VERSION, f"the migration {name} gives what cannot be saved: {error}") from error
    except Exception as error:
        raise Held(Case.VERSION, f"the migration {name} failed: {type(error).__name__}: {message(error)}") from error
    if not isinstance(result, dict):
        raise Held(Case.VERSION, f"the migration {name} gives a {type(result).__name__} instead of a state")
    try:
        fault = schema_fault(new.state_schema, result) if new.state_schema else None
    except BadSchema as error:
        raise Held(Case.VERSION, f"the state_schema of {new.version} {error}") from error
    if fault is not None:
        raise Held(Case.VERSION, f"the migration {name} gives a state that {new.version} does not allow: {fault}")
    return result


def _code_changes(store: RunStore, run: Run, workflow: Workflow) -> Iterator[str]:
    """That the code behind an unchanged definition has changed since the thread last ran; Held where that is strict."""
    present = fingerprint(workflow)
    known = [event.data for event in store.events(["code"], thread=run.thread) if "nodes" in event.data]
    before = next((data for data in reversed(known) if data["workflow"] == workflow.hash), None)
    changed = "" if before is None else _changed(present, Code(before["modules"], before["nodes"]))
    if changed and workflow.strict_code:
        raise Held(Case.VERSION, f"{changed} has changed, and the definition says strict_code")
    if changed:
        yield f"{changed} has changed since this thread last ran"
    if changed or not known:
        data: dict[str, Value] = {"workflow": workflow.hash, **present._asdict()}
        store.log_event("code", data, run_id=run.run_id, thread=run.thread)


def _changed(present: Code, before: Code) -> str:
    """What is another now, in words; empty where nothing is."""
    nodes = sorted(id for id, digest in present.nodes.items() if before.nodes.get(id, digest) != digest)
    names = sorted(present.modules.keys() | before.modules.keys())
    files = [name for name in names if present.modules.get(name) != before.modules.get(name)]
    return f"the code of {', '.join(nodes)} ({', '.join(files)})" if nodes else ""
