"""Runs of the embedded executor: planned from the stored definition, executed in a child process."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stores.errors import Conflict
from stores.ids import new_id
from stores.model import Header, NewCheckpoint, Ref, Status, Value
from stores.protocol import RunStore, Store
from stores.reopening import Reopened
from stores.runs import Definition, Run, RunStatus
from tt_debug.definition.load import differences, load_body, load_workflow
from tt_debug.definition.versions import NoWay, Way, way
from tt_debug.definition.workflow import Workflow
from tt_debug.engine.plan import NoWayOn, next_node
from tt_debug.engine.until import parse_until
from tt_debug.engine.worker import WorkflowJob, run_workflow
from tt_debug.errors import DefinitionChanged, UsageError
from tt_debug.references import WEB, references
from tt_debug.session import asking, forking, heads, operating, recorded, replays, starting
from tt_debug.session.definitions import definition_of
from tt_debug.session.journal import Journal
from tt_debug.session.listing import open_view
from tt_debug.session.owners import known_runs
from tt_debug.session.plans import OnEvent, RunPlan, RunRequest, RunResult
from tt_debug.session.preview import breakpoint_words, calls, ends, limits, upcoming
from tt_debug.session.thread_view import ThreadView
from tt_debug.shell import word


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a plan starts: the state, the nodes that come next, and the thread they run in."""

    thread: str
    state: Mapping[str, Value]
    next: tuple[str, ...]
    header: Header | None = None
    notes: tuple[str, ...] = ()


def plan(store: RunStore, journal: Journal, request: RunRequest, given: Path | None) -> RunPlan:
    """Raises DefinitionChanged when ``given`` differs from the definition the thread was started with."""
    planned = _plan_of(store, journal, request, given)
    copied = operating.copied_note(store) if planned.ended is None and planned.request.mode in (None, "live") else None
    return planned if copied is None else replace(planned, notes=(copied, *planned.notes))


def _plan_of(store: RunStore, journal: Journal, request: RunRequest, given: Path | None) -> RunPlan:
    if request.action == "run":
        if given is None:
            raise UsageError("a new thread needs a workflow to run", hint="give --workflow FILE")
        workflow = load_workflow(given)
        starting.check_new(store, workflow, given)
        before = starting.started_before(store, request) if request.again else None
        if before is None:
            name = starting.name_of(store, workflow, request)
            return _plan(request, workflow, _Start(name, request.input, (workflow.start,)))
        if done := starting.done_before(store, request, before):
            return done
        request = replace(request, action="resume", ref=before.ref)
    ref = _required(request.ref)
    view = open_view(store, journal, ref.thread)
    if request.action == "replay":
        request = replays.with_mode(request, replays.mode_of(store, view, request))
        if request.mode != "live":
            return replays.plan(store, view, request)
    workflow, old = _workflow_for(store, view, ref, given)
    parse_until(request.until, workflow)
    replayed = request.action == "replay"
    start = _replayed(store, view, request) if replayed else _resumed(store, view, request, workflow)
    planned = recorded.told(_plan(request, workflow, start), recorded.ahead(store, view, ref))
    on_web = len({found.url for found in references(start.state) if found.url.startswith(WEB)})
    planned = replace(planned, notes=(*planned.notes, *_stopping(store, planned)), on_web=on_web)
    if old is None:
        return planned
    note = _way(store, view.headers[ref], old, workflow).said(old, workflow)
    return replace(planned, instead_of=old.definition(), notes=(note, *planned.notes))


