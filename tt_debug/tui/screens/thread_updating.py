"""Edits as a node's update, from the Thread screen: asking before the graph's code runs, what comes out, saving.

Owns that order; the form says what is wanted, the session makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from textual import on
from textual.message import Message

from stores.model import Header, Ref
from tt_debug.diff_text import format_diff
from tt_debug.session.hiding import hidden_changes
from tt_debug.session.plans import NodeEdit, RunPlan, RunRequest, RunResult
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.draft import EditOutcome
from tt_debug.tui.screens.thread_moving import ThreadMoving

Made = Callable[[Header], Message]
"""What is told once an update is saved."""


class UpdatePlanned(Message):
    """What would be called and stored; nothing has run."""

    def __init__(self, plan: RunPlan, made: Made) -> None:
        super().__init__()
        self.plan = plan
        self.made = made


class UpdateSeen(Message):
    """What comes out; nothing is stored."""

    def __init__(self, plan: RunPlan, result: RunResult, made: Made) -> None:
        super().__init__()
        self.plan = plan
        self.result = result
        self.made = made


class ThreadUpdating(ThreadMoving):
    """The way from a form that names a node to a saved update."""

    def plan_update(self, base: Ref, outcome: EditOutcome, made: Made) -> None:
        """Ask before the graph's code runs; ``made`` tells the end."""
        edit = NodeEdit(outcome.as_node, outcome.changes, outcome.by_reducer)
        thread = None if outcome.in_place else outcome.thread
        request = RunRequest("update", ref=base, thread=thread, edit=edit)
        work = partial(self.session.plan, request)
        self.tt.loader.call(self, "fork", work, lambda plan: UpdatePlanned(plan, made))

    @on(UpdatePlanned)
    def _update_planned(self, event: UpdatePlanned) -> None:
        plan = event.plan
        assert plan.request.edit is not None
        trial = replace(plan, request=replace(plan.request, edit=replace(plan.request.edit, preview=True)))
        work = partial(self.session.execute, trial, _unheard)

        def decided(word: str | None) -> None:
            if word == "run":
                self.tt.loader.write(self, "fork", work, lambda seen: UpdateSeen(plan, seen, event.made))

        self.app.push_screen(ConfirmDialog(plan.title, plan.lines()[1:], "Show what comes out"), decided)

    @on(UpdateSeen)
    def _update_seen(self, event: UpdateSeen) -> None:
        made = event.result.updated
        assert made is not None
        changes = hidden_changes(made.changes, (made.before, made.after), self.tt.redaction)
        following = f" {self.tt.glyphs.arrow} ".join(made.next) if made.next else "nothing: the line ends there"
        lines = [*(f"changes  {line}" for line in format_diff(changes)), f"next  {following}"]
        lines += [f"note  {note}" for note in (*event.plan.notes, *event.result.notes)]
        work = partial(_saved, self, event.plan)

        def decided(word: str | None) -> None:
            if word == "run":
                self.tt.loader.write(self, "fork", work, event.made)

        title = f"As {made_as(event.plan)}: what comes out"
        state = "The graph's reducers and branches have run; nothing is saved yet."
        self.app.push_screen(ConfirmDialog(title, lines, "Save", state), decided)


def made_as(plan: RunPlan) -> str:
    """The node that an update is made as."""
    return plan.request.edit.as_node if plan.request.edit is not None else ""


def _saved(screen: ThreadUpdating, plan: RunPlan) -> Header:
    result = screen.session.execute(plan, _unheard)
    assert result.head is not None
    return screen.session.load(result.head).header


def _unheard(event: object) -> None:
    """An update tells nothing on its way."""
