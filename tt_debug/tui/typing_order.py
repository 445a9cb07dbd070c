"""The part of the application that keeps what is typed into a text field in the order in which it was typed."""

from __future__ import annotations

from textual import events
from textual.app import App
from textual.widget import Widget
from textual.widgets import Input


def takes_text(widget: Widget | None) -> bool:
    """Whether letters are typed into it."""
    if isinstance(widget, Input):
        return True
    from textual.widgets import TextArea  # with its parser 5 ms; it comes with the Thread screen

    return isinstance(widget, TextArea)


class TypingOrder(App[int]):
    """Gives a text field its own keys in the queue in which its letters arrive.

    Textual lets a field take letters at once, but looks for a bound key (a cursor key, backspace) only when that has
    come back up to the application: of keys that arrive together, bundled by a slow line, letters would go first.
    """

    async def on_event(self, event: events.Event) -> None:
        """Queue a bound key of the field that has the focus behind what it was sent before."""
        if isinstance(event, events.Key) and not (event.is_forwarded or event.is_printable):
            field = self.focused
            key = self.screen.active_bindings.get(event.key)
            if key is not None and key.node is field and takes_text(field):
                field.call_later(self.run_action, key.binding.action, field)
                return
        await super().on_event(event)
