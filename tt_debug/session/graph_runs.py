"""Runs of a LangGraph thread through the user's own graph, in a driver process.

A plan is made from what the store says, without importing the graph: nothing of the user's runs before a yes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from stores.errors import Conflict, NotFound
from stores.model import Checkpoint, Header, Ref, Status, Value
from stores.places import runs_path
from stores.protocol import Store
from stores.runs import Approval
from tt_debug.engine.events import Event
from tt_debug.engine.graph import check_graph, interpreter
from tt_debug.engine.graph_fingerprint import differences
from tt_debug.engine.graph_place import path_of
from tt_debug.engine.graph_run import GraphJob, run_graph, stop_graph
from tt_debug.errors import GraphChanged, UsageError, WaitingForAnswer
from tt_debug.session import asking, forking, graph_scopes, heads, owners, recorded, revival
from tt_debug.session.journal import Journal
from tt_debug.session.listing import newest_headers, open_view
from tt_debug.session.plans import GraphTarget, OnEvent, RunPlan, RunRequest, RunResult
from tt_debug.session.thread_view import ThreadView
from tt_debug.text import counted


def plan(store: Store, journal: Journal, request: RunRequest, target: GraphTarget | None) -> RunPlan:
    """Raises UsageError without a graph, NotAHead, WaitingForAnswer when a question is open and unanswered."""
    if request.action == "run" or request.ref is None:
        raise UsageError(
            "a LangGraph thread is started by its own application", hint="resume or replay goes on with one"
        )
    if target is None:
        raise UsageError(
            f"going on with {request.ref.thread!r} needs its graph",
            hint="give --graph module:attr, ./file.py:attr or a name in langgraph.json",
        )
    replay = request.action == "replay"
    if not replay:
        _refuse_at_work(store, request.ref.thread)
    view = open_view(store, journal, request.ref.thread)
    header = replayed(view, request.ref) if replay else heads.resumable(store, view, request.ref)
    thread = forking.new_name(store, request.ref.thread, request.thread) if replay else request.ref.thread
    answers = () if replay else tuple(open_answers(store, journal, request))
    goes_on = any(child.thread == header.ref.thread for child in view.children(header.ref))
    # A replay leaves the results behind where the thread went on from them.
    checkpoint = store.load(header.ref)
    finished = [] if replay and goes_on else _finished(checkpoint)
    scope = graph_scopes.business_id_of(store, journal, request.ref.thread)
    planned = RunPlan(
        title=f"{'Replay' if replay else 'Resume'} {thread} with {target.graph}",
        request=replace(request, graph=target),
        runner="graph",
        thread=thread,
        base=request.ref,
        step=header.step,
        nodes=tuple((Counter(header.next) - Counter(finished)).elements()),
        stops=stops(request),
        calls=("every node that runs makes its model and tool calls again, for real, but for effects on record",),
        notes=(
            *_untold(store, header),
            *_notes(request, thread, answers, finished, revival.notes_of(checkpoint, target.trust)),
        ),
        code=f"{target.graph} in {interpreter(target)}",
    )
    return recorded.told(planned, graph_scopes.ahead(store, request.ref.thread, scope, header))


def _untold(store: Store, header: Header) -> tuple[str, ...]:
    """One sentence where the rows do not say what is next, as before langgraph 0.3 an edge has its source's name."""
    sources = () if header.next else heads.untold(store, header.ref)
    if not sources:
        return ()
    told = ", ".join(sources)
    return (f"what comes after {told} is not in the rows of a release so old: the graph knows, and ends it at its end",)


def _refuse_at_work(store: Store, thread: str) -> None:
    """Raises Conflict while somebody runs the thread, WaitingForAnswer while an effect of its run is undecided."""
    driver = owners.driven_by(store, thread)
    if driver is not None:
        raise Conflict(f"{thread!r} is being run by process {driver.owner_pid}", hint="wait for it, pause or cancel it")
    for question in asking.held(store, thread):
        raise asking.waiting(question)


def execute(store: Store, journal: Journal, plan: RunPlan, on_event: OnEvent) -> RunResult:
    """Fork first for a replay, then drive the graph on that thread only."""
    request, target = plan.request, plan.request.graph
    if request.ref is None or target is None:
        raise UsageError("this plan drives no graph")
    answers: Mapping[str, Value] = {}
    base = request.ref
    known = None if request.accept_graph else journal.graph_of(request.ref.thread)
    if request.action == "replay":
        _refuse_before_fork(store, request.ref, target, known)
        base = forking.fork(store, journal, forking.Fork(request.ref, plan.thread, fresh=True)).ref
    else:
        answers = dict(open_answers(store, journal, request))
    job = GraphJob(
        target=target,
        store_path=path_of(store),
        thread=plan.thread,
        until=request.until,
        single_step=request.single_step,
        answers=answers,
        head=None if base.ns else base.id,
        known=known,
        records=runs_path(store.info.store_id),
        business_id=graph_scopes.business_id_of(store, journal, plan.thread),
        visits=graph_scopes.visits_of(store, plan.thread),
        on_conflict=request.on_conflict,
        allow=request.allow,
    )
    first = FirstStep(on_event)
    ended = run_graph(job, first.listen)
    journal.record_graph(plan.thread, ended.fingerprint)
    notes = (*first.differs_from(plan.nodes, ended.status), *_written_by_others(store, base, ended.stored))
    return RunResult(ended.run, ended.thread, ended.status, ended.head, ended.error, notes)


