"""The list of threads: one row each, a heading for each store when there are several. Holds values, sorts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from stores.model import Ref, ThreadInfo
from tt_debug.text import human_age
from tt_debug.tui.glyphs import status_glyph, status_ink
from tt_debug.tui.rows.spent import Used, used_word
from tt_debug.tui.widgets.row_view import RowView

USED: Final = 10
"""Cells of what model calls used, where that is known of any thread."""
COUNT: Final = 12
"""Cells of the number of checkpoints,"""
WRITTEN: Final = 17
"""of the time of the last write,"""
NODE: Final = 20
"""and for a node, before either is shown."""
ROOMY: Final = 66
"""Cells of a row from which on what was used is shown."""


class ThreadRow(NamedTuple):
    """A thread of the store number ``store``, or with ``info`` None that store's heading (``text``, ``problem``)."""

    store: int
    info: ThreadInfo | None = None
    forks: int = 0
    text: str = ""
    problem: bool = False


class _Columns(NamedTuple):
    name: int
    node: int
    forks: bool
    used: bool = False
    more: bool = False


class ThreadsView(RowView):
    """Rows given by `show`; ages are reckoned from ``now`` at that time."""

    HEADER = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[ThreadRow, ...] = ()
        self._now = datetime.now().astimezone()
        self._empty = ""
        self._longest = 8
        self._used: dict[Ref, Used | None] = {}

    def show(self, rows: Sequence[ThreadRow], now: datetime, *, empty: str = "", keep: bool = True) -> None:
        """Show these rows; the cursor stays on its thread when that is still listed, without ``keep`` it goes first."""
        before = self.current if keep else None
        self._rows, self._now, self._empty = tuple(rows), now, empty
        at = None if keep else 0
        if before is not None and before.info is not None:
            for number, row in enumerate(self._rows):
                if row.info is not None and (row.store, row.info.thread) == (before.store, before.info.thread):
                    at = number
                    break
        # Names of the first screens decide the column: measuring a hundred thousand would be seen.
        names = (row.info.thread for row in self._rows[:500] if row.info is not None)
        self._longest = max((cell_len(name) for name in names), default=8)
        self.set_rows(len(self._rows), cursor=at)

    def tell_used(self, head: Ref, used: Used | None) -> None:
        """What the messages of a thread's head tell; of every other head it is not known yet."""
        self._used[head] = used
        self.refresh()

    def _used_word(self, info: ThreadInfo) -> str:
        return used_word(self._used[info.head]) if info.head in self._used else self.glyphs.ellipsis

    def _columns(self, width: int) -> _Columns:
        return _columns(width, self._longest, used=any(self._used.values()))

    @property
    def current(self) -> ThreadRow | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    @property
    def at_top(self) -> bool:
        """Whether the cursor is on the first thread, where nobody may have put it."""
        return self.cursor == self._nearest(0, 1)

    def row(self, number: int) -> ThreadRow:
        """One row."""
        return self._rows[number]

    def selectable(self, row: int) -> bool:
        """Headings are passed over, unless there is nothing else."""
        return self._rows[row].info is not None

    def empty_text(self) -> str:
        """Why there is nothing."""
        return self._empty

    def build_header(self, width: int) -> Sequence[Segment]:
        """The names of the columns."""
        columns, muted = self._columns(width), self.ink("muted")
        line = self.line(width).field("", 2).field("thread", columns.name, muted).add("  ")
        line.field("status", 12, muted).field("step", 5, muted, right=True)
        if columns.forks:
            line.field("forks", 7, muted, right=True)
        if columns.used:
            line.field("cost", USED, muted, right=True)
        line.field("age", 6, muted, right=True).add("  ")
        line.field("last node", columns.node, muted)
        if columns.more:
            line.field("checkpoints", COUNT, muted, right=True).add("  ").field("last write", WRITTEN, muted)
        return line.segments()

    def build(self, row: int, width: int) -> Sequence[Segment]:
        """One thread, or a store's heading."""
        entry = self._rows[row]
        line = self.line(width)
        info = entry.info
        if info is None:
            return line.add(f" {entry.text}", self.ink("error" if entry.problem else "secondary")).segments()
        columns = self._columns(width)
        line.add("  ").field(info.thread, columns.name, self.ink("strong")).add("  ")
        unknown = "" if info.read else self.glyphs.ellipsis
        status = unknown or f"{status_glyph(info.status, self.glyphs)} {info.status}"
        line.field(status, 12, self.ink(status_ink(info.status)))
        line.field(unknown if info.step is None else str(info.step), 5, right=True)
        if columns.forks:
            line.field(str(entry.forks or ""), 7, self.ink("muted"), right=True)
        if columns.used:
            line.field(self._used_word(info), USED, self.ink("muted"), right=True)
        age = human_age(info.updated, self._now) if info.updated is not None else ""
        line.field(age, 6, self.ink("muted"), right=True).add("  ")
        line.field(info.last_node or unknown, columns.node, self.ink("muted"))
        if columns.more:
            counted = "" if info.checkpoints is None else f"{info.checkpoints:,}"
            written = "" if info.updated is None else info.updated.astimezone().strftime("%Y-%m-%d %H:%M")
            line.field(counted, COUNT, self.ink("muted"), right=True).add("  ")
            line.field(written, WRITTEN, self.ink("muted"))
        return line.segments()


def _columns(width: int, longest: int, *, used: bool) -> _Columns:
    """The name takes what the longest needs, the node what is left of the rest; forks and what was used give way when
    it is narrow. Where there is more room than names need, checkpoints are counted and the last write is dated."""
    used = used and width >= ROOMY
    fixed = 2 + 2 + 12 + 5 + 6 + 2 + USED * used
    forks = width >= 58
    left = width - fixed - (7 if forks else 0)
    more = left - longest >= NODE + COUNT + WRITTEN + 2
    left -= COUNT + WRITTEN + 2 if more else 0
    name = max(min(longest, left - 9), 8)
    return _Columns(name, max(left - name, 0), forks, used, more)
