"""Running from the command line: show the plan, ask, run, say what happens line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from stores.model import Status, Value
from tt_debug.cli import interrupts, records
from tt_debug.cli.exits import ExitCode, NeedsYes, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.output import CannotPrint, Output, ReaderGone
from tt_debug.engine.events import Event
from tt_debug.errors import ChildFailed, GraphChanged
from tt_debug.session.hiding import hidden_event
from tt_debug.session.plans import RunPlan, RunRequest, RunResult
from tt_debug.text import human_duration, one_line, safe_text

if TYPE_CHECKING:
    from tt_debug.session.session import Session

LOST = "lost"  # another process took the run over
STOPPED = frozenset({Status.WAITING, Status.PAUSED, Status.HELD, Status.PENDING})


class Runner:
    """Takes requests through plan, question and run, on one session and to one output."""

    def __init__(self, front: Front, session: Session, output: Output, *, yes: bool, reveal: bool = False) -> None:
        self._front = front
        self._session = session
        self._output = output
        self._yes = yes
        self._hiding = front.hiding(reveal)
        self._last: Event | None = None
        self._unheard: ReaderGone | CannotPrint | None = None

    def go(self, request: RunRequest) -> ExitCode:
        """Plan, ask and run. Raises NeedsYes when the plan may not run."""
        plan = self._session.plan(request)
        self.agree(plan, plan.lines())
        try:
            return self.run(plan)
        except GraphChanged as changed:
            if self._yes or not self._front.someone_to_ask():
                raise GraphChanged(
                    str(changed), changed.differences, hint="--accept-graph runs it all the same"
                ) from None
            narrate(f"{changed}:", *(f"  {difference}" for difference in changed.differences))
            if not self._front.ask("Run it as it is now?"):
                raise NeedsYes("nothing has run") from None
            return self.run(self._session.plan(replace(request, accept_graph=True)))

    def agree(self, plan: RunPlan, lines: Sequence[str]) -> None:
        """Return when the plan may run; ``lines`` say it. Raises NeedsYes after it was shown and not agreed to."""
        if self._yes:
            narrate(lines[0])
        elif self._front.someone_to_ask():
            narrate(*lines)
            if not self._front.ask("Run this?"):
                raise NeedsYes("nothing has run")
        else:
            if self._output.as_json:
                self._output.document("plan", records.plan_record(plan))
            else:
                self._output.text(lines)
            raise NeedsYes("nothing has run: there is no terminal to ask on", hint="add --yes to run this plan")

    def run(self, plan: RunPlan) -> ExitCode:
        """Run an agreed plan to its end; the code says how it ended.

        Ctrl-C lets the child finish its step, and then is how we end.
        """
        self._last = None
        with interrupts.noticed() as interrupted:
            try:
                result = self._session.execute(plan, self._tell)
            except ChildFailed as error:
                # A second Ctrl-C kills the child: that is what the person wanted.
                if interrupted():
                    raise click.Abort from error
                raise
            self._end(result)
            if interrupted():
                return ExitCode.INTERRUPTED
            verified = plan.request.mode == "verify" and result.divergence is not None
            return ExitCode.DIFFERENCES if verified else code_for(result.status)

    def _tell(self, event: Event) -> None:
        """One event as it happens. The last one is held back until the session has confirmed how the run ended.

        The run is not stopped because nobody reads its story any more, or because stdout is a file on a full disk.
        """
        if event.kind == "run_ended":
            self._last = event
        elif self._unheard is None:
            try:
                self._print(event)
            except (ReaderGone, CannotPrint) as error:
                self._unheard = error

    def _print(self, event: Event) -> None:
        if self._output.as_json:
            self._output.line(records.event_record(event, self._hiding))
        else:
            self._output.text(event_lines(hidden_event(event, self._hiding)))
            self._output.flush()

    def _end(self, result: RunResult) -> None:
        fields = records.result_record(result)
        narrate(*(f"note: {note}" for note in result.notes))
        last = self._last or Event("run_ended", result.run, result.thread, records.now_text())
        if isinstance(self._unheard, CannotPrint):
            raise self._unheard
        if self._unheard is not None:
            return
        if self._output.as_json:
            self._output.line(records.event_record(last, self._hiding) | fields)
        else:
            self._print(replace(last, fields={**last.fields, **fields}))


def code_for(status: str) -> ExitCode:
    """The exit code for how a run ended."""
    if status == Status.DONE:
        return ExitCode.OK
    if status == LOST:
        return ExitCode.CONFLICT
    return ExitCode.WAITING if status in STOPPED else ExitCode.RUN_FAILED


def event_lines(event: Event) -> list[str]:
    """An event for a person: what it is, in the first eight columns, then about what."""
    word, text = _said(event)
    return [f"{word:<8} {line}" for line in text.split("\n")] if text else []


def _said(event: Event) -> tuple[str, str]:
    get, node = event.fields.get, _name(event.fields.get("node"))
    if event.kind == "run_started":
        named = f"{_name(get('workflow') or '')} {_name(get('version') or '')}".strip()
        return "run", f"{_name(event.thread)}  {named}".rstrip()
    if event.kind == "step_started":
        again = f", attempt {get('attempt')}" if _more_than_one(get("attempt")) else ""
        return _step(event), f"{node} started{again}"
    if event.kind == "step_finished":
        return _step(event), f"{node} done{_took(get('duration_ms'))}{_towards(get('next'))}"
    if event.kind == "substep_finished":
        return _step(event), f"{node}: part {_name(get('substep'))} done"
    if event.kind == "diverged":
        then, now = (one_line(get(side), 100) for side in ("recorded", "replayed"))
        return "differs", f"{node}, {get('what')}: recorded {then}, now {now}"
    if event.kind == "step_failed":
        wait = get("retry_in")
        then = f"; again in {human_duration(wait)}" if isinstance(wait, int | float) else ""
        return "failed", f"{node}, attempt {get('attempt')}: {get('error')}{then}"
    if event.kind == "waiting":
        return "waiting", f"{node} asks {_asked(get('prompt'))}  ({get('approval')})"
    if event.kind == "run_ended":
        error = f": {get('error')}" if get("error") else ""
        at = f"@{get('head')}" if get("head") else ""
        return "ended", f"{get('status')}  {_name(event.thread)}{at}{error}"
    if event.kind == "output":
        return str(get("stream") or "output"), str(get("text"))
    if event.kind == "log":
        return "log", f"{node}: {get('text')}"
    return event.kind, one_line(dict(event.fields), 200)


def _name(text: Value) -> str:
    """On one line whatever it holds: a name must not look like an event of its own."""
    return safe_text(str(text))


def _step(event: Event) -> str:
    step = event.fields.get("step")
    return "step" if step is None else f"step {step}"


def _more_than_one(attempt: Value) -> bool:
    return isinstance(attempt, int) and attempt > 1


def _took(milliseconds: Value) -> str:
    return f" in {human_duration(milliseconds / 1000)}" if isinstance(milliseconds, int | float) else ""


def _towards(following: Value) -> str:
    return " → " + ", ".join(map(_name, following)) if isinstance(following, list | tuple) and following else ""


def _asked(prompt: Value) -> str:
    return repr(prompt) if isinstance(prompt, str) else one_line(prompt, 120)
