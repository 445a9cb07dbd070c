"""What the interface did since it started, each with the command that does the same; below it the forks and edits of
ours that are on record from before.

Owns the list; taking back belongs to `tt_debug.tui.undoing`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from tt_debug.text import counted, safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.session.journal import OwnWrite
    from tt_debug.session.undoing import Undone
    from tt_debug.tui.app import Done
    from tt_debug.tui.opening import OpenStore


class WritesRead(Message):
    """The forks and edits of a store that are on record as ours, the newest first."""

    def __init__(self, store: OpenStore, writes: tuple[OwnWrite, ...]) -> None:
        super().__init__()
        self.store = store
        self.writes = writes


class Row(NamedTuple):
    """What a line stands for: the command that does the same, and what it wrote, which may be taken back."""

    command: str
    made: tuple[OpenStore, Ref] | None


class LogScreen(BaseScreen):
    """The newest first; Enter copies the command, and what can be is taken back from here."""

    WHERE = "log"
    ENTER = "copy"
    BINDINGS = bindings("log")

    def __init__(self) -> None:
        super().__init__()
        self._earlier: dict[str, tuple[OpenStore, tuple[OwnWrite, ...]]] = {}

    def compose_body(self) -> ComposeResult:
        """One list."""
        yield Panel(id="done", empty="Nothing was written or run yet. Forks, edits, answers and runs appear here.")

    def on_mount(self) -> None:
        """What was done is there at once; what is on record is read."""
        self.show_title(Title(crumbs=("what was done",), read_only=self.tt.read_only))
        self._show()
        self.query_one("#done").focus()
        self.act_refresh()

    def act_refresh(self) -> None:
        """Read every record again."""
        for store in self.tt.stores:
            work = partial(_own_writes, store)
            self.tt.loader.call(self, f"writes to {store.label}", work, partial(WritesRead, store))

    @on(WritesRead)
    def _read(self, event: WritesRead) -> None:
        self._earlier[event.store.url] = event.store, event.writes
        self._show()

    def _show(self) -> None:
        view, glyphs = self.query_one("#done", Panel), self.tt.glyphs
        done = list(reversed(self.tt.done))
        rows: list[tuple[Line, Row | None]] = [(_done_line(each), Row(each.command, each.made)) for each in done]
        view.border_title = f"1 Done in this session  {len(done):,}"
        told = {(each.made[0].url, each.made[1]) for each in done if each.made is not None}
        for store, writes in self._earlier.values():
            earlier = [each for each in writes if (store.url, each.ref) not in told]
            if earlier:
                words = f"on record {glyphs.dot} {store.label} {glyphs.dot} {counted(len(earlier), 'write')} of ours"
                rows.append(((Piece(words, "secondary"),), None))
            rows += [(_write_line(each), Row(_command(store, each), (store, each.ref))) for each in earlier]
        headings = frozenset(at for at, (_, row) in enumerate(rows) if row is None)
        cursor = view.cursor
        view.show([line for line, _ in rows], [row for _, row in rows], headings)
        view.cursor = max(cursor, view.cursor)

    def _current(self) -> Row | None:
        view = self.query_one("#done", Panel)
        row = view.key(view.cursor)
        return row if isinstance(row, Row) else None

    def stores_written(self) -> Sequence[OpenStore]:
        """That of the write under the cursor."""
        row = self._current()
        return () if row is None or row.made is None else (row.made[0],)

    def act_undo(self) -> None:
        """Take back the write under the cursor."""
        row = self._current()
        if row is None or row.made is None:
            self.say("only forks and edits can be taken back, and only while nothing ran on them")
        else:
            self.tt.ask_to_undo(*row.made, exactly=True)

    def write_undone(self, store: OpenStore, undone: Undone) -> None:
        """It is on the list now."""
        self._show()
        self.act_refresh()

    def command_line(self) -> str:
        """The command under the cursor."""
        row = self._current()
        return row.command if row is not None else ""

    def action_escape(self) -> None:
        """Close."""
        self.tt.go_back()

    @on(RowView.Opened, "#done")
    def _opened(self) -> None:
        self.act_copy_cli()


def _own_writes(store: OpenStore) -> tuple[OwnWrite, ...]:
    return store.session.undoing.writes()


def _done_line(each: Done) -> Line:
    return (Piece(f"{safe_text(each.words)}  "), Piece(safe_text(each.command), "muted"))


def _write_line(each: OwnWrite) -> Line:
    base = f"{safe_text(each.base.thread)}@{safe_text(each.base.id)}"
    return (
        Piece(f"{each.at.astimezone():%Y-%m-%d %H:%M}  ", "muted"),
        Piece(f"{each.kind}  "),
        Piece(safe_text(each.ref.thread), "strong"),
        Piece(f"  from {base}", "muted"),
        Piece("  taken back" if each.undone is not None else "", "warning"),
    )


def _command(store: OpenStore, each: OwnWrite) -> str:
    """What shows the checkpoint that was written."""
    return shlex.join(["tt-debug", "show", store.url, f"{each.ref.thread}@{each.ref.id}"])
