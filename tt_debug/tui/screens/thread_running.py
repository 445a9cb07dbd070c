"""Running from the Thread screen: the plan, the question, the child's events as they come, pausing and cancelling.

Owns what is asked and shown around a run; the run itself is the session's.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Final

from textual import on
from textual.message import Message
from textual.timer import Timer

from stores.effects import OnConflict
from stores.errors import Conflict, StoreError
from stores.model import Capability, Ref, Status
from tt_debug.engine.events import Event
from tt_debug.errors import DebuggerError, DefinitionChanged, GraphChanged, NotAHead, Untrusted, WaitingForAnswer
from tt_debug.session.hiding import hidden_event
from tt_debug.session.plans import RunPlan, RunRequest, RunResult
from tt_debug.tui.action import Action
from tt_debug.tui.dialogs.base import Choice
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.draft import EditOutcome
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows.times import clock_text
from tt_debug.tui.screens.replaying import OTHER_WAYS, other_ways, replay_lines
from tt_debug.tui.screens.thread_editing import ThreadEditing
from tt_debug.tui.under_way import UnderWay

TICK: Final = 0.5
"""Seconds between two looks at the clock: an animation would cost 4 to 8 % of a core."""
GATHER: Final = 0.1
"""Seconds for which events are gathered before they are drawn."""
STARTS: Final = frozenset({"run.continue", "run.step", "run.replay"})
STOPS: Final = frozenset({"run.pause", "run.cancel", "follow"})
MOVES: Final = frozenset({"step_finished", "step_failed", "waiting", "run_ended"})
"""Events after which the thread has something new."""


class PlanRead(Message):
    """What would run."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        self.plan = plan


