"""Answering a question: a yes, a no with its reason, or a value of one's own checked against the schema.

Ends with an `Answer`; whether it may be recorded, and the recording, is the screen's.
"""

from __future__ import annotations

import json
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from stores.model import MISSING
from stores.runs import Approval
from tt_debug.session.answers import Answer, no, parse, problem, skeleton, yes
from tt_debug.text import safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog
from tt_debug.tui.draft import escaped_json
from tt_debug.tui.widgets.field import Field

How = Literal["approve", "reject", "reply"]

_TITLES = {"approve": "Approve", "reject": "Reject", "reply": "Answer"}


class AnswerDialog(Dialog[Answer]):
    """``how`` "approve" shows what will be recorded, "reject" asks for a reason, "reply" for the answer as JSON."""

    def __init__(self, question: Approval, how: How) -> None:
        verb = _TITLES[how]
        heavy: Literal["primary", "warning"] = "warning" if how == "reject" else "primary"
        choices = (
            Choice(verb, Answer(None), "ctrl+s", heavy),
            Choice(f"{verb} and resume…", Answer(None, resume=True), "ctrl+r", "default"),
        )
        super().__init__(f"{verb}: {question.node} in {question.thread}", choices)
        self._question = question
        self._how = how

    def compose_body(self) -> ComposeResult:
        """The field for what has to be typed, and what will be recorded."""
        if self._how == "reject":
            yield Static("Why not? The asker gets this text.", markup=False)
            yield Field(id="reason", placeholder="reason, may be empty")
        elif self._how == "reply":
            yield Static("The answer, as JSON", markup=False)
            # Highlighting costs more than it gives in six lines.
            yield TextArea(escaped_json(skeleton(self._question)), id="reply", compact=True, show_line_numbers=False)
        yield Static("", id="recorded", markup=False)
        yield Static("Recording runs nothing; resuming asks first.", classes="dialog-note", markup=False)

    def first_focus(self) -> str:
        """What has to be typed."""
        return {"reject": "#reason", "reply": "#reply"}.get(self._how, "#cancel")

    def on_mount(self) -> None:
        """What will be recorded."""
        self._show()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._show()

    def _show(self) -> None:
        """What will be recorded, or what is wrong with it, while it is typed."""
        answer, wrong = self._read()
        self.complain(wrong)
        shown = "" if answer is None else f"will be recorded: {_dumped(answer)}"
        self.query_one("#recorded", Static).update(Content(safe_text(shown[:500])))

    def _read(self) -> tuple[Answer | None, str]:
        """What was typed as an answer, or why it is none."""
        if self._how == "approve":
            value = yes(self._question)
            if value is MISSING:
                return None, "A bare yes does not fit the schema of this question: reply with i."
            return Answer(value), ""
        if self._how == "reject":
            return no(self._question, self.query_one("#reason", Input).value.strip()), ""
        try:
            value = parse(self.query_one("#reply", TextArea).text)
        except ValueError as error:
            return None, str(error)
        wrong = problem(self._question, value)
        return (None, wrong) if wrong else (Answer(value), "")

    def result(self, value: Answer) -> Answer | None:
        """The answer with the button's wish to resume; None, and the reason in the dialog, while it is none."""
        answer, wrong = self._read()
        self.complain(wrong)
        return None if answer is None else Answer(answer.value, answer.reject, value.resume)


def _dumped(answer: Answer) -> str:
    value = {"approved": False, "reason": answer.value} if answer.reject else answer.value
    return json.dumps(value, ensure_ascii=False)
