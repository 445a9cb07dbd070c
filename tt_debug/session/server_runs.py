"""Going on with a thread on its own server, which runs the graph: planned here, told as every other run is.

No code of the graph is imported or run on this side; what runs there is said before, by the server's own word.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from stores.errors import NotFound
from stores.model import Header, Ref, Status, Value
from stores.protocol import Store
from stores.server_runs import RunNews, ServerRun, ServerRuns
from tt_debug.engine.events import Event
from tt_debug.errors import UsageError
from tt_debug.session import asking, forking, graph_runs, heads
from tt_debug.session.journal import Journal
from tt_debug.session.listing import open_view
from tt_debug.session.plans import OnEvent, RunPlan, RunRequest, RunResult

_ENDS: Final = {Status.DONE: Status.DONE, Status.WAITING: Status.WAITING, Status.FAILED: Status.FAILED}


def plan(store: Store, journal: Journal, request: RunRequest) -> RunPlan:
    """Raises UsageError for a start or an edit as a node, NotAHead, WaitingForAnswer for an unanswered question."""
    if request.action == "run" or request.ref is None:
        raise UsageError("a thread of a server is started by its own application", hint="resume or replay goes on")
    if request.action == "update":
        raise UsageError(
            "a server's thread is edited without a node: each that wrote the checkpoint is tried on a copy",
            hint="leave out the node and the graph",
        )
    assistant = _server(store).assistant(request.ref.thread)
    view = open_view(store, journal, request.ref.thread)
    replay = request.action == "replay"
    header = graph_runs.replayed(view, request.ref) if replay else heads.resumable(store, view, request.ref)
    if replay:
        forking.new_name(store, request.ref.thread, request.thread)
    answers = () if replay else tuple(graph_runs.open_answers(store, journal, request))
    named = assistant.name if assistant.name == assistant.graph else f"{assistant.name} (graph {assistant.graph})"
    notes = [f"hands the recorded answer to question {ident}" for ident, _ in answers]
    if replay:
        notes.append(f"on a new thread, which the server names; {request.ref.thread!r} stays as it is")
    if request.graph is not None and request.graph.graph:
        notes.append("the server runs its own graph: the one given here is not used")
    return RunPlan(
        title=f"{'Replay' if replay else 'Resume'} {request.ref.thread} on its server",
        request=request,
        runner="server",
        thread="" if replay else request.ref.thread,
        base=request.ref,
        step=header.step,
        nodes=header.next if replay else _unfinished(store, header),
        stops=graph_runs.stops(request),
        calls=("every node that runs makes its model and tool calls again, for real",),
        notes=tuple(notes),
        code=f"assistant {named} on the server {store.info.url}, not here",
    )


def _unfinished(store: Store, header: Header) -> tuple[str, ...]:
    """The nodes that run next, without those whose results are stored."""
    finished = Counter(task.node for task in store.load(header.ref).tasks if task.status == Status.DONE)
    return tuple((Counter(header.next) - finished).elements())


def execute(store: Store, journal: Journal, plan: RunPlan, on_event: OnEvent) -> RunResult:
    """Fork first for a replay, then let the server run that thread, and tell of it until it ends.

    Ctrl-C interrupts the run on the server; the thread can go on from its head.
    """
    request, server = plan.request, _server(store)
    if request.ref is None:
        raise UsageError("this plan runs nothing")
    assistant = server.assistant(request.ref.thread)
    thread = plan.thread
    if request.action == "replay":
        thread = forking.fork(store, journal, forking.Fork(request.ref, "")).ref.thread
        answers: list[tuple[str, Value]] = []
    else:
        answers = graph_runs.open_answers(store, journal, request)
    config = dict(request.graph.config) if request.graph is not None else {}
    run = ServerRun(thread, assistant, dict(answers), request.until, request.single_step, config)
    story = _Story(thread, plan.step, on_event)
    head = store.load(store.head(thread))
    story.base = head.header.ref
    story.finished_before = frozenset(task.id for task in head.tasks if task.status == Status.DONE)
    with _interruptible(server, thread):
        for news in server.run_on(run):
            story.take(news, assistant.name, list(plan.nodes))
    return story.end(store)


def stop(store: Store, thread: str) -> None:
    """Interrupt the run; a node under way is broken off. Raises NotFound when none is under way."""
    if not _server(store).cancel(thread):
        raise NotFound(f"no run is under way on {thread!r}", hint="the server lists its runs in Studio")


@contextmanager
def _interruptible(server: ServerRuns, thread: str) -> Iterator[None]:
    """Ctrl-C ends the run on the server, not only our listening to it."""
    try:
        yield
    except KeyboardInterrupt:
        server.cancel(thread)


@dataclass(slots=True)
class _Story:
    """The server's news as events. A result counts once the checkpoint that holds it is there."""

    thread: str
    step: int | None
    on_event: OnEvent
    run: str = ""
    base: Ref | None = None
    error: str | None = None
    finished_before: frozenset[str] = frozenset()
    _open: dict[str, tuple[str, int | None, float]] = field(default_factory=dict)
    _finished: dict[str, tuple[str, int | None, float]] = field(default_factory=dict)

    def tell(self, kind: str, **fields: Value) -> None:
        """One event, at this moment."""
        self.on_event(Event(kind, self.run, self.thread, datetime.now(UTC).isoformat(), fields))

    def take(self, news: RunNews, name: str, following: list[str]) -> None:
        """One thing that the server says."""
        if news.kind == "started":
            self.run = news.id
            base = None if self.base is None else self.base.id
            self.tell("run_started", workflow=name, version="", next=following, base=base)
        elif news.id in self.finished_before:
            return  # it runs nothing: its result is taken as it stands
        elif news.kind == "task":
            step = None if self.step is None or news.ns else self.step + 1
            self._open[news.id] = (news.node, step, time.monotonic())
            self.tell("step_started", node=news.node, step=step, attempt=1)
        elif news.kind == "result":
            self._result(news)
        elif news.kind == "checkpoint":
            if not news.ns:
                self.step = news.step
            self._store(news.id, list(news.next))
        else:
            self.error = news.error

    def _result(self, news: RunNews) -> None:
        node, step, started = self._open.pop(news.id, (news.node, None, time.monotonic()))
        if news.error is not None:
            self.tell("step_failed", node=node, attempt=1, error=news.error, retry_in=None)
        elif not news.waiting:
            self._finished[news.id] = (node, step, round((time.monotonic() - started) * 1000, 3))

    def _store(self, checkpoint: str, following: list[str]) -> None:
        for node, step, took in self._finished.values():
            self.tell("step_finished", node=node, step=step, checkpoint=checkpoint, duration_ms=took, next=following)
        self._finished = {}

    def end(self, store: Store) -> RunResult:
        """How the thread stands now, by the server's own word."""
        head = store.load(store.head(self.thread))
        self._store(head.header.ref.id, list(head.header.next))
        if self.error is not None:
            for node, _, _ in self._open.values():
                self.tell("step_failed", node=node, attempt=1, error=self.error, retry_in=None)
        status = Status.FAILED if self.error is not None else _ENDS.get(head.header.status, Status.PAUSED)
        if status == Status.WAITING:
            for ask in asking.questions(store, self.thread):
                self.tell("waiting", node=ask.node, approval=ask.id, prompt=ask.prompt, ns=ask.ns)
        self.tell("run_ended", status=status, head=head.header.ref.id, error=self.error)
        return RunResult(self.run, self.thread, status, head.header.ref, self.error)


def _server(store: Store) -> ServerRuns:
    if not isinstance(store, ServerRuns):
        raise UsageError(f"{store.info.url} is no server that runs graphs")
    return store
