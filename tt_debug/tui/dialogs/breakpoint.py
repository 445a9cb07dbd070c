"""A breakpoint as a form: where runs stop, under which condition, in which threads. Stores nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Checkbox, Input, RadioButton, RadioSet, Static

from stores.supervision import Breakpoint
from tt_debug.errors import UsageError
from tt_debug.query import check_condition
from tt_debug.text import counted, safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog
from tt_debug.tui.dialogs.edit import REST, InPlace
from tt_debug.tui.widgets.field import Field

if TYPE_CHECKING:
    from tt_debug.tui.app import TtDebugApp

PLACES: Final = (("before", "before"), ("after", "after"), ("error", "on an error"), ("effect", "before an effect"))

Ask = Callable[[str], str]
"""What a condition says of the checkpoint under the cursor, in words. Raises UsageError for what is not JMESPath."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be: a breakpoint, or with None that the one that was shown is taken away."""

    wanted: Breakpoint | None


class Answered(Message):
    """What the condition says here, or why it is none."""

    def __init__(self, typed: str, words: str) -> None:
        super().__init__()
        self.typed = typed
        self.words = words


class PlaceButton(RadioButton):
    """One of the places; the sign tells which is chosen, not its colour alone."""

    BUTTON_LEFT = ""
    BUTTON_RIGHT = ""
    BUTTON_INNER = "( )"

    def watch_value(self) -> None:
        """The mark, then what every radio button does."""
        self.BUTTON_INNER = "(x)" if self.value else "( )"
        super().watch_value()


class BreakpointDialog(Dialog[Wish]):
    """``shown`` is the one that is changed, or with an empty id what a new one begins as; ``here`` is the thread that
    it can be kept to."""

    DEFAULT_CSS = """
    BreakpointDialog #break-place { layout: horizontal; width: 100%; height: 1; border: none; background: $surface; }
    BreakpointDialog #break-place RadioButton { width: auto; margin-right: 2; background: $surface; }
    BreakpointDialog #break-place .toggle--button { color: $foreground; background: $surface; }
    BreakpointDialog #break-place RadioButton.-on .toggle--button { color: $text-success; background: $surface; }
    BreakpointDialog #break-place:blur RadioButton > .toggle--label { background: $surface; text-style: none; }
    BreakpointDialog .form-line { height: 1; }
    BreakpointDialog .form-line Static { width: 8; }
    BreakpointDialog .form-line Input { width: 1fr; }
    BreakpointDialog #break-answer { color: $text-muted; height: 1; padding-left: 8; }
    """

    def __init__(self, shown: Breakpoint, here: str, ask: Ask) -> None:
        choices: tuple[Choice[Wish], ...] = (Choice("Keep" if shown.id else "Set", Wish(shown), "ctrl+s", "primary"),)
        if shown.id:
            choices = (*choices, Choice("Take away", Wish(None), "ctrl+d", "warning"))
        super().__init__(f"Breakpoint {shown.id}" if shown.id else "New breakpoint", choices)
        self._shown = shown
        self._here = here
        self._ask_here = ask
        self._rest: Timer | None = None

    @property
    def tt(self) -> TtDebugApp:
        """The app, typed."""
        from tt_debug.tui.app import TtDebugApp  # the app imports the screens

        assert isinstance(self.app, TtDebugApp)
        return self.app

    def compose_body(self) -> ComposeResult:
        """Where, which node, which effect, when, and in which threads."""
        shown = self._shown
        with RadioSet(id="break-place", compact=True):
            for place, label in PLACES:
                yield PlaceButton(label, value=place == shown.place)
        yield from _line("node  ", Field(shown.node or "", id="break-node", placeholder="every node"))
        with Horizontal(id="break-effect-line", classes="form-line"):
            yield Static("effect  ", markup=False)
            yield Field(shown.name or "", id="break-effect", placeholder="every effect")
        always = "always; or when, in JMESPath: length(messages) > `20`"
        yield from _line("when  ", Field(shown.condition or "", id="break-when", placeholder=always))
        yield Static("", id="break-answer", classes="dialog-line", markup=False)
        yield InPlace("in this thread only", value=shown.thread is not None, id="break-thread", compact=True)
        hits = f"It has stopped {counted(shown.hits, 'run')}; changed, it counts anew. " if shown.hits else ""
        note = f"{hits}A run that meets it is paused, durably, whoever started it; continuing goes on from there."
        yield Static(Content(note), classes="dialog-note", markup=False)

    def first_focus(self) -> str:
        """The condition: where it stands is known from the row."""
        return "#break-when"

    def on_mount(self) -> None:
        """An effect has a name where one is meant."""
        self._place_shown()

    def _place(self) -> str:
        at = self.query_one(RadioSet).pressed_index
        return PLACES[at][0] if at >= 0 else self._shown.place

    @on(RadioSet.Changed)
    def _place_shown(self) -> None:
        self.query_one("#break-effect-line").display = self._place() == "effect"

    @on(Input.Changed)
    @on(Checkbox.Changed)
    def _changed(self) -> None:
        self.complain("")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_choose(0)

    # --- what the condition says here

    @on(Input.Changed, "#break-when")
    def _condition_changed(self) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, self._ask)

    def _ask(self) -> None:
        typed = self._text("#break-when")
        if not typed:
            self.query_one("#break-answer", Static).update("")
            return
        self.tt.loader.call(self, "condition", partial(_answer, self._ask_here, typed), partial(Answered, typed))

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        if event.typed == self._text("#break-when"):
            self.query_one("#break-answer", Static).update(Content(safe_text(event.words)))

    # --- the end

    def _text(self, selector: str) -> str:
        return self.query_one(selector, Input).value.strip()

    def result(self, value: Wish) -> Wish | None:
        """What stands in the form; None, and why, while the condition is none."""
        if value.wanted is None:
            return value
        condition, place, node = self._text("#break-when"), self._place(), self._text("#break-node")
        try:
            if condition:
                check_condition(condition)
        except UsageError as error:
            self.complain(f"{error}; {error.hint}" if error.hint else str(error))
            return None
        wanted = replace(
            value.wanted,
            place=place,
            node=None if node in ("", "*") else node,
            name=(self._text("#break-effect") or None) if place == "effect" else None,
            condition=condition or None,
            thread=self._here if self.query_one("#break-thread", Checkbox).value else None,
        )
        return Wish(wanted)


def _line(label: str, field: Input) -> ComposeResult:
    with Horizontal(classes="form-line"):
        yield Static(label, markup=False)
        yield field


def _answer(ask: Ask, typed: str) -> str:
    try:
        return ask(typed)
    except UsageError as error:
        return str(error)