def execute(store: RunStore, journal: Journal, plan: RunPlan, on_event: OnEvent) -> RunResult:
    """Make the run durable, then hand it to a child process and wait for that."""
    request = plan.request
    if request.action == "replay" and request.mode != "live":
        return replays.execute(store, journal, plan, on_event)
    if store.copied_from() is not None:
        store.settle()  # the plan has said so, and was agreed to
    if request.action == "resume":
        run = _resume(store, plan)
    elif request.action == "run":
        run = _start(store, plan)
    else:
        fork = forking.Fork(_required(request.ref), plan.thread, fresh=True)
        header = forking.fork(store, journal, fork)
        run = store.create_run(_new_run(plan, header.ref))
    given = request.workflow
    job = WorkflowJob(
        store.secret_url if isinstance(store, Reopened) else store.info.path or "",
        run.run_id,
        until=request.until,
        single_step=request.single_step,
        folder=str(given.absolute().parent) if given is not None else None,
        on_conflict=request.on_conflict,
        allow=request.allow,
        check_refs=request.check_refs,
        adopt=_definition(plan).hash if plan.instead_of is not None else None,
    )
    ended = run_workflow(job, on_event)
    return RunResult(ended.run, ended.thread, ended.status, ended.head, ended.error)


def _stopping(store: RunStore, plan: RunPlan) -> tuple[str, ...]:
    """The breakpoints that the run would meet, or may."""
    met = [each for each in store.breakpoints(plan.thread) if each.node is None or _named(plan, each.node)]
    return tuple(
        f"stops at breakpoint {each.id}: {breakpoint_words(each)}{f' when {each.condition}' if each.condition else ''}"
        for each in met
    )


def _named(plan: RunPlan, node: str) -> bool:
    """Whether the workflow has that node: which nodes run is known only in part before they do."""
    body = plan.definition.body if plan.definition is not None else ""
    return any(found.get("id") == node for found in json.loads(body).get("nodes", [])) if body else False


def _replayed(store: Store, view: ThreadView, request: RunRequest) -> _Start:
    ref = _required(request.ref)
    header = view.headers[ref]
    if not header.next:
        raise UsageError(f"nothing runs after {heads.place(header)}", hint="replay from an earlier step")
    thread = forking.new_name(store, ref.thread, request.thread)
    notes = (f"on the new thread {thread!r}; {ref.thread!r} stays as it is",)
    return _Start(thread, store.load(ref).state, header.next, header, notes)


def _resumed(store: RunStore, view: ThreadView, request: RunRequest, workflow: Workflow) -> _Start:
    ref = _required(request.ref)
    # First: while a run moves the head, what was the head when it was asked for may be one no more.
    for run in known_runs(store, ref.thread):
        if run.status == RunStatus.RUNNING:
            raise Conflict(
                f"{ref.thread!r} is being run by process {run.owner_pid}", hint="wait for it, pause or cancel it"
            )
        if run.shown == Status.HELD:
            for case in store.cases(ref.thread):
                if (case.run_id, case.kind) == (run.run_id, run.hold_reason):
                    raise asking.waiting(case)
    header = heads.resumable(store, view, ref)
    state = store.load(ref).state
    question = next(iter(store.approvals(ref.thread)), None)
    if question is None:
        if request.has_answer:
            raise UsageError(f"{ref.thread!r} asks no question", hint="leave out --answer")
        return _Start(ref.thread, state, header.next, header)
    if not request.has_answer:
        raise asking.waiting(question)
    asking.check(question, request.answer)
    if question.kind != "approval":  # about a step or an effect; the answer is no part of the state
        return _Start(ref.thread, state, (question.node,), header)
    answered = {**state, question.node: request.answer}
    return _Start(ref.thread, answered, _after(workflow, question.node, answered), header)


def _after(workflow: Workflow, node: str, state: Mapping[str, Value]) -> tuple[str, ...]:
    try:
        following = next_node(workflow, node, state)
    except NoWayOn as error:
        raise UsageError(f"with this answer the run could not go on: {error}") from error
    return () if following is None else (following,)