def _refuse_before_fork(store: Store, base: Ref, target: GraphTarget, known: Mapping[str, Value] | None) -> None:
    """A run that would be refused leaves no fork behind. Raises GraphChanged, Untrusted."""
    if known is None and not revival.notes_of(store.load(base), target.trust):
        return
    found = check_graph(target, path_of(store), base)
    changed = differences(known, found) if known is not None else ()
    if changed:
        raise GraphChanged(f"{target.graph} has changed since it last ran thread {base.thread!r}", tuple(changed))


class FirstStep:
    """The nodes that a run starts with, to be compared with what was announced. ``on_event`` hears everything."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._step: Value = None
        self._nodes: list[str] = []

    def listen(self, event: Event) -> None:
        """One event of the run."""
        if event.kind == "step_started":
            self._step = event.fields["step"] if not self._nodes else self._step
            if event.fields["step"] == self._step:
                self._nodes.append(event.fields["node"])
        self._on_event(event)

    def differs_from(self, announced: tuple[str, ...], status: str) -> tuple[str, ...]:
        """One sentence where it does; none where a run was paused before all of it had started."""
        ran, due = Counter(self._nodes), Counter(announced)
        if not ran or ran == due or not due or (status == Status.PAUSED and ran <= due):
            return ()
        return (f"{', '.join(sorted(due.elements()))} was to run, and {', '.join(self._nodes)} ran",)


def _written_by_others(store: Store, base: Ref, stored: tuple[str, ...]) -> tuple[str, ...]:
    """One sentence where checkpoints came after ``base`` that the run did not store."""
    own = {base.id, *stored}
    found: list[Header] = []
    for header in newest_headers(store, base.thread):
        if header.ref.id == base.id:
            break
        if not header.ref.ns and header.ref.id not in own:
            found.append(header)
    if not found:
        return ()
    last = heads.place(found[0])
    return (f"{counted(len(found), 'checkpoint')} came from somebody else while it ran, the last one at {last}",)


def stop(store: Store, thread: str, what: str) -> None:
    """After its superstep, or at once where nobody works on it. The thread can go on from there in either case."""
    path = runs_path(store.info.store_id)
    if not path.exists():
        raise NotFound(f"no run of ours drives {thread!r}", hint="only runs that tt-debug started can be stopped")
    stop_graph(path, thread, what)


def replayed(view: ThreadView, ref: Ref) -> Header:
    """The header that a replay starts from. Raises NotFound, UsageError where nothing runs after it."""
    header = view.headers.get(ref)
    if header is None:
        raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}")
    if not header.next:
        raise UsageError(f"nothing runs after {heads.place(header)}", hint="replay from an earlier step")
    return header


def _finished(checkpoint: Checkpoint) -> list[str]:
    """The nodes of the step's tasks whose results are stored: LangGraph runs only the others."""
    due = set(checkpoint.header.next)
    return [task.node for task in checkpoint.tasks if task.status == Status.DONE and task.node in due]


def open_answers(store: Store, journal: Journal, request: RunRequest) -> list[tuple[str, Value]]:
    """The answers to hand to the graph, by question: the one given now, and those recorded before."""
    assert request.ref is not None
    thread = request.ref.thread
    questions = asking.questions(store, thread)
    recorded = journal.answers()
    given = [(ask.id, recorded[asking.key(ask)].answer) for ask in questions if asking.key(ask) in recorded]
    unanswered = [ask for ask in questions if asking.key(ask) not in recorded]
    if not request.has_answer:
        if unanswered and not given:
            raise _waiting(unanswered[0])
        return given
    if not unanswered:
        raise UsageError(f"{thread!r} asks no question", hint="leave out --answer")
    if len(unanswered) > 1:
        asked = ", ".join(f"{ask.node} ({ask.id})" for ask in unanswered)
        raise UsageError(
            f"{thread!r} asks {len(unanswered)} questions: {asked}", hint="tt-debug answer STORE ID JSON takes each"
        )
    asking.check(unanswered[0], request.answer)
    return [*given, (unanswered[0].id, request.answer)]


def _waiting(question: Approval) -> WaitingForAnswer:
    return WaitingForAnswer(
        f"{question.thread!r} waits for an answer to {question.node}",
        question.id,
        hint=f"tt-debug answer STORE {question.id} JSON, or resume with --answer JSON",
    )


def stops(request: RunRequest) -> str:
    """Where the run ends, in words."""
    if request.single_step:
        return "after one superstep"
    return f"before {request.until}" if request.until else "the end, a question or a failure"


def _notes(
    request: RunRequest,
    thread: str,
    answers: tuple[tuple[str, Value], ...],
    finished: list[str],
    revived: tuple[str, ...],
) -> tuple[str, ...]:
    notes = [*revived]
    notes += [f"{node} has finished and keeps its results" for node in dict.fromkeys(finished)]
    if request.action == "replay" and request.ref is not None:
        notes.append(f"on the new thread {thread!r}; {request.ref.thread!r} stays as it is")
    notes += [f"hands the recorded answer to question {ident}" for ident, _ in answers]
    return tuple(notes)
