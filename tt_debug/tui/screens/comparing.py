"""Two lines side by side: which steps did the same, where the lines part, and why; of each step what it changed.

Owns reading and the two panels; Enter goes to the checkpoint of a step.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from stores.model import Diff, Header, Ref
from tt_debug.divergence import Cause, Row
from tt_debug.session.comparisons import compare, hidden_step
from tt_debug.session.questions import Stopped
from tt_debug.text import safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.copying import Copyable
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows.comparing import parting_lines, row_line, step_lines, step_text
from tt_debug.tui.screens.going import go_to_checkpoint
from tt_debug.tui.screens.one_reading import OneReading
from tt_debug.tui.screens.one_store import OneStore
from tt_debug.tui.watch import Watch
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

if TYPE_CHECKING:
    from tt_debug.session.session import Session
    from tt_debug.tui.opening import OpenStore


class RowsRead(Message):
    """The rows so far. ``names`` are the ends', ``common`` says what both lines have in common, ``cause`` why they
    part, if they do yet."""

    def __init__(
        self,
        watch: Watch,
        names: tuple[str, str],
        rows: tuple[Row, ...],
        common: str,
        cause: Cause | None,
        *,
        ended: bool = False,
    ) -> None:
        super().__init__()
        self.watch = watch
        self.names = names
        self.rows = rows
        self.common = common
        self.cause = cause
        self.ended = ended


class Step(NamedTuple):
    """What the step of the row at a place changed on either line."""

    watch: Watch
    at: int
    sides: tuple[Diff, Diff]


class StepRead(Message):
    """What is known of a row's step now."""

    def __init__(self, watch: Watch, at: int, sides: tuple[Diff, Diff]) -> None:
        super().__init__()
        self.step = Step(watch, at, sides)


