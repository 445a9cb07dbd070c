"""Figures about a store, a thread, or the part of a line between two pins: times, bytes, cost, what could be freed.

Owns the range and the order; gathering is `tt_debug.tui.measuring`'s, and goes on while the screen is looked at.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from stores.paths import format_path
from tt_debug.cells import human_duration, human_size
from tt_debug.session.metrics import Extent
from tt_debug.text import counted
from tt_debug.tui.actions import bindings
from tt_debug.tui.copying import Copyable
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.measuring import Figures, Gathering, KeyRow, NodeRow
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows import metrics as rows
from tt_debug.tui.rows.pieces import Line, cut
from tt_debug.tui.screens.one_reading import OneReading
from tt_debug.tui.screens.one_store import OneStore
from tt_debug.tui.watch import Watch
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.tui.opening import OpenStore

RANGES: Final[tuple[tuple[str, timedelta | None], ...]] = (
    ("last hour", timedelta(hours=1)),
    ("last 24 h", timedelta(days=1)),
    ("last 7 days", timedelta(days=7)),
    ("last 30 days", timedelta(days=30)),
    ("all time", None),
)


class Measured(Message):
    """How the figures stand; ``watch`` is the gathering they come from."""

    def __init__(self, watch: Watch, figures: Figures) -> None:
        super().__init__()
        self.watch = watch
        self.figures = figures


class MetricsScreen(OneReading, OneStore):
    """Of a whole store, or of ``extent``; ``about`` says of what, as people call it."""

    WHERE = "metrics"
    PANES = ("#nodes", "#sizes", "#room")
    BINDINGS = bindings("metrics")

    def __init__(self, store: OpenStore, extent: Extent | None = None, about: str = "") -> None:
        super().__init__()
        self.store = store
        self._extent = extent or Extent()
        self._about = about
        self._range = len(RANGES) - 1
        self._sort = 0
        self._figures = Figures()

    def compose_body(self) -> ComposeResult:
        """Three figures with their course, and three lists."""
        with Horizontal(id="figures"):
            for name in ("figure-threads", "figure-steps", "figure-cost"):
                panel = Panel(id=name, classes="figure")
                panel.can_focus = False
                yield panel
        yield Panel(id="nodes", empty="reading…")
        yield Panel(id="sizes", empty="reading…")
        yield Panel(id="room", empty="reading…")

    def on_mount(self) -> None:
        """Titles, and the first gathering."""
        for name, title in (("threads", "Threads"), ("steps", "p50 / p95 step"), ("cost", "Cost")):
            self.query_one(f"#figure-{name}").border_title = title
        self.query_one("#room").border_title = "3 Could be freed"
        self.query_one("#nodes").focus()
        self.act_refresh()

    # --- gathering

    def act_refresh(self) -> None:
        """Gather anew."""
        watch = self.begin_reading()
        self._figures = Figures()
        loader = self.tt.loader
        _, age = RANGES[self._range]
        extent = replace(self._extent, since=datetime.now(UTC) - age if age is not None else None)
        gathering = Gathering(
            self.store.session,
            extent,
            self.tt.preferences.prices,
            watch,
            lambda figures: loader.post(self, Measured(watch, figures)),
            loader.give_way,
        )
        loader.call(self, "figures", gathering.run, partial(Measured, watch))
        self._show()

    @on(Measured)
    def _came(self, event: Measured) -> None:
        if event.watch is self._watch:
            self._figures = event.figures
            self._show()

    def show_failure(self, event: Failed) -> None:
        """A store that cannot be read says so in the place of its figures."""
        if event.kind != "figures":
            super().show_failure(event)
            return
        self._watch = None
        for name in self.PANES:
            panel = self.query_one(name, Panel)
            panel.empty = event.told
            panel.show(())

    def action_escape(self) -> None:
        """Stop reading, keeping what is there; then as everywhere."""
        if self._is_reading and self._watch is not None:
            self._watch.stop()
        else:
            super().action_escape()

    @property
    def _is_reading(self) -> bool:
        return self._watch is not None and not self._figures.ended

    # --- showing

    @on(Panel.Resized)
    def _resized(self) -> None:
        self._show()

    def _show(self) -> None:
        figures, glyphs = self._figures, self.tt.glyphs
        width = self.query_one("#figure-threads", Panel).text_width
        self._show_figure("threads", rows.thread_figures(figures, width, glyphs), figures.checkpoint_bars)
        self._show_figure("steps", rows.step_figures(figures), figures.step_bars)
        self._show_figure("cost", rows.cost_figures(figures, self.tt.preferences.prices.currency), figures.token_bars)
        self._show_nodes()
        self._show_sizes()
        room = self.query_one("#room", Panel)
        room.empty = self._nothing("Nothing to free.")
        lines = rows.room_lines(
            figures.room, f"tt-debug gc {shlex.quote(self.store.url)}{self._thread()}", room.text_width
        )
        room.show(lines if figures.ended else lines[:1])
        note = f"{self._about}  {RANGES[self._range][0]}".strip()
        self.show_title(Title((self.store.label, "metrics"), note, self._progress(), read_only=self.tt.read_only))
        self.refresh_keys()

    def _show_figure(self, name: str, line: Line, course: tuple[float, ...]) -> None:
        panel = self.query_one(f"#figure-{name}", Panel)
        width = panel.text_width
        panel.show([cut(line, width, self.tt.glyphs.ellipsis), rows.bar_line(course, width, self.tt.glyphs)])

    def _show_nodes(self) -> None:
        panel, nodes = self.query_one("#nodes", Panel), self._figures.nodes
        found = rows.sorted_nodes(nodes, rows.SORTS[self._sort])
        total = sum(row.total for row in found)
        cursor, width = panel.cursor, panel.text_width
        panel.empty = self._nothing("No step has two times that tell how long it took.")
        lines = [rows.node_line(row, total, width, self.tt.glyphs) for row in found]
        head = [rows.node_heading(width)] if lines else []
        panel.show([*head, *lines], [*(None for _ in head), *found], frozenset(range(len(head))))
        panel.cursor = max(cursor, len(head)) if lines else 0
        panel.border_title = f"1 Nodes  {len(found)}  by {rows.SORTS[self._sort]}"

    def _show_sizes(self) -> None:
        panel, figures = self.query_one("#sizes", Panel), self._figures
        largest = max((row.total for row in figures.keys), default=0)
        cursor = panel.cursor
        panel.empty = self._nothing("No state has any key.")
        lines = [rows.key_line(row, largest, panel.text_width, self.tt.glyphs) for row in figures.keys]
        panel.show(lines, figures.keys)
        panel.cursor = cursor
        panel.border_title = "2 State size by key"
        again = figures.repeated / figures.total if figures.total else 0.0
        unread = f"{counted(figures.unread, 'checkpoint')} unread  " if figures.unread else ""
        size = f"{human_size(figures.total)}, {again:.0%} of it repeated" if figures.total else ""
        panel.border_subtitle = f"{unread}{size}"

    def _nothing(self, words: str) -> str:
        return "stopped" if self._figures.stopped else words if self._figures.ended else "reading…"

    def _progress(self) -> str:
        figures = self._figures
        if figures.stopped:
            return f"stopped at {figures.asked:,}: there is more"
        if not self._is_reading:
            return ""
        of = f" of {figures.of:,}" if figures.of else ""
        return f"{figures.what or 'reading'} {figures.asked:,}{of}, Esc stops"

    # --- what can be done

    def act_range_more(self) -> None:
        """A longer time."""
        self._to_range(self._range + 1)

    def act_range_less(self) -> None:
        """A shorter time."""
        self._to_range(self._range - 1)

    def _to_range(self, number: int) -> None:
        if not 0 <= number < len(RANGES):
            self.say(f"there is none {'longer' if number else 'shorter'} than {RANGES[self._range][0]}")
            return
        self._range = number
        self.act_refresh()

    def act_metrics_order(self) -> None:
        """The next order of the nodes."""
        self._sort = (self._sort + 1) % len(rows.SORTS)
        self._show_nodes()

    @on(RowView.Opened, "#nodes")
    def _slowest(self, event: RowView.Opened) -> None:
        event.stop()
        row = self.query_one("#nodes", Panel).key(event.row)
        if not isinstance(row, NodeRow):
            return
        if not row.slowest:
            self.say(f"no step of {row.node} is known by its checkpoint")
            return
        choices = [
            (str(place), human_duration(seconds), f"{ref.thread}  {ref.id}")
            for place, (seconds, ref) in enumerate(row.slowest, start=1)
        ]
        self.app.push_screen(MenuDialog(f"Slowest steps of {row.node}", choices), partial(self._go, row))

    def _go(self, row: NodeRow, key: str | None) -> None:
        if key is not None:
            ref: Ref = row.slowest[int(key) - 1][1]
            self.tt.show_thread(self.store, ref.thread, ref)

    def copyables(self) -> list[Copyable]:
        """What is under the cursor, and all of it as JSON."""
        record = self._figures.record
        focused = self.focused
        row = focused.key(focused.cursor) if isinstance(focused, Panel) else None
        found = [Copyable("n", "node", lambda: row.node)] if isinstance(row, NodeRow) else []
        if isinstance(row, KeyRow):
            found = [Copyable("p", "path", lambda: format_path((row.key,)))]
        if record is not None:
            found.append(Copyable("j", "all as JSON", lambda: json.dumps(record, ensure_ascii=False, indent=2)))
        return found

    def command_line(self) -> str:
        """The same on the command line."""
        start, age = self._extent.start, RANGES[self._range][1]
        words = f" --from {shlex.quote(f'{start.thread}@{start.id}')}" if start is not None else ""
        words += f" --last {round(age.total_seconds() / 3600)}h" if age is not None else ""
        line = " --line" if self._extent.scope.ref is not None and not self._extent.scope.every_branch else ""
        store = shlex.quote(self.store.url)
        return f"tt-debug stats {store}{self._place()} --size --nodes --cost{line}{words}"

    def _place(self) -> str:
        ref = self._extent.scope.ref
        return f" {shlex.quote(f'{ref.thread}@{ref.id}')}" if ref is not None else ""

    def _thread(self) -> str:
        ref = self._extent.scope.ref
        return f" {shlex.quote(ref.thread)}" if ref is not None else ""
