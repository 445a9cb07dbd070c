"""A thread read and laid out off the event loop: its family, the rows of its graph, its current line.

Owns showing a part of it while the rest is on its way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stores.model import Ref
from tt_debug.session.listing import Progress
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.rows.graph import GraphItem, graph_items, time_items
from tt_debug.tui.rows.line import HistoryLine, line_of
from tt_debug.tui.watch import Watch


@dataclass(frozen=True, slots=True)
class Reading:
    """A thread as it was read: ``line`` leads to ``trunk``, which keeps the graph's first lane.

    ``whole`` is False while there is more to read, or where that was stopped."""

    view: ThreadView
    trunk: Ref
    items: list[GraphItem]
    line: HistoryLine
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """How the rows of a thread are made: the current line's thread, what is unfolded, and the order."""

    trunk: str
    unfolded: frozenset[Ref] = frozenset()
    listed: frozenset[tuple[Ref, int]] = frozenset()
    by_time: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be read, and who watches: ``part`` is given what there is of it so far, ``count`` how much that is;
    ``give_way`` is called between two pages."""

    thread: str
    shape: Shape
    watch: Watch
    part: Callable[[Reading], None]
    count: Callable[[int], None]
    give_way: Callable[[], None]


def read_thread(session: Session, asked: Asked) -> Reading:
    """Open a thread; the head of the shape's trunk, a thread of its family, gives the current line."""

    def on_page(progress: Progress) -> bool:
        def show() -> None:
            asked.part(_opened(progress.view(), asked, whole=False))

        asked.give_way()
        return asked.watch.goes_on(progress.read, show, asked.count)

    view = session.open_thread(asked.thread, on_page)
    return _opened(view, asked, whole=not asked.watch.stopped)


def _opened(view: ThreadView, asked: Asked, *, whole: bool) -> Reading:
    head, shape = view.head, asked.shape
    if shape.trunk != asked.thread:
        own = [ref for ref in view.headers if ref.thread == shape.trunk and not ref.ns]
        head = own[-1] if own else head
    return replace(shaped(view, head, shape), whole=whole)


def shaped(view: ThreadView, trunk: Ref, shape: Shape) -> Reading:
    """The rows and the current line of a thread, with ``trunk`` at that line's end."""
    return Reading(view, trunk, thread_rows(view, trunk, shape), line_of(view, trunk))


def thread_rows(view: ThreadView, trunk: Ref, shape: Shape) -> list[GraphItem]:
    """The rows of a thread with ``trunk`` as its current line."""
    if shape.by_time:
        return time_items(view.headers)
    return graph_items(view.rows(shape.unfolded, trunk), view.headers, trunk.thread, shape.listed)
