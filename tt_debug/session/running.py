"""Running, whichever runner serves: the embedded executor in a store of ours, the user's own graph in LangGraph's.

Owns the choice and what both have in common; refuses to run anything in this very process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from stores.errors import Unsupported
from stores.model import Capability, Ref
from stores.protocol import RunStore, Store
from tt_debug.errors import UsageError
from tt_debug.session import owners
from tt_debug.session.definitions import definition_of
from tt_debug.session.journal import Journal
from tt_debug.session.listing import open_view
from tt_debug.session.run_records import elsewhere

if TYPE_CHECKING:
    from pathlib import Path

    from stores.runs import Run
    from tt_debug.session.plans import GraphTarget, OnEvent, RunPlan, RunRequest, RunResult


class Code(NamedTuple):
    """The graph and the workflow given when the session was opened; a request may name its own."""

    graph: GraphTarget | None = None
    workflow: Path | None = None


def plan(store: Store, journal: Journal, code: Code, request: RunRequest) -> RunPlan:
    """What would run. Raises NotAHead, DefinitionChanged, WaitingForAnswer, UsageError, Unsupported."""
    if isinstance(store, RunStore):
        if request.action == "update":
            raise UsageError("a workflow's state is edited without a node", hint="leave out the node and the graph")
        from tt_debug.session import workflow_runs  # 60 ms of pydantic, for running only

        return workflow_runs.plan(store, journal, request, request.workflow or code.workflow)
    is_graph = Capability.FORK in store.info.capabilities and not _runs_there(store)
    if request.mode == "verify" and is_graph:
        from tt_debug.session import graph_replays

        return graph_replays.plan(store, journal, request, request.graph or code.graph)
    if request.mode in ("recorded", "verify"):
        other = "--mode verify runs in memory with the effects on record, " if is_graph else ""
        raise Unsupported(
            f"the states of a {store.info.kind} store are not kept by a replay from the record",
            hint=f"{other}--mode live runs again",
        )
    if _runs_there(store):
        from tt_debug.session import server_runs

        return server_runs.plan(store, journal, request)
    if Capability.FORK in store.info.capabilities:
        from tt_debug.session import graph_edits, graph_runs, step_preview

        if request.action == "update":
            return graph_edits.plan(store, journal, request, request.graph or code.graph)
        found = graph_runs.plan(store, journal, request, request.graph or code.graph)
        return step_preview.with_step(store, journal, found)
    raise Unsupported(f"nothing can run in a {store.info.kind} store", hint="it can be looked at and exported")


def execute(store: Store, journal: Journal, plan: RunPlan, on_event: OnEvent) -> RunResult:
    """Run the plan in a child process and wait for its end. One that ended before runs nothing and tells nothing."""
    if plan.ended is not None:
        return plan.ended
    if plan.request.action == "update":
        from tt_debug.session import graph_edits

        return graph_edits.execute(store, journal, plan)
    if isinstance(store, RunStore):
        from tt_debug.session import workflow_runs

        return workflow_runs.execute(store, journal, plan, on_event)
    if _runs_there(store):
        from tt_debug.session import server_runs

        return server_runs.execute(store, journal, plan, on_event)
    from tt_debug.session import graph_replays, graph_runs

    if plan.from_record:
        return graph_replays.execute(store, journal, plan, on_event)
    return graph_runs.execute(store, journal, plan, on_event)


def stop(store: Store, thread: str, what: str) -> None:
    """Ask the thread's active run to "pause" or "cancel". Raises NotFound when none is active."""
    if what not in ("pause", "cancel"):
        raise UsageError(f"a run can be asked to pause or to cancel, not to {what!r}")
    if isinstance(store, RunStore):
        owners.stop(store, thread, what)
    elif _runs_there(store):
        from tt_debug.session import server_runs

        server_runs.stop(store, thread)
    else:
        from tt_debug.session import graph_runs

        graph_runs.stop(store, thread, what)


def runs(store: Store, thread: str | None) -> tuple[Run, ...]:
    """Newest first; empty where there was none."""
    if isinstance(store, RunStore):
        return owners.known_runs(store, thread)
    with elsewhere(store) as records:
        return () if records is None else owners.known_runs(records, thread)


def definition_body(store: Store, journal: Journal, ref: Ref) -> str | None:
    """The canonical text of the workflow that the checkpoint's thread runs, None where there is none."""
    if not isinstance(store, RunStore):
        return None
    definition = definition_of(store, open_view(store, journal, ref.thread), ref)
    return None if definition is None else definition.body


def _runs_there(store: Store) -> bool:
    """Whether its runs are its server's own."""
    from stores.server_runs import ServerRuns

    return isinstance(store, ServerRuns)
