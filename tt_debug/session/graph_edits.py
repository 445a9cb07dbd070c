"""Edits of a LangGraph thread as a node's update, made by the user's own graph in the driver process.

A plan imports nothing. What comes out is the graph's to say: its reducers and branches are the user's code, and run
for a preview as for saving.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from stores.changes import apply_changes
from stores.errors import Conflict, NotFound
from stores.model import MISSING, Capability, Change, Checkpoint, Ref, Status, Value
from stores.protocol import Store
from tt_debug.diff import diff
from tt_debug.engine.graph import interpreter
from tt_debug.engine.graph_edit import UpdateJob, update_graph
from tt_debug.engine.graph_place import path_of
from tt_debug.equality import strict_equal
from tt_debug.errors import UsageError
from tt_debug.session import forking, heads, owners, revival
from tt_debug.session.journal import Journal
from tt_debug.session.listing import open_view
from tt_debug.session.plans import GraphTarget, NodeEdit, RunPlan, RunRequest, RunResult, Updated
from tt_debug.session.undoing import Undoing
from tt_debug.values import to_json

END: Final = "__end__"
"""As this node an update ends the line, after the results of what has finished are applied."""


def plan(store: Store, journal: Journal, request: RunRequest, target: GraphTarget | None) -> RunPlan:
    """What would be called and stored. Raises UsageError, NotFound, Conflict where the thread's head has moved on."""
    ref, edit = request.ref, request.edit
    if ref is None or edit is None:
        raise UsageError("an update needs a checkpoint and a node")
    if target is None:
        raise UsageError(
            f"an edit as {edit.as_node} is the graph's to make",
            hint="give --graph module:attr, ./file.py:attr or a name in langgraph.json",
        )
    if ref.ns or Capability.TASKS not in store.info.capabilities:
        raise UsageError("only the root graph's state can be edited as a node", hint="leave out the node")
    header = open_view(store, journal, ref.thread).headers.get(ref)
    if header is None:
        raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}")
    values = _values(store, ref, edit)
    thread = ref.thread if request.thread is None else forking.new_name(store, ref.thread, request.thread)
    if thread == ref.thread and store.head(ref.thread) != ref:
        raise Conflict(
            f"{heads.place(header)} is not the head of {ref.thread!r}", hint="fork there instead, as the same node"
        )
    dropped = _notes(store.load(ref), edit.as_node) if _is_tip(store, journal, ref) else ()
    return RunPlan(
        title=f"Edit {ref.thread} at {heads.place(header)} as {edit.as_node} with {target.graph}",
        request=replace(request, graph=target),
        runner="graph",
        thread=thread,
        base=ref,
        step=header.step,
        nodes=(),
        stops="at once",
        notes=(*revival.notes_of(store.load(ref), target.trust), *dropped),
        code=f"{target.graph} in {interpreter(target)}",
        does=tuple(_does(edit, values, thread, ref)),
    )


def execute(store: Store, journal: Journal, plan: RunPlan) -> RunResult:
    """Preview it in memory, or save it: on a new thread after a fork, else on the head it was planned for."""
    ref, edit, target = plan.base, plan.request.edit, plan.request.graph
    if ref is None or edit is None or target is None:
        raise UsageError("this plan makes no update")
    values = _values(store, ref, edit)
    job = UpdateJob(
        target=target,
        store_path=path_of(store),
        thread=ref.thread,
        base=ref.id,
        as_node=edit.as_node,
        values=values,
        by_reducer=edit.by_reducer,
        with_results=_is_tip(store, journal, ref),
    )
    if not edit.preview:
        owners.refuse_if_driven(store, plan.thread)
    if not edit.preview and plan.thread != ref.thread:
        update_graph(job, save=False)  # what the graph refuses is to leave no thread behind
        forking.fork(store, journal, forking.Fork(ref, plan.thread))
        job = replace(job, thread=plan.thread)
    made = update_graph(job, save=not edit.preview)
    head = ref if made.checkpoint is None else Ref(plan.thread, "", made.checkpoint)
    if head != ref:
        Undoing(store, journal).note("edit" if plan.thread == ref.thread else "fork", head, ref)
    return RunResult(
        run="",
        thread=head.thread,
        status=store.load(head).header.status,
        head=head,
        notes=() if edit.by_reducer else tuple(_not_as_typed(values, made.after, edit.as_node)),
        updated=Updated(made.before, made.after, diff(dict(made.before), dict(made.after)), made.next),
    )


def _does(edit: NodeEdit, values: Mapping[str, Value], thread: str, ref: Ref) -> list[str]:
    named = ", ".join(values)
    how = "handed to the graph's reducers" if edit.by_reducer else "replaced"
    where = f"{thread!r} itself" if thread == ref.thread else f"the new thread {thread!r}"
    reducers = f"the reducers of {named} and " if edit.by_reducer else ""
    return [
        f"will execute  no node; {reducers}the branches of {edit.as_node}, which are the graph's code",
        f"values        {named} {how}" if named else "values        none is changed",
        "saves         nothing: a preview" if edit.preview else f"saves         one checkpoint in {where}",
    ]


def _notes(checkpoint: Checkpoint, node: str) -> Iterator[str]:
    """What becomes of the step that is under way: LangGraph's ``update_state`` ends it, whatever else is in it."""
    for task in checkpoint.tasks:
        if task.node == node or task.node not in checkpoint.header.next:
            continue
        if task.status == Status.DONE:
            kept = node == END
            yield f"{task.node} has finished, and its result is {'applied' if kept else 'dropped with the step'}"
        else:
            asks = " and what it asks" if task.interrupts else ""
            yield f"{task.node}{asks} is dropped with the step; a fork without a node can keep it"


def _values(store: Store, ref: Ref, edit: NodeEdit) -> dict[str, Value]:
    """What the node is to have written, by channel. Raises UsageError for what a node cannot write, Invalid."""
    state: dict[str, Value] = dict(store.load(ref).state)
    if edit.by_reducer:
        return dict(map(_written, edit.changes))
    after = apply_changes(state, edit.changes)
    if not isinstance(after, dict):
        raise UsageError("a state is an object: it cannot be replaced by another kind of value")
    gone = [name for name in state if name not in after]
    if gone:
        raise UsageError(f"a node cannot take {', '.join(gone)} out of the state", hint="leave out the node")
    return {name: value for name, value in after.items() if not strict_equal(value, state.get(name, MISSING))}


def _written(change: Change) -> tuple[str, Value]:
    """A whole channel's value: what lies within one is not what a reducer takes."""
    if len(change.path) != 1 or change.new is MISSING:
        raise UsageError("a reducer takes a whole value", hint="give it as --set KEY=JSON")
    return str(change.path[0]), change.new


def _is_tip(store: Store, journal: Journal, ref: Ref) -> bool:
    """Whether the results of its step's finished tasks are still to be applied."""
    children = open_view(store, journal, ref.thread).children(ref)
    return not any((child.thread, child.ns) == (ref.thread, ref.ns) for child in children)


def _not_as_typed(values: Mapping[str, Value], after: Mapping[str, Value], node: str) -> list[str]:
    """Where a value came out otherwise. Only what is plain JSON can be compared."""
    plain = {name: value for name, value in values.items() if strict_equal(to_json(value), value)}
    return [
        f"{name} does not come out as typed: {node} does not write it, or a reducer changed it"
        for name, value in plain.items()
        if not strict_equal(after.get(name, MISSING), value)
    ]
