"""A node's step taken out of the history as a test: what it was given, what came of it, what it asked outside.

Owns finding these; the file is `tt_debug.node_test_text`'s. Runs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stores.errors import Unsupported
from stores.model import MISSING, Checkpoint, Ref, Task, Value
from stores.runs import StepRecord
from tt_debug.engine.effects import CACHE
from tt_debug.errors import UsageError
from tt_debug.node_test_text import NodeTest
from tt_debug.redaction import NOTHING, SHOWN, Redaction
from tt_debug.session.hiding import hidden_state, hidden_task
from tt_debug.session.plans import GraphTarget
from tt_debug.values import to_json

if TYPE_CHECKING:
    from tt_debug.session.session import Session

_CANNOT = ("$opaque", "$partial")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which test. ``ref`` is the checkpoint that the step ended at; ``node`` which of several that ran in it, None
    where there is one. ``graph`` is needed for a graph's node. ``file`` is where the test will stand."""

    ref: Ref
    file: Path
    node: str | None = None
    graph: GraphTarget | None = None
    hiding: Redaction = NOTHING
    revealed: bool = False


def node_test(session: Session, wanted: Wanted) -> NodeTest:
    """Raises UsageError for a step that is no node's, or one of which what it gave is not stored."""
    after = session.load(wanted.ref)
    if after.header.parent is None:
        raise UsageError(f"{_named(wanted.ref)} is where its thread begins: no node made it")
    before = session.load(after.header.parent)
    node = _node(after, wanted.node)
    if session.info.kind == "native":
        return _of_workflow(session, wanted, (before, after), node)
    if session.info.kind.startswith("langgraph") and session.info.kind != "langgraph-server":
        return _of_graph(wanted, (before, after), node)
    hint = "export --bundle keeps states and diffs of any store"
    raise Unsupported(f"a {session.info.kind} store does not say what its nodes are", hint=hint)


def _node(after: Checkpoint, asked: str | None) -> str:
    nodes = [name for name in after.header.nodes if not (name.startswith("__") and name.endswith("__"))]
    if asked is not None and asked not in nodes:
        raise UsageError(f"{asked!r} did not run in this step", hint=f"it was {', '.join(nodes) or 'no node'}")
    if asked is None and len(nodes) != 1:
        hint = f"--node {nodes[0]}" if nodes else "name the checkpoint that a node's step ended at"
        raise UsageError(f"this step is of {len(nodes)} nodes: {', '.join(nodes) or after.header.source}", hint=hint)
    return asked or nodes[0]


# --- a workflow's node


def _of_workflow(session: Session, wanted: Wanted, sides: tuple[Checkpoint, Checkpoint], node: str) -> NodeTest:
    from tt_debug.definition.load import load_body  # pydantic, 57 ms
    from tt_debug.definition.workflow import PythonNode

    definition = session.executor.definition(session.open_thread(wanted.ref.thread), wanted.ref)
    if definition is None:
        raise UsageError(f"no workflow is on record for {wanted.ref.thread!r}")
    spec = load_body(definition.body, definition.origin).node(node)
    if not isinstance(spec, PythonNode):
        raise UsageError(f"{node} is no node with a function of its own: there is nothing to call in a test")
    records = (each for each in session.steps(wanted.ref) if each.node == node and each.status == "completed")
    record = next(records, None)
    before, after = (hidden_state(side.state, wanted.hiding) for side in sides)
    origin = Path(definition.origin).parent if definition.origin else Path.cwd()
    parts = _parts(session, sides[0], wanted.hiding)
    effects = _effects(session, wanted, record, parts) if record is not None else []
    return NodeTest(
        kind="workflow",
        origin=_named(wanted.ref),
        node=node,
        target=spec.run,
        folder=_way(origin, wanted.file),
        state=_plain(before, "the state before"),
        expected=_plain(after, "the state after"),
        thread=wanted.ref.thread,
        visit=record.visit if record is not None else 1,
        attempt=record.attempt if record is not None else 1,
        effects=effects,
        parts=parts,
        revealed=wanted.revealed,
    )


