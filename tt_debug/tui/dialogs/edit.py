"""The form for a fork: a value as JSON, what would change, the new thread's name, and what runs next on it.

Ends with an `EditOutcome`. Nothing is stored here: the form asks ``check`` whether the store would take the changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Checkbox, Input, Static, TextArea

from stores.model import Diff
from stores.paths import format_path
from tt_debug.session.hiding import hidden_changes
from tt_debug.text import counted, safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog
from tt_debug.tui.draft import HIGHLIGHTED, Draft, EditOutcome, EditTarget, read_text
from tt_debug.tui.messages import Failed
from tt_debug.tui.widgets.changes_view import ChangesView
from tt_debug.tui.widgets.field import Field

if TYPE_CHECKING:
    from tt_debug.tui.app import TtDebugApp

REST: Final = 0.15
"""Seconds without a key before the text is checked."""

_KEPT: Final = "A $redacted value stays as it is stored; write another in its place to change it."

Check = Callable[[Diff, str | None], None]
"""Raises when the store would refuse the changes, or a new thread of that name."""


Suggest = Callable[[], str]
"""A free name for the new thread."""


Lost = Callable[[], tuple[str, ...]]
"""What an edit would leave behind, one sentence a line."""


class LossesFound(Message):
    """What an edit would leave behind; nothing where no step is under way."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__()
        self.lines = lines


class EffectsFound(Message):
    """Whether the line that a fork leaves has effects on record."""

    def __init__(self, found: bool) -> None:
        super().__init__()
        self.found = found


class NameFound(Message):
    """A free name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Checked(Message):
    """The text was read and the store would take it."""

    def __init__(self, text: str, name: str | None, changes: Diff) -> None:
        super().__init__()
        self.text = text
        self.name = name
        self.changes = changes


class InPlace(Checkbox):
    """A checkbox that is empty when it is off; Textual's own shows a dim X."""

    # Textual draws the two sides in the colour of the background, as the edges of a button.
    BUTTON_LEFT = ""
    BUTTON_RIGHT = ""
    BUTTON_INNER = "[ ]"

    def watch_value(self) -> None:
        """The mark, then what every checkbox does."""
        self.BUTTON_INNER = "[x]" if self.value else "[ ]"
        super().watch_value()


