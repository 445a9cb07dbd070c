"""The tabs that tell how the checkpoint under the cursor came about: its log, and its effects.

Owns when that is read: only while one of the two is looked at.
"""

from __future__ import annotations

from functools import partial

from textual import on
from textual.message import Message

from stores.model import Ref
from tt_debug.session.executor import Chapter, Duplicate
from tt_debug.tui.rows.story import duplicate_rows, effect_rows, effect_text, hidden_story, log_rows
from tt_debug.tui.screens.pager import PagerScreen
from tt_debug.tui.screens.thread_parts import DetailsRead
from tt_debug.tui.screens.thread_turns import ThreadTurns
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.story_view import StoryView

STORY_TABS = frozenset({"effects", "log"})


class StoryRead(Message):
    """How ``ref`` came about."""

    def __init__(self, ref: Ref, found: tuple[tuple[Chapter, ...], tuple[Duplicate, ...]]) -> None:
        """``found``: the story, and what the thread may have done twice."""
        super().__init__()
        self.ref = ref
        self.story, self.duplicates = found


class ThreadStory(ThreadTurns):
    """8 and 9."""

    _told: Ref | None = None

    def show_tab(self, name: str) -> None:
        """Read what the tab tells when it comes on top."""
        super().show_tab(name)
        if name in STORY_TABS:
            self._read_story()

    @on(DetailsRead)
    def _details_shown(self) -> None:
        self._told = None  # a run may have added to the same checkpoint
        if self.tab in STORY_TABS:
            self._read_story()

    def _read_story(self) -> None:
        ref, view = self.selected, self.view
        if ref is None or view is None or ref not in view.headers or ref == self._told:
            return
        executor, thread = self.session.executor, self.thread
        self.tt.loader.call(
            self,
            "story",
            lambda: (executor.story([view.headers[each] for each in view.line(ref)]), executor.duplicates(thread)),
            partial(StoryRead, ref),
        )

    @on(StoryRead)
    def _story_read(self, event: StoryRead) -> None:
        if event.ref != self.selected:
            return
        self._told = event.ref
        story = hidden_story(event.story, self.tt.redaction)
        self.views.log.show(log_rows(story, self.tt.glyphs))
        self.views.effects.show([*duplicate_rows(event.duplicates), *effect_rows(story, self.tt.glyphs)])

    @on(RowView.Opened, "#effects")
    @on(RowView.Opened, "#log")
    def _told_opened(self, event: RowView.Opened) -> None:
        """All of an effect; or to the checkpoint that the row tells of."""
        event.stop()
        row = event.view.current() if isinstance(event.view, StoryView) else None
        if row is not None and row.use is not None:
            effect = row.use.effect
            self.app.push_screen(PagerScreen(effect_text(row.use), (self.thread, effect.slot.node, effect.slot.name)))
        elif row is not None and row.ref is not None:
            self.select_ref(row.ref)
