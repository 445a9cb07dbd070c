"""Replays from the record: the nodes of a line run again, what they did outside is given from the ledger.

Owns which line that is, and where the states of a replay are kept: in a store of our own, never in the one looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from stores.model import Header, Ref
from stores.native.sqlite import create_native
from stores.places import state_folder
from stores.protocol import RunStore
from stores.reopening import Reopened
from tt_debug.definition.load import load_body
from tt_debug.engine.replay import ReplayJob, line_of
from tt_debug.engine.worker import WorkflowJob, run_workflow
from tt_debug.errors import UsageError
from tt_debug.session import heads
from tt_debug.session.definitions import definition_of
from tt_debug.session.journal import Journal
from tt_debug.session.listing import open_view
from tt_debug.session.plans import OnEvent, RunPlan, RunRequest, RunResult
from tt_debug.session.recorded import ahead, business_id_of
from tt_debug.session.thread_view import ThreadView


def mode_of(store: RunStore, view: ThreadView, request: RunRequest) -> str:
    """The mode asked for; where none is, "recorded" if effects after the base are on record, else "live"."""
    if request.mode is not None or request.ref is None:
        return request.mode or "live"
    if request.thread or request.until or request.single_step or request.allow or request.workflow:
        return "live"  # what only a live replay can do was asked for
    return "recorded" if ahead(store, view, request.ref) else "live"


def plan(store: RunStore, view: ThreadView, request: RunRequest) -> RunPlan:
    """What would run again. Raises UsageError where nothing was recorded after the base."""
    line = _line(view, request)
    steps = [header for header in line[1:] if header.source == "step"]
    base = line[0]
    if not steps:
        raise UsageError(
            f"nothing is on record after {heads.place(base)}", hint="replay from an earlier step, or --mode live"
        )
    definition = definition_of(store, view, base.ref)
    if definition is None:
        raise UsageError(f"no workflow is stored with {base.ref.thread!r}", hint="replay --mode live --workflow FILE")
    workflow = load_body(definition.body, definition.origin)
    verify = request.mode == "verify"
    where = "nothing is kept" if verify else "the states that come out are kept in a store apart"
    notes = (
        "model calls, effects and answers come from the record; what a node does beside ctx.effect, it does for real",
        f"{base.ref.thread!r} stays as it is; {where}",
    )
    name = f"{workflow.workflow_id} {workflow.version}"
    return RunPlan(
        title=f"{'Verify' if verify else 'Replay'} {base.ref.thread} from the record, with {name}",
        request=request,
        runner="workflow",
        thread=base.ref.thread if verify else _thread(base),
        base=base.ref,
        step=base.step,
        nodes=tuple(name for header in steps for name in header.nodes),
        stops="the first divergence, or the end of the record" if verify else "the end of the record",
        notes=notes,
        definition=definition,
        code=workflow.code(),
    )


def execute(store: RunStore, journal: Journal, plan: RunPlan, on_event: OnEvent) -> RunResult:
    """Replay in a child process and wait for that."""
    request, definition = plan.request, plan.definition
    if request.ref is None or definition is None:
        raise UsageError("this plan replays no line")
    view = open_view(store, journal, request.ref.thread)
    line = _line(view, request)
    scratch = ""
    if request.mode != "verify":
        path = _scratch(store)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_native(path)
        scratch = str(path)
    job = ReplayJob(
        request.mode or "recorded",
        line_of(header.ref for header in line),
        business_id_of(store, view, line[-1].ref),
        definition.hash,
        plan.thread,
        scratch,
    )
    given = request.workflow
    url = store.secret_url if isinstance(store, Reopened) else store.info.path or ""
    folder = str(given.absolute().parent) if given is not None else None
    ended = run_workflow(WorkflowJob(url, "", folder=folder, replay=asdict(job)), on_event)
    notes = () if scratch == "" else (f"its states are kept: tt-debug log {scratch} {plan.thread}",)
    found = (
        (in_words(ended.diverged),) if ended.diverged else ("every step went as recorded",) if not ended.error else ()
    )
    return RunResult(
        "", ended.thread, ended.status, ended.head, ended.error, (*found, *notes), divergence=ended.diverged
    )


def with_mode(request: RunRequest, mode: str) -> RunRequest:
    """The request in that mode."""
    if mode not in ("live", "recorded", "verify"):
        raise UsageError(f"there is no mode {mode!r}", hint="live, recorded or verify")
    return replace(request, mode=mode)  # type: ignore[arg-type]


def in_words(diverged: object) -> str:
    """Where a replay first left the record."""
    assert isinstance(diverged, dict)
    at = f"step {diverged['step']}" if diverged["step"] is not None else "there"
    return f"first divergence: {diverged['what']} of {diverged['node']} ({at})"


def _line(view: ThreadView, request: RunRequest) -> Sequence[Header]:
    """From the base to the head of its thread, or of the line that the base lies on."""
    base = request.ref
    if base is None:
        raise UsageError("a checkpoint to replay from is needed", hint="name it as THREAD@STEP")
    refs: list[Ref] = list(view.line(view.head if base in view.line(view.head) else view.tip(base)))
    return [view.headers[ref] for ref in refs[refs.index(base) :]]


def _scratch(store: RunStore) -> Path:
    return state_folder() / f"{store.info.store_id}-replays.sqlite"


def _thread(base: Header) -> str:
    """A name that says what was replayed, and when: each replay is a thread of its own."""
    from datetime import UTC, datetime

    step = "" if base.step is None else f"@{base.step}"
    return f"{base.ref.thread}{step} replayed {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