def _workflow_for(store: RunStore, view: ThreadView, ref: Ref, given: Path | None) -> tuple[Workflow, Workflow | None]:
    """The stored definition; or ``given`` and the stored one, where that takes over from it. Else the user must fork
    and adopt it."""
    stored = definition_of(store, view, ref)
    if stored is None:
        if given is None:
            raise UsageError(f"no workflow is stored with {ref.thread!r}", hint="give --workflow FILE")
        return load_workflow(given), None
    old = load_body(stored.body, stored.origin)
    if given is None:
        return old, None
    new = load_workflow(given)
    if new.hash == stored.hash:
        return new, None
    try:
        _way(store, view.headers[ref], old, new)
    except NoWay as error:
        fork = heads.fork_hint(view.headers[ref], options=f"--adopt {word(str(given))} ")
        # One version has one body, or a thread's history could not be read by it.
        renamed = f"give {given.name} a version of its own and " if new.version == old.version else ""
        raise DefinitionChanged(
            f"{given.name} differs from the definition that {ref.thread!r} was started with",
            (*differences(old, new), str(error)),
            hint=f"leave out --workflow, or {renamed}{fork}",
        ) from error
    return new, old


def _way(store: RunStore, header: Header, old: Workflow, new: Workflow) -> Way:
    return way(old, new, [*store.visits(header.ref), *header.next])


def _plan(request: RunRequest, workflow: Workflow, start: _Start) -> RunPlan:
    nodes = upcoming(workflow, start.state, start.next)
    if request.single_step:
        nodes = nodes[:1]
    until = parse_until(request.until, workflow).node
    if until in nodes:
        nodes = nodes[: nodes.index(until)]
    title = {"run": "Run", "resume": "Resume", "replay": "Replay"}[request.action]
    return RunPlan(
        title=f"{title} {start.thread} with {workflow.workflow_id} {workflow.version}",
        request=request,
        runner="workflow",
        thread=start.thread,
        base=request.ref,
        step=start.header.step if start.header else None,
        nodes=nodes,
        stops=_stops(request, workflow, nodes),
        calls=calls(workflow, nodes),
        notes=start.notes + limits(workflow),
        definition=workflow.definition(),
        code=workflow.code(),
    )


def _stops(request: RunRequest, workflow: Workflow, nodes: tuple[str, ...]) -> str:
    if request.single_step:
        return "after this step"
    return parse_until(request.until, workflow).said() or ends(workflow, nodes)


def _start(store: RunStore, plan: RunPlan) -> Run:
    definition = _definition(plan)
    store.put_definition(definition)
    workflow = load_body(definition.body, definition.origin)
    while True:
        step = -1
        first = NewCheckpoint(
            ref=Ref(plan.thread, "", new_id(step)),
            parent=None,
            state=plan.request.input,
            source="input",
            step=step,
            next=(workflow.start,),
        )
        try:
            return store.create_run(_new_run(plan, first.ref), first)
        except Conflict:
            free = starting.name_of(store, workflow, plan.request)  # refuses a name that was asked for
            if free == plan.thread:
                raise
            plan = replace(plan, thread=free)  # somebody else took the one that was free when this was planned


def _resume(store: RunStore, plan: RunPlan) -> Run:
    """The thread's run, made pending again, or its first one."""
    request = plan.request
    if request.has_answer:
        question = next(iter(store.approvals(plan.thread)), None)
        if question is not None:
            store.answer(question.id, request.answer, request.answered_by)
    latest = next(iter(store.runs(plan.thread)), None)
    store.put_definition(_definition(plan))
    if latest is None or latest.status in RunStatus.TERMINAL:
        return store.create_run(_new_run(plan, plan.base))
    if latest.status in (RunStatus.PENDING, RunStatus.RUNNING):  # running: its owner is dead, the child claims it
        return latest
    return store.requeue(latest.run_id, request.until)


def _new_run(plan: RunPlan, base: Ref | None) -> Run:
    return Run(
        run_id=uuid.uuid4().hex,
        thread=plan.thread,
        workflow_hash=(plan.instead_of or _definition(plan)).hash,
        business_id=plan.request.business_id,
        base=base,
        head=base,
        until=plan.request.until,
    )


def _definition(plan: RunPlan) -> Definition:
    if plan.definition is None:
        raise UsageError("this plan runs no workflow")
    return plan.definition


def _required(ref: Ref | None) -> Ref:
    if ref is None:
        raise UsageError("a checkpoint to go on from is needed", hint="name it as THREAD@STEP")
    return ref
