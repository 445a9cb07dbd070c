"""The inbox: every question of every open store, its request as a table, and answering it.

Owns recording an answer. It runs nothing: going on is asked about and done on the Thread screen.
"""

from __future__ import annotations

import getpass
import json
import os
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from stores.errors import Unreachable
from stores.model import Header, Ref
from stores.runs import Approval
from tt_debug.session.answers import Answer
from tt_debug.session.hiding import hidden_question
from tt_debug.tui.actions import Action, bindings
from tt_debug.tui.copying import Copyable
from tt_debug.tui.dialogs.answer import AnswerDialog, How
from tt_debug.tui.draft import as_text
from tt_debug.tui.messages import Failed
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.rows.request import request_lines
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.approvals_view import ApprovalsView, Waiting
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title


class QuestionsRead(Message):
    """A store's open questions."""

    def __init__(self, store: int, questions: tuple[Approval, ...]) -> None:
        super().__init__()
        self.store = store
        self.questions = questions


class Answered(Message):
    """An answer was recorded; ``header`` is where the thread stands now."""

    def __init__(self, waiting: Waiting, answer: Answer, header: Header) -> None:
        super().__init__()
        self.waiting = waiting
        self.answer = answer
        self.header = header


class ApprovalsScreen(BaseScreen):
    """Questions left or above, the request of the one under the cursor beside it."""

    WHERE = "approvals"
    PANES = ("#inbox", "#request")
    BINDINGS = bindings("approvals")

    def __init__(self) -> None:
        super().__init__()
        self._questions: dict[int, tuple[Approval, ...]] = {}
        self._problems: dict[int, str] = {}

    def compose_body(self) -> ComposeResult:
        """The inbox and the request."""
        with Horizontal(id="inbox-body"):
            yield ApprovalsView(id="inbox")
            yield Panel(id="request", empty="no question")

    def on_mount(self) -> None:
        """Titles, and the first reading."""
        self.query_one("#inbox").border_subtitle = "oldest first"
        self.query_one("#request").border_title = "2 Request"
        self.query_one("#inbox").focus()
        self._show()

    def on_screen_resume(self) -> None:
        """A question may have been answered elsewhere."""
        self.act_refresh()

    def act_refresh(self) -> None:
        """Read every inbox again."""
        for number, store in enumerate(self.tt.stores):
            kind = f"approvals of {store.label}"
            self.tt.loader.call(self, kind, store.session.approvals, partial(QuestionsRead, number))

    @on(QuestionsRead)
    def _read(self, event: QuestionsRead) -> None:
        self._questions[event.store] = event.questions
        self._problems.pop(event.store, None)
        self._show()

    def show_failure(self, event: Failed) -> None:
        """An inbox that cannot be read says so in its place."""
        for number, store in enumerate(self.tt.stores):
            if event.kind == f"approvals of {store.label}":
                if isinstance(event.error, Unreachable) and number in self._questions:
                    return  # what was read before stays; the notices say that the store is out of reach
                self._questions[number] = ()
                self._problems[number] = f"{store.label}: {event.told}"
                self._show()
                # Beside the questions of other stores there is no place for it.
                self.say(self._problems[number], severity="error")
                return
        super().show_failure(event)

    def _show(self) -> None:
        hidden = partial(hidden_question, hiding=self.tt.redaction)
        rows = [Waiting(number, hidden(each)) for number, found in self._questions.items() for each in found]
        rows.sort(key=lambda row: row.question.since.timestamp() if row.question.since else 0.0)
        read = len(self._questions) == len(self.tt.stores)
        empty = "Nobody waits for an answer." if read else "reading…"
        if self._problems:
            empty = " ".join(self._problems.values())
        self.query_one(ApprovalsView).show(rows, datetime.now(UTC), empty=empty)
        self.query_one("#inbox").border_title = f"1 Inbox  {len(rows)}"
        title = Title(crumbs=("approvals",), waiting=len(rows), read_only=self.tt.read_only)
        self.show_title(title)
        self._show_request()
        self.refresh_keys()

    def secrets_changed(self) -> None:
        """The same questions."""
        super().secrets_changed()
        self._show()

    @on(RowView.Highlighted, "#inbox")
    def _highlighted(self) -> None:
        self._show_request()

    @on(Panel.Resized, "#request")
    def _show_request(self) -> None:
        panel = self.query_one("#request", Panel)
        row = self.query_one(ApprovalsView).current
        if row is None:
            panel.show(())
            return
        store = self.tt.stores[row.store].label
        panel.show(request_lines(row.question, store, panel.text_width, self.tt.glyphs))

    # --- answering

    def stores_written(self) -> Sequence[OpenStore]:
        """The store of the question under the cursor."""
        row = self.query_one(ApprovalsView).current
        return () if row is None else (self.tt.stores[row.store],)

    def refusal(self, action: Action) -> str | None:
        """Answering needs a question and a store that may be written."""
        reason = super().refusal(action)
        if reason is None and action.id.startswith("answer.") and self.query_one(ApprovalsView).current is None:
            return "there is no question to answer"
        return reason

    def act_answer_approve(self) -> None:
        """Say yes."""
        self._ask("approve")

    def act_answer_reject(self) -> None:
        """Say no."""
        self._ask("reject")

    def act_answer_reply(self) -> None:
        """Say something else."""
        self._ask("reply")

    def _ask(self, how: How) -> None:
        waiting = self.query_one(ApprovalsView).current
        if waiting is not None:
            self.app.push_screen(AnswerDialog(waiting.question, how), partial(self._decided, waiting))

    def _decided(self, waiting: Waiting, answer: Answer | None) -> None:
        if answer is None:
            return
        session = self.tt.stores[waiting.store].session
        question, reject = waiting.question, answer.reject
        record = partial(session.answer, question.id, answer.value, os_user(), reject=reject, thread=question.thread)
        self.tt.loader.write(self, "answer", record, partial(Answered, waiting, answer))

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        question, store = event.waiting.question, self.tt.stores[event.waiting.store]
        self.tt.note_done(
            f"answered {question.node} in {question.thread}", answer_command(store.url, question, event.answer)
        )
        self.say(f"recorded: {question.node} in {question.thread}")
        self.act_refresh()
        if event.answer.resume:
            self.tt.show_thread(store, question.thread, event.header.ref, then="run.continue")

    def copyables(self) -> list[Copyable]:
        """The question under the cursor: what it asks, its id, its thread."""
        row = self.query_one(ApprovalsView).current
        if row is None:
            return []
        question = row.question
        asked = Copyable("j", "question", lambda: as_text(question.prompt))
        return [asked, Copyable("i", "id", lambda: question.id), Copyable("t", "thread", lambda: question.thread)]

    # --- looking

    @on(RowView.Opened, "#inbox")
    def _opened(self) -> None:
        row = self.query_one(ApprovalsView).current
        if row is not None:
            question = row.question
            ref = Ref(question.thread, question.ns, question.checkpoint)
            self.tt.show_thread(self.tt.stores[row.store], question.thread, ref)

    def command_line(self) -> str:
        """The same inbox on the command line."""
        return "\n".join(f"tt-debug approvals {shlex.quote(store.url)}" for store in self.tt.stores)


def answer_command(url: str, question: Approval, answer: Answer) -> str:
    """The command line that records the same answer."""
    verb = "reject" if answer.reject else "answer"
    words = ["tt-debug", verb, url, question.id]
    words += ["--reason", str(answer.value)] if answer.reject else [json.dumps(answer.value, ensure_ascii=False)]
    return shlex.join(words)


def os_user() -> str:
    """Who answers: the name of the user of this terminal, or the number where the system has no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