def _effects(session: Session, wanted: Wanted, record: StepRecord, parts: Collection[str]) -> list[Sequence[Value]]:
    """Those that the node itself comes to: a part that is given is not run, and a kept result is the node's own."""
    found: list[Sequence[Value]] = []
    for placed in session.executor.effects(wanted.ref.thread):
        use = placed.use
        if (use.run_id, use.ordinal, use.attempt) == (record.run_id, record.ordinal, record.attempt):
            effect = use.effect
            if effect.slot.name == CACHE or any(effect.slot.name.startswith(f"{part}/") for part in parts):
                continue
            hidden = (wanted.hiding.hide(value) for value in (effect.request, effect.result))
            found.append([effect.slot.name, *(_plain(value, f"the effect {effect.slot.name}") for value in hidden)])
    return found


def _parts(session: Session, before: Checkpoint, hiding: Redaction) -> Mapping[str, Value]:
    """What the node had completed when it ended: each part has a checkpoint of its own, one after the other."""
    found: dict[str, Value] = {}
    while before.header.source == "substep":
        for record in session.steps(before.header.ref):
            found[record.substep] = _plain(hiding.hide(record.output), f"the substep {record.substep}")
        if before.header.parent is None:
            break
        before = session.load(before.header.parent)
    return found


# --- a graph's node


def _of_graph(wanted: Wanted, sides: tuple[Checkpoint, Checkpoint], node: str) -> NodeTest:
    target = wanted.graph
    if target is None:
        raise UsageError("a node of LangGraph's is run by its graph, and there is none", hint="--graph module:attr")
    if ":" not in target.graph:
        hint = "write it as module:attr or ./file.py:attr"
        raise UsageError(f"{target.graph!r} is a name of langgraph.json", hint=hint)
    before, _ = sides
    task = hidden_task(_task(before, node), wanted.hiding)
    given = hidden_state(before.state, wanted.hiding) if task.given is MISSING else task.given
    return NodeTest(
        kind="graph",
        origin=_named(wanted.ref),
        node=node,
        target=target.graph,
        folder=_way(target.folder or Path.cwd(), wanted.file),
        state=_plain(given, "the state before"),
        expected=_written(task),
        revealed=wanted.revealed,
    )


def _task(before: Checkpoint, node: str) -> Task:
    tasks = [task for task in before.tasks if task.node == node]
    if len(tasks) != 1 or not tasks[0].writes:
        many = f"{len(tasks)} tasks of it ran in one step" if len(tasks) > 1 else "its writes are not stored"
        raise UsageError(f"what {node} gave cannot be told: {many}", hint="take a step in which it ran once")
    return tasks[0]


def _written(task: Task) -> Mapping[str, Value]:
    found: dict[str, Value] = {}
    for write in task.writes:
        if write.channel.startswith(("branch:", "join:", "start:", "__")):
            continue
        if write.channel in found:
            raise UsageError(f"{task.node} wrote twice to {write.channel}: a result cannot say so")
        found[write.channel] = _plain(write.value, write.channel)
    return found


# --- both


def _plain(value: Value, what: str) -> Value:
    """As JSON, secrets as the text that is shown for them. Raises UsageError for what no file can hold."""
    return _put(to_json(dict(value) if isinstance(value, Mapping) else value), what)


def _put(value: Any, what: str) -> Any:
    if isinstance(value, dict):
        if "$redacted" in value:
            return SHOWN
        if any(form in value for form in _CANNOT):
            raise UsageError(f"{what} holds a value that is known only in part or not decoded: no test can be given it")
        return {key: _put(item, what) for key, item in value.items()}
    return [_put(item, what) for item in value] if isinstance(value, list) else value


def _way(folder: Path, file: Path) -> str:
    """From the test's own folder, so that both can be moved together."""
    return os.path.relpath(folder.resolve(), file.resolve().parent)


def _named(ref: Ref) -> str:
    return f"{ref.thread}@{ref.id}"
