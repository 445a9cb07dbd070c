"""Who wrote it, when it held, where it stands: a question of the whole history and its answers as they come.

Owns asking and stopping; Enter goes to the checkpoint of an answer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from stores.model import Diff, Header, Ref
from stores.paths import format_path
from tt_debug.blame import Stop
from tt_debug.session import questions
from tt_debug.session.comparisons import step_changes
from tt_debug.session.turns import HumanTurn
from tt_debug.text import counted
from tt_debug.tui.actions import bindings
from tt_debug.tui.asking import Answer, Part, Question, ask
from tt_debug.tui.copying import Copyable
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows.answers import answer_line, origin_words
from tt_debug.tui.rows.comparing import changes_lines, step_text
from tt_debug.tui.screens.base import NARROW, BaseScreen
from tt_debug.tui.screens.going import MarksHits, Shows, ShowsMessages, go_to_checkpoint
from tt_debug.tui.screens.one_reading import OneReading
from tt_debug.tui.watch import Watch
from tt_debug.tui.widgets.field import Field
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

if TYPE_CHECKING:
    from tt_debug.tui.opening import OpenStore

_PLACEHOLDERS: Final = {
    "when": "a condition in JMESPath: plan.status == 'final'   length(messages) > `3`",
    "text": "a text: in values, keys, errors, questions, metadata",
}


_NOWHERE: Final = {
    "who": "It was never written there",
    "when": "It holds nowhere",
    "text": "It stands nowhere",
    "turns": "No human message on this line",
}


class Answers(Message):
    """How a question stands; ``watch`` is the asking it comes from."""

    def __init__(self, watch: Watch, part: Part) -> None:
        super().__init__()
        self.watch = watch
        self.part = part


class OriginsRead(Message):
    """Where the value of an answer may have been copied from, in words."""

    def __init__(self, written: Stop, words: str) -> None:
        super().__init__()
        self.written = written
        self.words = words


class ChangesRead(Message):
    """What the step of an answer changed."""

    def __init__(self, step: tuple[Header, Diff]) -> None:
        super().__init__()
        self.step = step


class AnswersScreen(OneReading, BaseScreen):
    """A question without words is asked for them first."""

    WHERE = "answers"
    PANES = ("#answers", "#answer-step")
    BINDINGS = bindings("answers")

    def __init__(self, store: OpenStore, question: Question) -> None:
        super().__init__()
        self.store = store
        self._question = question
        self._part = Part((), 0, None)
        self._near: Ref | None = None
        self._step: tuple[Header, Diff] | None = None

    def stores_shown(self) -> list[OpenStore]:
        """The one that is asked."""
        return [self.store]

    def compose_body(self) -> ComposeResult:
        """The line to type in, the list, and below it what the step of the answer under the cursor changed."""
        yield Field(placeholder=_PLACEHOLDERS.get(self._question.kind, ""), id="question")
        yield Panel(id="answers")
        yield Panel(id="answer-step")

    def on_mount(self) -> None:
        """Ask at once, or for the words."""
        field = self.query_one("#question", Input)
        field.display = self._question.takes_words
        field.value = self._question.words
        if self._question.words or not self._question.takes_words:
            self._ask(self._question)
        else:
            field.focus()
            self._show()

    @on(Input.Submitted, "#question")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self._ask(self._question.about(event.value.strip()))

    def _ask(self, question: Question) -> None:
        watch = self.begin_reading()
        self._question, self._part = question, Part((), 0, None)
        loader = self.tt.loader

        def tell(part: Part) -> None:
            loader.post(self, Answers(watch, part))

        work = partial(ask, self.store.session, question, watch, tell, loader.give_way)
        loader.call(self, "answers", work, partial(Answers, watch))
        self.query_one("#answers").focus()
        self._show()

    @on(Answers)
    def _came(self, event: Answers) -> None:
        if event.watch is self._watch:
            self._part = event.part
            self._show()

    def show_failure(self, event: Failed) -> None:
        """A question that cannot be asked says why in the place of its answers."""
        if event.kind == "changes":
            self.query_one("#answer-step", Panel).empty = event.told
            self._show_step()
            return
        if event.kind != "answers":
            super().show_failure(event)
            return
        self._watch = None
        self._show(problem=event.told)
        if self._question.takes_words:
            self.query_one("#question").focus()

    # --- showing

    @property
    def _asking(self) -> bool:
        return self._watch is not None and not self._part.ended

    def _show(self, problem: str = "") -> None:
        panel, part = self.query_one("#answers", Panel), self._part
        hiding, glyphs = self.tt.redaction, self.tt.glyphs
        asked = self._question.ref
        named = asked is None or any(answer.ref.thread != asked.thread for answer in part.answers)
        secret = self._question.kind == "when" and hiding.asks(self._question.words)
        lines = [answer_line(answer, hiding, glyphs, named=named, secret=secret) for answer in part.answers]
        cursor = panel.cursor
        panel.empty = problem or self._nothing()
        panel.show(lines, part.answers)
        panel.cursor = cursor
        self._show_progress(panel)
        self.query_one("#answer-step").display = bool(part.answers)
        self._read_step()
        self.show_title(Title((self.store.label, self._question.title), read_only=self.tt.read_only))
        self.refresh_keys()

    def _show_progress(self, panel: Panel, instead: str = "") -> None:
        """How far it is, in the lower border; a narrow screen draws the rule above the list only."""
        narrow, words = self.size.width < NARROW, instead or self._progress()
        title = f"1 Answers  {len(self._part.answers):,}"
        panel.border_title = Content(f"{title}   {words}" if narrow else title)
        panel.border_subtitle = Content("" if narrow else words)

    def on_resize(self, event: events.Resize) -> None:
        """The title holds more or less."""
        self._show_progress(self.query_one("#answers", Panel))

    def _nothing(self) -> str:
        if self._watch is None:
            return "Type a question and press Enter."
        if self._asking:
            return "asking…"
        if self._part.stopped:
            return f"Stopped after {counted(self._part.asked, 'checkpoint')}, before anything was found."
        what = _NOWHERE[self._question.kind]
        return f"{what}: {counted(self._part.asked, 'checkpoint')} asked."

    def _progress(self) -> str:
        """How far it is, and what the list does not say."""
        part = self._part
        if self._watch is None:
            return ""
        of = f" of {part.of:,}" if part.of and self._asking else ""
        words = [f"{part.asked:,}{of} checkpoints asked"]
        if self._asking and self._watch.stopped:
            words.append("stopping once what is being read is read…")
        elif self._asking:
            words.append("Esc stops")
        elif part.stopped:
            words.append("stopped: there may be more")
        if part.gaps:
            words.append(f"{counted(len(part.gaps), 'gap')}: {part.gaps[0]}"[:80])
        return self.tt.glyphs.words(" · ".join(words))

    def secrets_changed(self) -> None:
        """The same answers."""
        super().secrets_changed()
        self._near = None
        self._show()

    def _read_step(self) -> None:
        """What the step of the answer under the cursor changed, unless that is known."""
        answer, session = self._current(), self.store.session
        if answer is None or answer.ref == self._near:
            return
        self._near, self._step = answer.ref, None
        self.query_one("#answer-step", Panel).empty = self.tt.glyphs.words("reading…")
        self._show_step()
        hiding = self.tt.redaction

        def read() -> ChangesRead:
            header = session.load(answer.ref).header
            return ChangesRead((header, step_changes(session, header, hiding)))

        self.tt.loader.call(self, "changes", read, lambda told: told)

    @on(ChangesRead)
    def _step_read(self, event: ChangesRead) -> None:
        if event.step[0].ref == self._near:
            self._step = event.step
            self._show_step()

    @on(Panel.Resized, "#answer-step")
    def _show_step(self) -> None:
        panel = self.query_one("#answer-step", Panel)
        of = "" if self._step is None else f" at step {step_text(self._step[0]).strip()}"
        panel.border_title = Content(f"2 What changed{of}")
        panel.show([] if self._step is None else list(changes_lines(self._step[1], panel.text_width, self.tt.glyphs)))

    # --- going on from an answer

    def _current(self) -> Answer | None:
        panel = self.query_one("#answers", Panel)
        found = panel.key(panel.cursor)
        return found if isinstance(found, Answer) else None

    @on(RowView.Opened, "#answers, #answer-step")
    def _opened(self) -> None:
        answer = self._current()
        if answer is not None:
            shown = go_to_checkpoint(self, self.store, answer.ref)
            if isinstance(answer, HumanTurn) and isinstance(shown, ShowsMessages):
                shown.show_message(answer.path)
            if isinstance(shown, MarksHits):
                shown.show_hits({each.ref for each in self._part.answers}, self._question.title)

    @on(RowView.Highlighted, "#answers")
    def _highlighted(self) -> None:
        self._read_step()
        answer = self._current()
        if isinstance(answer, Stop) and answer.op in ("add", "change"):
            session = self.store.session
            self.tt.loader.call(
                self,
                "origins",
                lambda: origin_words(questions.origins(session, answer)),
                partial(OriginsRead, answer),
            )

    @on(OriginsRead)
    def _origins_read(self, event: OriginsRead) -> None:
        if self._current() == event.written:
            panel = self.query_one("#answers", Panel)
            self._show_progress(panel, event.words)

    def act_refresh(self) -> None:
        """Ask again."""
        if self._question.words or not self._question.takes_words:
            self._ask(self._question)

    def act_search_open(self) -> None:
        """Ask something else."""
        if self._question.takes_words:
            self.query_one("#question").focus()

    def action_escape(self) -> None:
        """Stop asking, keeping what was found; then leave the text field; then close, not waiting for a slow store."""
        if self._asking and self._watch is not None and not self._watch.stopped:
            self._watch.stop()
            self._show_progress(self.query_one("#answers", Panel))
        elif isinstance(self.focused, Input) and self._part.answers:
            self.query_one("#answers").focus()
        else:
            self.act_back()

    def act_back(self) -> None:
        """The thread below marks what was found, though none of it was opened."""
        below, found = self.app.screen_stack[-2], {each.ref for each in self._part.answers}
        super().act_back()
        if isinstance(below, MarksHits) and isinstance(below, Shows):
            here = {ref for ref in found if below.shows(self.store, ref)}
            if here:
                below.show_hits(here, self._question.title)

    def copyables(self) -> list[Copyable]:
        """The address and, of a write, the path."""
        answer = self._current()
        if answer is None:
            return []
        found = [Copyable("i", "id", lambda: f"{answer.ref.thread}@{answer.ref.id}")]
        path = getattr(answer, "path", None)
        return [*found, Copyable("p", "path", lambda: format_path(path))] if path else found

    def command_line(self) -> str:
        """The same question on the command line."""
        return self._question.command(self.store.url)