class EditDialog(Dialog[EditOutcome]):
    """The form. A button waits for the check of what stands there, and closes the form only when that holds."""

    def __init__(
        self,
        target: EditTarget,
        check: Check,
        suggest: Suggest,
        lost: Lost = tuple,
        has_effects: Callable[[], bool] = bool,
    ) -> None:
        choices = (
            Choice("Create fork", EditOutcome("fork"), "ctrl+s", "primary"),
            Choice("Fork and run…", EditOutcome("run"), "ctrl+r", "warning"),
        )
        what = (format_path(target.path) or "the whole state") if target.values else "Fork"
        verb = f"Edit {what} at" if target.values else "Fork at"
        super().__init__(f"{verb} {target.step}", choices)
        self._target = target
        self._check = check
        self._suggest = suggest
        self._lost = lost
        self._has_effects = has_effects
        self._draft = target.draft() if target.values else Draft("")
        self._text = target.text if target.text is not None else self._draft.text
        self._rest: Timer | None = None
        self._pressed_with: EditOutcome | None = None
        self._is_named = False  # the free name has come

    @property
    def tt(self) -> TtDebugApp:
        """The app, typed."""
        from tt_debug.tui.app import TtDebugApp  # the app imports the screens

        assert isinstance(self.app, TtDebugApp)
        return self.app

    def compose_body(self) -> ComposeResult:
        """Text, verdict, changes, what runs next, name, the choice of the thread itself."""
        if self._target.values:
            language = "json" if len(self._text) <= HIGHLIGHTED else None
            area = TextArea(self._text, language=language, id="draft", compact=True, show_line_numbers=False)
            area.highlight_cursor_line = False
            yield area
            if self._draft.kept:
                yield Static(_KEPT, classes="dialog-line kept", markup=False)
            yield Static("", id="verdict", markup=False)
            yield ChangesView(id="changes")
        yield Static(Content(self._next()), id="next-line", classes="dialog-line", markup=False)
        with Horizontal(id="fork-line"):
            yield Static("New thread  ", id="fork-label", markup=False)
            yield Field(placeholder="looking for a free name…", id="fork-name")
        yield InPlace("effects of its own: none given from the record", id="fresh", compact=True)
        yield InPlace("in this thread instead of a fork", id="in-place", compact=True)
        yield Static("", id="in-place-note", markup=False)
        yield Static("", id="lost", markup=False)
        yield InPlace("take it along: possible in a fork only", id="keep", compact=True)
        if self._target.values and self._target.has_graph:
            with Horizontal(id="node-line"):
                yield Static("As node     ", id="node-label", markup=False)
                yield Field(placeholder="none: the values exactly, and next as before", id="as-node")
            yield InPlace("hand the values to the graph's reducers", id="by-reducer", compact=True)
            yield Static("", id="node-note", markup=False)

    def _next(self) -> str:
        nodes = safe_text(f" {self.tt.glyphs.arrow} ".join(self._target.next))
        return f"Next, as before: {nodes}" if nodes else "Nothing is left to run: the line ends here."

    def first_focus(self) -> str:
        """The text, or the name."""
        return "#draft" if self._target.values else "#fork-name"

    def on_mount(self) -> None:
        """The note for a fork, a free name, the first check."""
        self.query_one("#in-place").display = self._target.values and self._target.is_head
        self._show_in_place(False)
        self.query_one("#lost").display = self.query_one("#keep").display = False
        self.query_one("#fresh").display = False
        self.tt.loader.call(self, "effects", self._has_effects, EffectsFound)
        for name in ("#by-reducer", "#node-note"):
            self.query(name).set(display=False)
        if self._target.values:
            self.tt.loader.call(self, "lost", self._lost, LossesFound)
        self.tt.loader.call(self, "name", self._suggest, NameFound)
        if self._target.values:
            area = self.query_one("#draft", TextArea)
            if area.document.line_count == 1:
                area.move_cursor(area.document.end)
            self._ask()

    def on_resize(self, event: events.Resize) -> None:
        """The text takes up to a quarter of the height, so that the buttons are in view whatever it is."""
        for area in self.query(TextArea):
            area.styles.height = max(3, min(area.document.line_count + 1, event.size.height // 4))

    @on(NameFound)
    def _name_found(self, event: NameFound) -> None:
        name = self.query_one("#fork-name", Input)
        name.placeholder = "a name for the new thread" if event.name else "the store names it"
        if not name.value:
            # A thread's name may hold anything; a new one is what can be read here.
            name.value = safe_text(event.name)
        self._is_named = True
        if self._pressed_with is not None:
            self._ask()

    @on(EffectsFound)
    def _effects_found(self, event: EffectsFound) -> None:
        self.query_one("#fresh").display = event.found

    @on(LossesFound)
    def _losses_found(self, event: LossesFound) -> None:
        if not event.lines:
            return
        text = "\n".join(("An edit leaves behind at this step, which still has it:", *event.lines))
        self.query_one("#lost", Static).update(Content(safe_text(text, newlines=True)))
        self.query_one("#lost").display = self.query_one("#keep").display = True

    @on(Input.Changed, "#as-node")
    def _node_named(self) -> None:
        node = self._node()
        for name in ("#by-reducer", "#node-note"):
            self.query_one(name).display = bool(node)
        self.query_one("#keep").disabled = bool(node)
        self.query_one("#next-line").display = not node
        note = f"Edges out of {safe_text(node)} tell what is next: the graph's code runs, once you have agreed."
        self.query_one("#node-note", Static).update(Content(note))

    @on(Checkbox.Changed, "#keep")
    def _kept(self, event: Checkbox.Changed) -> None:
        in_place = self.query_one("#in-place", Checkbox)
        in_place.value = in_place.value and not event.value
        in_place.disabled = event.value

    def _node(self) -> str:
        return "".join(box.value.strip() for box in self.query("#as-node").results(Input))

    # --- checking

    @on(TextArea.Changed)
    @on(Input.Changed)
    def _changed(self) -> None:
        self.complain("")
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, self._ask)

    def _ask(self) -> None:
        text, name = self._typed()
        work = partial(self._judge, text, name)
        self.tt.loader.call(self, "check", work, lambda changes: Checked(text, name, changes))

    def _typed(self) -> tuple[str, str | None]:
        """The text, and the name of the new thread; None when it is the thread itself."""
        text = self.query_one("#draft", TextArea).text if self._target.values else ""
        in_place = self.query_one("#in-place", Checkbox).value
        return text, None if in_place else self.query_one("#fork-name", Input).value.strip()

    def _judge(self, text: str, name: str | None) -> Diff:
        target = self._target
        changes = read_text(text, target.value, target.path, self._draft.kept) if target.values else ()
        if name is None or name or self._pressed_with is not None:
            self._check(changes, name)
        return changes

    @on(Checked)
    def _checked(self, event: Checked) -> None:
        if (event.text, event.name) != self._typed():
            return
        self._show_changes(event.changes)
        pressed, self._pressed_with = self._pressed_with, None
        if pressed is None:
            return
        node = self._node()
        if event.name is None and not event.changes and not node:
            self.complain("nothing is changed yet: there is nothing to write into this thread")
            return
        action = pressed.action if event.name is not None else "edit" if pressed.action == "fork" else "edit-run"
        keeps = self.query_one("#keep", Checkbox).value and not node
        by_reducer = any(box.value for box in self.query("#by-reducer").results(Checkbox))
        fresh = event.name is not None and self.query_one("#fresh", Checkbox).value
        outcome = EditOutcome(action, event.name or "", event.changes, None, keeps, node, by_reducer, fresh)
        self.dismiss(outcome)

    def _show_changes(self, changes: Diff) -> None:
        if not self._target.values:
            return
        glyphs = self.tt.glyphs
        count = counted(len(changes), "change") if changes else "no change yet"
        self.query_one("#verdict", Static).update(Content(f"{glyphs.done} valid {glyphs.dot} {count}"))
        self.query_one("#verdict").remove_class("-bad")
        target = self._target
        self.query_one(ChangesView).show(hidden_changes(changes, (target.state,), target.hiding))

    def on_failed(self, event: Failed) -> None:
        """What stands there cannot be stored; the form stays."""
        event.stop()
        self._pressed_with = None
        text = safe_text(event.told)
        if self._target.values:
            self.query_one("#verdict", Static).update(Content(f"{self.tt.glyphs.failed} {text}"))
            self.query_one("#verdict").add_class("-bad")
        else:
            self.complain(text)

    # --- the buttons

    def result(self, value: EditOutcome) -> EditOutcome | None:
        """Remember the button and check once more: the form closes when that holds."""
        self._pressed_with = value
        if self._rest is not None:
            self._rest.stop()
        if self._is_named or self._typed()[1] != "":
            self._ask()  # else when the free name has come
        return None

    @on(Checkbox.Changed, "#in-place")
    def _in_place(self, event: Checkbox.Changed) -> None:
        self._show_in_place(event.value)
        self._changed()

    def _show_in_place(self, in_place: bool) -> None:
        thread = safe_text(self._target.ref.thread)
        self.query_one("#fork-line").display = not in_place
        self.query_one("#fresh").disabled = in_place
        note = (
            f"{thread} gets one more checkpoint, and it becomes the head its application goes on from."
            if in_place
            else f"{thread} stays as it is; the fork is one new checkpoint."
        )
        self.query_one("#in-place-note", Static).update(Content(note))
        self.relabel(0, "Write edit" if in_place else "Create fork")
        self.relabel(1, "Edit and run…" if in_place else "Fork and run…")
