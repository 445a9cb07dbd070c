"""Going on with a run of a LangGraph thread that nobody works on any more: by the graph it was begun with.

Owns which graph that is; running is `graph_runs`'. Refuses to make up a config: it may hold secrets, and is not kept.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from stores.protocol import RunStore, Store
from stores.runs import Run
from tt_debug.errors import UsageError
from tt_debug.session import graph_runs
from tt_debug.session.journal import Journal
from tt_debug.session.plans import GraphTarget, OnEvent, RunRequest, RunResult

_GIVE = "give --graph, and --config where it needs one"


def run_on(
    store: Store, journal: Journal, records: RunStore, run: Run, given: GraphTarget | None, on_event: OnEvent
) -> RunResult:
    """Run it on from its thread's head to its end. Raises what planning and running a resume do."""
    target = given or _begun_with(records, run)
    request = RunRequest("resume", store.head(run.thread), until=run.until, graph=target)
    return graph_runs.execute(store, journal, graph_runs.plan(store, journal, request, target), on_event)


def _begun_with(records: RunStore, run: Run) -> GraphTarget:
    known = orjson.loads(records.definition(run.workflow_hash).body)
    if known["has_config"]:
        raise UsageError(f"run {run.run_id} was begun with a config, which is not kept", hint=_GIVE)
    env_file = known["env_file"]
    return GraphTarget(
        known["graph"],
        env_file=None if env_file is None else Path(env_file),
        python=known["python"],
        folder=Path(known["folder"]),
        trust=tuple(known["trust"]),
    )
