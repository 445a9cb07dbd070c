"""What every dialog has: a frame, a body, buttons named by their verb; Cancel is Esc and has the focus first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs

T = TypeVar("T")

FRAME: Final = 5
"""Rows of a dialog that are not its body: the border, the buttons and the air above them, one for a complaint."""
LEAST_WITH_BAR: Final = 12
"""Columns of a terminal from which on the body has a scroll bar."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """One button: the verb, the value the dialog ends with, a key of its own, how heavy it is."""

    label: str
    value: T
    key: str = ""
    variant: Literal["default", "primary", "warning", "error"] = "default"


class Dialog(ModalScreen[T | None]):
    """Ends with a choice's value, or with None for Cancel."""

    BINDINGS = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, title: str, choices: tuple[Choice[T], ...], *, cancel: str = "Cancel") -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._cancel = cancel

    def compose(self) -> ComposeResult:
        """Frame, body, buttons."""
        with Vertical(id="dialog"):
            with VerticalScroll(id="dialog-body"):
                yield from self.compose_body()
            yield Static("", id="dialog-problem", markup=False)
            with Horizontal(id="dialog-buttons"):
                yield Button(Content(f"Esc {self._cancel}"), id="cancel", compact=True)
                for number, choice in enumerate(self._choices):
                    label = self._label(choice.label, choice.key)
                    yield Button(label, id=f"choice-{number}", variant=choice.variant, compact=True)

    def relabel(self, number: int, label: str) -> None:
        """Call a choice's button by another verb."""
        self.query_one(f"#choice-{number}", Button).label = self._label(label, self._choices[number].key)

    def _label(self, verb: str, key: str) -> Content:
        glyphs = getattr(self.app, "glyphs", UNICODE)
        ellipsis = glyphs.ellipsis if isinstance(glyphs, Glyphs) else UNICODE.ellipsis
        return Content(safe_text(f"{verb} {_shown(key)}".rstrip()).replace("…", ellipsis))

    def compose_body(self) -> ComposeResult:
        """What it is about."""
        yield from ()

    def on_mount(self) -> None:
        """Title, the buttons' keys; Cancel has the focus unless the body takes it."""
        # A toast from before would stand over the question.
        self.app.clear_notifications()
        self.query_one("#dialog").border_title = Content(safe_text(self._title))
        for number, choice in enumerate(self._choices):
            if choice.key:
                # A text field would take such a key for its own: ^d deletes there.
                first = choice.key.startswith("ctrl+")
                self._bindings.bind(choice.key, f"choose({number})", choice.label, show=False, priority=first)
        self.query_one(self.first_focus()).focus()

    def on_resize(self, event: events.Resize) -> None:
        """The body has what frame and buttons leave."""
        body = self.query_one("#dialog-body")
        body.styles.max_height = max(event.size.height - FRAME, 1)
        # A bar that leaves its text no room makes it go, and so comes and goes for ever.
        body.set_class(event.size.width < LEAST_WITH_BAR, "-barless")
        self.call_after_refresh(self._let_scroll)

    def _let_scroll(self) -> None:
        for body in self.query(VerticalScroll):
            # Tab passes over what is in view as a whole.
            body.can_focus = body.max_scroll_y > 0

    def first_focus(self) -> str:
        """What has the focus first. Said here and not in on_mount: Textual calls every class's own, the base's last."""
        return "#cancel"

    def result(self, value: T) -> T | None:
        """What the dialog ends with when the button of ``value`` is pressed; None keeps it open (see `complain`)."""
        return value

    def complain(self, text: str) -> None:
        """Say in the dialog why it stays open; empty takes the line away."""
        line = self.query_one("#dialog-problem", Static)
        line.update(Content(safe_text(text)))
        line.set_class(bool(text), "-shown")

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """End with this; nothing where it is not on top: of a key that came late Textual would take away what is."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def action_choose(self, number: int) -> None:
        """A button's key."""
        value = self.result(self._choices[number].value)
        if value is not None:
            self.dismiss(value)

    def action_cancel(self) -> None:
        """Esc."""
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        name = event.button.id or ""
        if name.startswith("choice-"):
            self.action_choose(int(name.removeprefix("choice-")))
        else:
            self.action_cancel()


def _shown(key: str) -> str:
    return key.replace("ctrl+", "^")