class RunEvent(Message):
    """One event of the run."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class RunEnded(Message):
    """The child has ended."""

    def __init__(self, result: RunResult) -> None:
        super().__init__()
        self.result = result


class Asked(Message):
    """A pause or cancel is recorded."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class ThreadRunning(ThreadEditing):
    """c, s, R, p, K, F."""

    running = False
    following = True

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)
        self._plan: RunPlan | None = None
        self._started = 0.0
        self._under_way = UnderWay(time.monotonic)
        self._events: list[Event] = []
        self._gather: Timer | None = None
        self._clock: Timer | None = None

    # --- asking

    def refusal(self, action: Action) -> str | None:
        """One run at a time on one screen."""
        if self.running and action.id in STARTS:
            pause, cancel = self.tt.key_of("run.pause"), self.tt.key_of("run.cancel")
            return f"a run is active here: {pause} pauses it after the current step, {cancel} cancels it"
        if action.id == "run.replay" and self.tt.read_only and Capability.RUNS in self.session.info.capabilities:
            return None  # from the record nothing is written to the store; a live one is refused by its plan
        return super().refusal(action)

    def act_run_continue(self) -> None:
        """Resume at the head."""
        if self.selected is not None:
            self.run_from(self.selected)

    def act_run_step(self) -> None:
        """Run one step from the head."""
        if self.selected is not None:
            self._ask(RunRequest("resume", ref=self.selected, single_step=True))

    def act_run_replay(self) -> None:
        """Run again from here: from the record, or live on a new thread."""
        if self.selected is not None:
            self._ask(RunRequest("replay", ref=self.selected))

    def run_from(self, ref: Ref) -> None:
        """Ask to resume at ``ref``."""
        self._ask(RunRequest("resume", ref=ref))

    def _ask(self, request: RunRequest) -> None:
        self.tt.loader.call(self, "plan", partial(self.session.plan, request), PlanRead)

    @on(PlanRead)
    def _plan_read(self, event: PlanRead) -> None:
        plan = event.plan

        def decided(word: str | None) -> None:
            if word in OTHER_WAYS:
                self._ask(replace(plan.request, **OTHER_WAYS[word]))
            elif word is not None:
                decision = word if word in OnConflict.ALL else plan.request.on_conflict
                self._start(replace(plan, request=replace(plan.request, on_conflict=decision)))

        verb = "Run one step" if plan.request.single_step else "Run"
        asks = bool(plan.differing) and plan.request.action == "resume" and plan.request.on_conflict is None
        others = other_ways(plan, read_only=self.tt.read_only)
        dialog = ConfirmDialog(plan.title, plan.lines()[1:], verb, asks_on_conflict=asks, others=others)
        self.app.push_screen(dialog, decided)

    def show_failure(self, event: Failed) -> None:
        """A plan that cannot be made offers what can be done instead."""
        if event.kind == "plan":
            self._offer(event)
        elif event.kind == "run":
            self._stopped()
            if isinstance(event.error, GraphChanged) and self._plan is not None:
                self._ask_about(event.error, self._plan.request)
                return
            if isinstance(event.error, Untrusted) and self._plan is not None:
                self._ask_to_trust(event.error, self._plan.request)
                return
            self._notice("The run broke off", event)
            self.read(trunk=self._plan.thread if self._plan is not None else None)
        elif event.kind == "fork" and isinstance(event.error, Conflict):
            self.refused(event)
        elif event.kind in ("fork", "stop"):
            self._notice("That did not work", event)
        else:
            super().show_failure(event)

    def _notice(self, title: str, event: Failed) -> None:
        lines = [line for line in (event.text, event.hint) if line]
        self.app.push_screen(NoticeDialog(title, lines))

    def _ask_about(self, changed: GraphChanged, request: RunRequest) -> None:
        """A graph that is not what last ran the thread runs once its differences were seen."""

        def decided(word: str | None) -> None:
            if word == "run":
                self._ask(replace(request, accept_graph=True))

        lines = [f"{changed}:", *(f"  {difference}" for difference in changed.differences), "Nothing has run yet."]
        choices = (Choice("Run it as it is now…", "run", "ctrl+r", "warning"),)
        self.app.push_screen(NoticeDialog("The graph has changed", lines, choices), decided)

    def _ask_to_trust(self, refused: Untrusted, request: RunRequest) -> None:
        """Stored names that the graph has not imported are built once somebody who saw them has said so."""
        target = request.graph

        def decided(word: str | None) -> None:
            if word == "trust" and target is not None:
                self._ask(replace(request, graph=replace(target, trust=(*target.trust, *refused.names))))

        wanted = "Import what is the agent's own in its module. A name that is trusted is imported and called."
        choices = (Choice("Trust these names…", "trust", "ctrl+r", "warning"),) if refused.names else ()
        lines = [f"{refused}.", wanted, "Nothing has run yet."]
        self.app.push_screen(NoticeDialog("The database names code", lines, choices), decided)

    def _offer(self, event: Failed) -> None:
        error, header = event.error, self.header()
        lines, hint = [event.text], event.hint
        choices: tuple[Choice[str], ...] = ()
        if isinstance(error, NotAHead) and header is not None and not header.next:
            hint = "Go to an earlier step, and fork there (f) or run it again from there (R)."
        elif isinstance(error, NotAHead):
            choices = (Choice("Fork here…", "fork", "f", "primary"),)
            if self.line and self.line[-1] != self.selected:
                choices = (*choices, Choice("Go to the head", "head", "0"))
        elif isinstance(error, WaitingForAnswer):
            choices = (Choice("Answer…", "answer", "a", "primary"),)
        elif isinstance(error, DefinitionChanged):
            lines += [f"  {difference}" for difference in error.differences]
            if self.tt.opening.workflow is not None:
                choices = (Choice("Adopt it on a fork…", "adopt", "f", "primary"),)
        if hint:
            lines.append(hint)
        title = "Not from here" if isinstance(error, NotAHead) else "Not now"
        self.app.push_screen(NoticeDialog(title, lines, choices), self._offered)

    def _offered(self, word: str | None) -> None:
        if word == "fork":
            self.act_fork()
        elif word == "head":
            self.act_nav_head()
        elif word == "adopt" and self.selected is not None:
            self.write(self.selected, EditOutcome("run", adopt=self.tt.opening.workflow))
        elif word == "answer":
            self.act_inbox()

    # --- the run

    def _start(self, plan: RunPlan) -> None:
        self._plan, self._started, self._under_way = plan, time.monotonic(), UnderWay(time.monotonic)
        self.running = self.following = True
        self.raised = STOPS
        self.refresh_keys()
        self._clock = self.set_interval(TICK, self._tick)
        self._tick()
        self.show_tab("live")
        self.tt.note_done(plan.title)
        self.tt.tour_saw("ran")
        loader = self.tt.loader  # the run may outlive this screen, which then knows no app
        work = partial(self.session.execute, plan, lambda event: loader.post(self, RunEvent(event)))
        loader.run(self, "run", work, RunEnded)

    @on(RunEvent)
    def _happened(self, event: RunEvent) -> None:
        self._events.append(hidden_event(event.event, self.tt.redaction))
        if self._gather is None:
            self._gather = self.set_timer(GATHER, self._draw_events)

    def _draw_events(self) -> None:
        events, self._events, self._gather = self._events, [], None
        for event in events:
            self._under_way.take(event)
        self.views.live.add(events)
        if any(event.kind in MOVES for event in events) and self._plan is not None and not self._plan.from_record:
            self.read(trunk=self._plan.thread if self.following else None, to_head=self.following)
        self._show_live()
        self.show_titles()

    def cursor_moved(self) -> None:
        """Whoever goes elsewhere wants to look there; the newest checkpoint is followed again from the head."""
        if self.running:
            self.following = self.selected == self.trunk

    def _tick(self) -> None:
        self.running_text = clock_text(time.monotonic() - self._started) if self.running else ""
        self._show_live()
        self.show_place()

    def _show_live(self) -> None:
        run = None if self._plan is None or self._plan.from_record else self._plan.thread
        on_trunk = self.trunk is not None and self.trunk.thread == run
        live = (self._under_way.text() or self.tt.glyphs.ellipsis) if self.running and on_trunk else ""
        self.graph.show_facts(replace(self.graph.facts, live=live))

    def _stopped(self) -> None:
        self.running = False
        self.raised = ()
        self.refresh_keys()
        if self._clock is not None:
            self._clock.stop()
        if self._gather is not None:
            self._gather.stop()
        self._draw_events()
        self._tick()

    @on(RunEnded)
    def _run_ended(self, event: RunEnded) -> None:
        self._stopped()
        result = event.result
        if self._plan is not None and self._plan.from_record:
            self.app.push_screen(NoticeDialog(self._plan.title, replay_lines(result)))
            return
        self.read(select=result.head if self.following else None, trunk=result.thread if self.following else None)
        words = {
            Status.DONE: f"{result.thread}: the run is done",
            Status.WAITING: f"{result.thread} waits for an answer: {self.tt.key_of('inbox')} opens the approvals",
            Status.PAUSED: f"{result.thread} is paused: {self.tt.key_of('run.continue')} goes on",
        }
        text = words.get(result.status, f"{result.thread}: {result.status}")
        if result.error:
            text += f": {result.error.strip().splitlines()[-1]}"
        for note in result.notes:
            self.say(note, severity="warning")
        self.say(text, severity="error" if result.status == Status.FAILED else "information")

    # --- stopping

    def act_run_pause(self) -> None:
        """Ask the run to stop after its current step."""
        self._stop("pause")

    def act_run_cancel(self) -> None:
        """Ask, then ask the run to end."""
        thread = self._run_thread()
        lines = [f"The active run of {thread} ends after its current step; what it has done stays in the history."]
        choices = (Choice("Cancel the run", "cancel", "k", "error"),)

        def decided(word: str | None) -> None:
            if word == "cancel":
                self._stop("cancel")

        self.app.push_screen(NoticeDialog("Cancel the run?", lines, choices), decided)

    def _run_thread(self) -> str:
        if self.running and self._plan is not None:
            return self._plan.thread
        return self.line[-1].thread if self.line else self.thread

    def _stop(self, what: str) -> None:
        work = partial(self.session.stop, self._run_thread(), what)
        self.tt.loader.write(self, "stop", work, lambda _: Asked(what))

    @on(Asked)
    def _asked_to_stop(self, event: Asked) -> None:
        word = "pauses" if event.what == "pause" else "ends"
        self.say(f"asked: the run {word} after its current step")

    def run_words(self) -> str:
        """Which run is active."""
        return f"{self._run_thread()} has been running for {self.running_text}."

    def stop_run(self) -> None:
        """Leaving: ask the run to pause. On this thread, because the application ends right after."""
        try:
            self.session.stop(self._run_thread(), "pause")
        except (StoreError, DebuggerError):
            # It has ended meanwhile, or its store is gone: there is nothing left to stop.
            return

    def act_follow(self) -> None:
        """Keep the cursor on the newest checkpoint, or let it be."""
        self.following = not self.following
        self.say("following the run" if self.following else "the cursor stays where it is")
        if self.following and self.running:
            self.read(to_head=True)
