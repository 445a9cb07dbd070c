"""What the Thread screen is made of and told: its panels beside the graph, and the answers to what it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from textual.message import Message

from stores.model import Ref
from tt_debug.tui.rows.graph_items import GraphItem
from tt_debug.tui.screens.base import NARROW, ULTRA
from tt_debug.tui.screens.thread_details import Details, RowFacts
from tt_debug.tui.screens.thread_reading import Reading
from tt_debug.tui.watch import Watch
from tt_debug.tui.widgets.diff_view import DiffView
from tt_debug.tui.widgets.live_view import LiveView
from tt_debug.tui.widgets.messages_view import MessagesView
from tt_debug.tui.widgets.meta_view import MetaView
from tt_debug.tui.widgets.piece_view import PieceView
from tt_debug.tui.widgets.state_view import StateView
from tt_debug.tui.widgets.story_view import StoryView
from tt_debug.tui.widgets.watches_view import WatchesView
from tt_debug.tui.widgets.writes_view import WritesView


def side_width(width: int) -> int:
    """Cells of a panel beside or below the graph, by the shares of the style sheet."""
    if width < NARROW:
        return width
    return round(width * 0.55) if width < ULTRA else round(width * 0.67 / 2)


class ThreadRead(Message):
    """The thread and its rows; the cursor is to go to ``select``, or to the line's head if it is still at ``left``."""

    def __init__(self, reading: Reading, select: Ref | None = None, left: Ref | None = None) -> None:
        super().__init__()
        self.reading = reading
        self.select = select
        self.left = left


class LaidOut(Message):
    """The rows of the thread as it is, made anew; the cursor is to go to ``select``."""

    def __init__(self, reading: Reading, select: Ref | None = None) -> None:
        super().__init__()
        self.reading = reading
        self.select = select


class PartRead(Message):
    """A part of the thread, or only how many checkpoints ``watch`` has seen."""

    def __init__(self, watch: Watch, read: int, reading: Reading | None = None) -> None:
        super().__init__()
        self.watch = watch
        self.read = read
        self.reading = reading


class PlaceFound(Message):
    """Where a place leads that was typed as ``text``."""

    def __init__(self, text: str, ref: Ref | None) -> None:
        super().__init__()
        self.text = text
        self.ref = ref


class HitFound(Message):
    """The row of the graph that a text was found in, from ``here`` on, by the search that is to go these ``ways``."""

    def __init__(self, ways: list[int], here: bool, item: GraphItem | None) -> None:
        super().__init__()
        self.ways = ways
        self.here = here
        self.item = item


class DetailsRead(Message):
    """What the panels show of one checkpoint."""

    def __init__(self, details: Details) -> None:
        super().__init__()
        self.details = details


class HeadersRead(Message):
    """The headers of rows in view are known."""


class FactsRead(Message):
    """Changed keys and notes of rows in view."""

    def __init__(self, facts: RowFacts) -> None:
        super().__init__()
        self.facts = facts


class TabViews:
    """The panels beside the graph."""

    def __init__(self) -> None:
        self.state = StateView(id="state")
        self.messages = MessagesView(id="messages")
        self.writes = WritesView(id="writes")
        self.meta = MetaView(id="meta")
        self.live = LiveView(id="live")
        self.effects = StoryView("no effect is on record on this line", id="effects")
        self.log = StoryView("nothing is known of how this came about", id="log")
        self.diff = DiffView(id="diff")
        self.watches = WatchesView(id="watches")

    def __iter__(self) -> Iterator[PieceView]:
        """In the order they stand in, with room for two the diff below or right of the other."""
        told = (self.live, self.effects, self.log)
        return iter((self.state, self.messages, self.writes, self.meta, *told, self.diff, self.watches))

    def named(self, name: str) -> PieceView:
        """The panel of that id."""
        return next(view for view in self if view.id == name)