class CompareScreen(OneReading, OneStore):
    """The rows, and below them what is known of the one under the cursor."""

    WHERE = "compare"
    PANES = ("#pairs", "#step")
    BINDINGS = bindings("compare")

    def __init__(self, store: OpenStore, a: Ref, b: Ref) -> None:
        super().__init__()
        self.store = store
        self._a, self._b = a, b
        self._rows: tuple[Row, ...] = ()
        self._cause: Cause | None = None
        self._step: Step | None = None
        self._names = (safe_text(a.thread), safe_text(b.thread))
        self._common = ""
        self._ended = False
        self._problem = ""

    def compose_body(self) -> ComposeResult:
        """The rows above the step."""
        with Vertical(id="compare-body"):
            yield Panel(id="pairs", empty="reading…")
            yield Panel(id="step")

    def on_mount(self) -> None:
        """Read."""
        self.query_one("#pairs").focus()
        self.act_refresh()

    def act_refresh(self) -> None:
        """Compare again."""
        watch = self.begin_reading()
        loader = self.tt.loader
        self._rows, self._step, self._cause, self._ended, self._problem = (), None, None, False, ""

        def read() -> RowsRead:
            return _read(self.store.session, self._a, self._b, watch, partial(loader.post, self))

        loader.call(self, "comparison", read, lambda told: told)
        self._show()

    @on(RowsRead)
    def _came(self, event: RowsRead) -> None:
        if event.watch is self._watch:
            found_now = self._cause is None and event.cause is not None
            self._rows, self._cause, self._common, self._ended = event.rows, event.cause, event.common, event.ended
            self._names = event.names
            self._show(to_parting=found_now)

    def show_failure(self, event: Failed) -> None:
        """A comparison that cannot be made, or a step that cannot be read, says why in its place."""
        if event.kind == "comparison":
            self._problem, self._ended = event.told, True
            self._show()
        elif event.kind == "step":
            self.query_one("#step", Panel).empty = event.told
            self.query_one("#step", Panel).show(())
        else:
            super().show_failure(event)

    def _show(self, *, to_parting: bool = False) -> None:
        panel, glyphs = self.query_one("#pairs", Panel), self.tt.glyphs
        cursor = panel.cursor
        if to_parting:
            cursor = next(at for at, row in enumerate(self._rows) if row.is_parting)
        panel.empty = self._problem or ("Both end at the same checkpoint." if self._ended else "reading…")
        panel.show([row_line(row, panel.text_width, glyphs) for row in self._rows], self._rows)
        panel.cursor = cursor
        panel.border_title = Content("1 A {}  {dot}  B {}".format(*self._names, dot=glyphs.dot))
        state = self._common if self._ended else glyphs.words("reading…")
        self.show_title(Title((self.store.label, "compare"), state, read_only=self.tt.read_only))
        self._show_step()
        self.refresh_keys()

    @on(Panel.Resized, "#pairs")
    def _resized(self) -> None:
        self._show()

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        panel = self.query_one("#pairs", Panel)
        found = panel.key(panel.cursor) if panel.keys else None
        return found if isinstance(found, Row) else None

    @on(RowView.Highlighted, "#pairs")
    def _highlighted(self) -> None:
        self._show_step()

    def _show_step(self) -> None:
        panel, row = self.query_one("#step", Panel), self.current
        panel.border_title = "2 What the step changed"
        panel.empty = ""
        if row is None:
            words = "they do not part" if self._ended and not self._problem else ""
            panel.empty = words
            panel.show(())
            return
        at, watch = self.query_one("#pairs", Panel).cursor, self._watch
        if watch is None:
            return
        if self._step is None or self._step[:2] != (watch, at):
            panel.empty = self.tt.glyphs.words("reading…")
            panel.show(())
            work = partial(hidden_step, self.store.session, row, self.tt.redaction)
            self.tt.loader.call(self, "step", work, partial(StepRead, watch, at))
            return
        width, glyphs = panel.text_width, self.tt.glyphs
        lines = parting_lines(self._cause, width) if row.is_parting and self._cause is not None else []
        for name, header, changes in zip("AB", (row.a, row.b), self._step.sides, strict=True):
            lines += step_lines(name, header, changes, width, glyphs)
        panel.show(lines)

    @on(StepRead)
    def _step_read(self, event: StepRead) -> None:
        if event.step[:2] == (self._watch, self.query_one("#pairs", Panel).cursor):
            self._step = event.step
            self._show_step()

    @on(Panel.Resized, "#step")
    def _step_resized(self) -> None:
        self._show_step()

    def secrets_changed(self) -> None:
        """What steps changed, with them or without."""
        super().secrets_changed()
        self.act_refresh()

    # --- going on

    @on(RowView.Opened, "#pairs")
    def _opened(self) -> None:
        """To the step of B, or of A where B has none."""
        row = self.current
        header = None if row is None else row.b or row.a
        if header is not None:
            go_to_checkpoint(self, self.store, header.ref)

    def action_escape(self) -> None:
        """Close."""
        self.tt.go_back()

    def copyables(self) -> list[Copyable]:
        """The cause in words, and both addresses."""
        row, cause = self.current, self._cause
        found = [] if cause is None else [Copyable("w", "why they part", lambda: cause.words)]
        sides = [] if row is None else [("a", row.a), ("b", row.b)]
        return found + [
            Copyable(key, f"id of {key.upper()}", partial("{0.thread}@{0.id}".format, header.ref))
            for key, header in sides
            if header is not None
        ]

    def command_line(self) -> str:
        """The same on the command line."""
        refs = (f"{ref.thread}@{ref.id}" for ref in (self._a, self._b))
        return shlex.join(["tt-debug", "compare", self.store.url, *refs])


def _names_of(ends: tuple[Header, Header]) -> tuple[str, str]:
    """The ends by their threads and steps, and where that is one name for two, with their ids."""
    a, b = (f"{safe_text(end.ref.thread)}@{'?' if end.step is None else end.step}" for end in ends)
    if a != b or ends[0].ref == ends[1].ref:
        return a, b
    return f"{a} {safe_text(ends[0].ref.id)}", f"{b} {safe_text(ends[1].ref.id)}"


def _read(session: Session, a: Ref, b: Ref, watch: Watch, tell: Callable[[RowsRead], None]) -> RowsRead:
    """The comparison to its end, or until ``watch`` is stopped; ``tell`` is given what there is from time to time."""
    found, rows = compare(session, a, b), list[Row]()
    base, names = found.base, _names_of(found.ends)
    common = "nothing in common" if base is None else f"in common up to {step_text(base).strip()}"

    def told(*, ended: bool = False) -> RowsRead:
        return RowsRead(watch, names, tuple(rows), common, found.comparison.cause, ended=ended)

    with suppress(Stopped):
        for row in found.rows(lambda done, of: watch.goes_on(done, lambda: None, lambda _: tell(told()))):
            rows.append(row)
    return told(ended=True)
