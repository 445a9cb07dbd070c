"""A thread read and laid out off the event loop: its family, the rows of its graph, its current line.

Owns showing a part of it while the rest is on its way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from stores.model import Ref
from tt_debug.session.listing import Progress
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.rows.graph_items import Items, TimeItems, graph_items
from tt_debug.tui.rows.line import HistoryLine, line_of
from tt_debug.tui.watch import Watch

FIRST: Final = 200
"""Headers at the end of a line that are read before anything is shown."""
TOGETHER: Final = 500
"""Those that are read at once afterwards: a tenth of a second without giving way is felt."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A thread as it was read: ``line`` leads to ``trunk``, which keeps the graph's first lane.

    ``whole`` is False while there is more to read, or where that was stopped."""

    view: ThreadView
    trunk: Ref
    items: Items
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
    before: ThreadView | None = None
    """What was read of it last."""


def read_thread(session: Session, asked: Asked) -> Reading:
    """Open a thread; the head of the shape's trunk, a thread of its family, gives the current line."""

    def on_page(progress: Progress) -> bool:
        def show() -> None:
            asked.part(_opened(progress.view(), asked, whole=False))

        asked.give_way()
        return asked.watch.goes_on(progress.read, show, asked.count)

    view = session.open_thread(asked.thread, on_page)
    if asked.before is not None:
        view.recall(asked.before)
    if not asked.watch.stopped:
        _learn(view, asked)
    return _opened(view, asked, whole=not asked.watch.stopped)


def _learn(view: ThreadView, asked: Asked) -> None:
    """Read the headers of the current line where only their addresses are known, newest first. What there is of it is
    shown as soon as the end of the line is read."""
    line = view.line(_trunk(view, asked))
    unread = [ref for ref in reversed(line) if not view.headers.knows(ref)]
    view.headers.learn(unread[:FIRST])
    if len(unread) > FIRST:
        asked.part(_opened(view, asked, whole=False))
    for start in range(FIRST, len(unread), TOGETHER):
        asked.give_way()
        if not asked.watch.goes_on(start, _nothing, asked.count):
            return
        view.headers.learn(unread[start : start + TOGETHER])


def _nothing() -> None:
    """More of the headers is no other picture of the graph."""


def _trunk(view: ThreadView, asked: Asked) -> Ref:
    wanted = asked.shape.trunk
    return view.head if wanted == asked.thread else view.newest.get(wanted, view.head)


def _opened(view: ThreadView, asked: Asked, *, whole: bool) -> Reading:
    return replace(shaped(view, _trunk(view, asked), asked.shape), whole=whole)


def shaped(view: ThreadView, trunk: Ref, shape: Shape) -> Reading:
    """The rows and the current line of a thread, with ``trunk`` at that line's end."""
    return Reading(view, trunk, thread_rows(view, trunk, shape), line_of(view, trunk))


def thread_rows(view: ThreadView, trunk: Ref, shape: Shape) -> Items:
    """The rows of a thread with ``trunk`` as its current line."""
    if shape.by_time:
        return TimeItems(view)
    return graph_items(view.rows(shape.unfolded, trunk), shape.listed)
