"""The panels of the Thread screen: which one is on top, their titles, and what they show.

Owns tabs, titles and dimming. In a narrow terminal the diff is a tab like the others; in a wider one it always stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events, on
from textual.content import Content

from stores.model import Header, Ref
from tt_debug.session.thread_view import call_name
from tt_debug.text import counted, human_size, safe_text
from tt_debug.tui.rows.diff import counts_text
from tt_debug.tui.rows.times import delta_text
from tt_debug.tui.screens.base import NARROW
from tt_debug.tui.screens.thread_details import Details
from tt_debug.tui.screens.thread_following import ThreadFollowing
from tt_debug.tui.screens.thread_parts import side_width
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.timeline import Timeline
from tt_debug.tui.widgets.title_bar import Title

TABS: Final = (
    ("state", "2 State"),
    ("diff", "3 Diff"),
    ("messages", "4 Messages"),
    ("writes", "5 Writes"),
    ("meta", "6 Meta"),
    ("live", "7 Live"),
    ("effects", "8 Effects"),
    ("log", "9 Log"),
    ("watches", "w Watch"),
)

COMPARED: Final = 28
"""Cells that the two sides of a comparison take beside the tabs."""


class ThreadPanels(ThreadFollowing):
    """Graph, tabs, title and timeline."""

    tab = "diff"
    running_text = ""
    pending = ""
    """Which checkpoint is being read while the panels show another one."""

    def on_mount(self) -> None:
        """The graph has the focus; the first tab is on top."""
        self.graph.focus()
        self.show_tab(self.tab)
        self.show_counts()
        self.show_place()
        self.read()

    def on_screen_resume(self) -> None:
        """Other screens may have answered a question."""
        if self.view is not None:
            self.read()

    @property
    def narrow(self) -> bool:
        """Whether there is room for one panel beside the graph only."""
        return self.size.width < NARROW

    def on_resize(self, event: events.Resize) -> None:
        """Other panels may have room now."""
        self.show_tab(self.tab)

    # --- tabs

    def action_pane(self, number: int) -> None:
        """1 is the graph, the others are tabs."""
        if number == 1:
            self.set_focus(self.graph)
        elif 1 < number <= len(TABS) + 1:
            self.action_tab(TABS[number - 2][0])

    def action_tab(self, name: str) -> None:
        """Show a tab and give it the focus."""
        self.show_tab(name)
        self.set_focus(self.views.named(name))

    def act_pane_next_tab(self) -> None:
        """The tab to the right."""
        self._turn(1)

    def act_pane_prev_tab(self) -> None:
        """The tab to the left."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        names = [name for name, _ in TABS if self._has_tab(name) or name == "live"]
        at = names.index(self.tab) if self.tab in names else 0
        in_tab = self.focused is not None and self.focused.id == self.tab
        self.show_tab(names[(at + by) % len(names)])
        if in_tab:
            self.set_focus(self.views.named(self.tab))

    def show_tab(self, name: str) -> None:
        """Put a tab on top; the focus stays where it is unless its panel goes."""
        if self.narrow or name != "diff":
            self.tab = name
        shown = self._on_top()
        focused = self.focused.id if self.focused is not None else None
        for view in self.views:
            view.display = view.id in shown
        if focused in {each for each, _ in TABS} and focused not in shown:
            self.set_focus(self.views.named(self.tab))
        self.show_titles()

    def _on_top(self) -> set[str]:
        """The tabs that can be seen."""
        if self.narrow:
            return {self.tab}
        return {self.tab if self.tab != "diff" else "state", "diff"}

    def act_diff_open(self) -> None:
        """Show the diff."""
        self.action_tab("diff")

    def panel(self) -> RowView:
        """The list that has the focus, else the graph."""
        return self.focused if isinstance(self.focused, RowView) else self.graph

    # --- titles

    def show_titles(self) -> None:
        """The tabs in the border of what is on top, and what is compared."""
        for name in self._on_top():
            view = self.views.named(name)
            if name == "diff" and not self.narrow:
                view.border_title = Content("3 Diff") + self._compared(30)
                view.border_subtitle = Content(self._counts())
            else:
                extra = self._compared(12) if name == "diff" else Content("")
                view.border_title = self._tabs(name) + extra
                view.border_subtitle = Content(self._subtitle())

    def _tabs(self, active: str) -> Content:
        shown = Content("")
        there = [(name, title) for name, title in TABS if self._has_tab(name)]
        texts = self._fitting(there, active)
        for name, text in texts.items():
            link = Content.from_markup(f"[@click=screen.tab('{name}')]{text}[/]")
            shown = (
                shown
                + Content("  " if shown.plain else "")
                + (link.stylize("bold underline") if name == active else link)
            )
        return shown

    def _fitting(self, there: Sequence[tuple[str, str]], active: str) -> dict[str, str]:
        """The tabs' titles, from the right only their numbers where they would not fit."""
        texts = dict(there)
        # Not the panel's own width: a screen below a dialog is not laid out when the terminal changes.
        room = side_width(self.size.width) - 4
        room -= COMPARED if active == "diff" else 0
        for name, title in reversed(there):
            if name != active and sum(len(text) + 2 for text in texts.values()) - 2 > room:
                texts[name] = title[:1]
        return texts

    def _has_tab(self, name: str) -> bool:
        if name == "diff":
            return self.narrow
        if name == "effects":
            return self.session.executor.has_runs
        return name != "live" or self._has_run()

    def _has_run(self) -> bool:
        return self.views.live.row_count > 0 or bool(self.running_text)

    def _compared(self, most: int) -> Content:
        if self.pending and self.narrow:
            return Content(f"   {self.pending}")
        if self.details is None or self.details.base is None:
            return Content("")
        sides = [self._side(self.details.base, most), self._side(self.details.ref, most)]
        if self.swapped:
            sides.reverse()
        arrow = self.tt.glyphs.arrow
        name = "A " if self.pin is not None else ""
        counts = f"  {self._counts()}".rstrip() if self.narrow else ""
        return Content(f"   {name}{sides[0]} {arrow} {sides[1]}{counts}")

    def _side(self, ref: Ref, most: int) -> str:
        shown = self.view.standing(ref) if self.view is not None else None
        if self.view is None or shown is None:
            return ref.id[:8]
        header = self.view.seen[shown]
        step = "?" if header.step is None else str(header.step)
        node = ", ".join(header.nodes) or header.source
        return step if most < 20 else safe_text(f"{step} {node}"[:most])

    def _counts(self) -> str:
        compared = self.details.compared if self.details is not None else None
        return counts_text(compared.diff) if compared is not None and compared.known else ""

    def _subtitle(self) -> str:
        if self.pending and not self.narrow:
            return self.pending
        header = self.details.checkpoint.header if self.details is not None else None
        if header is None or self.narrow:
            return ""
        size = f" {self.tt.glyphs.dot} {human_size(header.size)}" if header.size is not None else ""
        return f"{self._where(header)}{size}"

    def _where(self, header: Header) -> str:
        node = ", ".join(header.nodes) or header.source
        return safe_text(f"step {header.step} {self.tt.glyphs.dot} {node}" if header.step is not None else node)

    # --- what the base asks for

    def show_counts(self) -> None:
        """Checkpoints and forks, in the graph's border."""
        graph, words = self.graph, self._counted()
        graph.border_title = f"1 Graph   {words}" if self.narrow else "1 Graph"
        graph.border_subtitle = "" if self.narrow else words

    def _counted(self) -> str:
        """How much there is, or how far its reading has come; from the listing before anything was read."""
        dot, listed = self.tt.glyphs.dot, self.tt.listed(self.store, self.thread)
        total = (listed.checkpoints or 0) if listed is not None else 0
        if self.read_so_far:
            return f"reading {self.read_so_far:,}{_of(total, self.read_so_far)} {dot} Esc stops"
        if self.view is None:
            return counted(total, "checkpoint") if total else ""
        headers = self.view.refs
        if not self.whole and self.reading is None:
            line, key = self._trunk_line, self.tt.key_of("refresh")
            read = len(line.refs) - len(line.unread) if line.unread else len(headers)
            return f"read {read:,}{_of(max(total, len(headers)), read)} {dot} {key} reads on"
        forks = len(self.view.newest) - 1
        folded = self.graph.items.folds
        words = counted(len(headers), "checkpoint")
        if forks:
            words += f" {dot} {counted(forks, 'fork')}"
        return f"{words} ({folded} folded)" if folded and not self.narrow else words

    def show_place(self) -> None:
        """Where the cursor is on its line: title and timeline."""
        header = self.header()
        at = self.places.get(self.selected, 0) if self.selected is not None else 0
        count = len(self.line)
        crumbs = [self.store.label, self.thread]
        fork = self.line[-1].thread if self.line else self.thread
        if fork != self.thread:
            crumbs.append(fork)
        if self.selected is not None and self.selected.ns:
            crumbs.append(f"{self.tt.glyphs.subgraph} {call_name(self.selected.ns)}")
        step, note = "", ""
        self.trouble.show([header.problem] if header is not None and header.problem else [])
        if header is not None:
            last = self.view.seen[self.line[-1]].step if self.view is not None and self.line else None
            step = f"step {header.step}/{last}" if header.step is not None else f"{at + 1}/{count}"
            if header.created is not None and not self.narrow:
                note = f"{header.created.astimezone():%Y-%m-%d %H:%M:%S}"
        waiting = sum(info.status == "waiting" for listing in self.tt.listings for info in listing.threads)
        title = Title(tuple(crumbs), note, step, self.running_text, waiting, read_only=self.tt.read_only)
        self.show_title(title)
        seconds = self.moments[at].seconds if at < len(self.moments) else None
        took = f" {delta_text(seconds)}" if seconds is not None else ""
        self.timeline.show(self.moments, at, f"{at + 1}/{count}{took}" if count else "")

    @on(Timeline.Moved)
    def _timeline_moved(self, event: Timeline.Moved) -> None:
        event.stop()
        if event.index < len(self.line):
            self.select_ref(self.line[event.index])

    def mark_stale(self, stale: bool) -> None:
        """Dim the panels while another checkpoint is being read."""
        stale = stale or self.offline
        for view in self.views:
            view.set_stale(stale and view is not self.views.live)

    def show_pending(self, *, slow: bool = False) -> None:
        """Say in the titles which checkpoint is being read, with a sign when that takes long; or no longer."""
        header = self.header()
        known = self.details is not None and self.details.ref == self.selected
        glyphs, before = self.tt.glyphs, self.pending
        self.pending = ""
        if header is not None and not known:
            sign = f"{glyphs.running} " if slow else ""
            self.pending = f"{sign}step {'?' if header.step is None else header.step}{glyphs.ellipsis}"
        if self.pending != before:
            self.show_titles()

    def show_unreachable(self) -> None:
        """The panels keep what they have, and their titles name what could not be read."""
        self.mark_stale(True)
        header = self.header()
        if self.details is None or self.details.ref != self.selected:
            self.pending = "not read" if header is None else f"step {header.step} could not be read"
        self.show_titles()

    def outages_changed(self) -> None:
        """The panels are drawn dim while the store is out of reach."""
        super().outages_changed()
        self.mark_stale(self.behind)

    def show_details(self, details: Details) -> None:
        """Fill every panel."""
        self.mark_stale(False)
        self.pending = ""
        compared = details.compared
        self.failures = {"diff": compared.empty} if compared.failed else {}
        for view in self.views:
            view.in_trouble = view is self.views.diff and compared.failed
        children = len(self.view.children(details.ref)) if self.view is not None else 0
        self.views.state.show(details.checkpoint.state, details.nodes, details.notes, huge=details.huge)
        self.views.state.mark(compared.marks)
        empty = safe_text(compared.empty)
        self.views.diff.show_rows(list(compared.rows), self._with_report(empty) if compared.failed else empty)
        self.views.messages.show(details.turns, details.transcript, details.width)
        self.views.writes.show(details.checkpoint, details.parent, details.steps)
        self.views.meta.show_checkpoint(details.checkpoint, children, details.completed)
        self.show_titles()

    def _with_report(self, text: str) -> str:
        return f"{text}  {self.tt.glyphs.dot} {self.tt.key_of('copy')} copies a report"

    def show_problem(self, kind: str, text: str) -> None:
        """A checkpoint that cannot be read says so in its panels; the graph lives on."""
        shown = safe_text(text)
        if kind == "thread":
            self.graph.in_trouble = True
            self.graph.show_problem(shown)
            if self.view is not None:
                self.say(text, severity="error")
                return
        self.details = None
        self.pending = ""
        self.mark_stale(False)
        views = (self.views.state, self.views.diff, self.views.messages, self.views.writes, self.views.meta)
        self.failures = {str(view.id): text for view in (self.graph, *views)}
        for view in views:
            view.in_trouble = True
            view.show_problem(self._with_report(shown))
        self.show_titles()


def _of(total: int, read: int) -> str:
    """Of how many, where that is known and the forks have not made it more."""
    return f" of {total:,}" if total >= read else ""
