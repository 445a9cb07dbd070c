"""A thread read and laid out off the event loop: its family, the rows of its graph, its current line.

Owns showing a part of it while the rest is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
MOST: Final = 100_000
"""Headers of a line that are read though nobody looks at them: of a million each second key would wait for the reader,
for a minute, and they take a gigabyte."""
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
    most: int = MOST
    """Headers of the line that may be known then without having been looked at."""
    before: Reading | None = None
    """What was read of it last: what cannot have changed is taken over."""


def read_thread(session: Session, asked: Asked) -> Reading:
    """Open a thread; the head of the shape's trunk, a thread of its family, gives the current line."""

    def on_page(progress: Progress) -> bool:
        def show() -> None:
            view = progress.view()
            asked.part(_opened(view, asked, line_of(view, _trunk(view, asked)), whole=False))

        asked.give_way()
        return asked.watch.goes_on(progress.read, show, asked.count)

    view = session.open_thread(asked.thread, on_page)
    line = _first_line(view, asked)
    if not asked.watch.stopped:
        line = _learned(view, line, asked)
    return _opened(view, asked, line, whole=not (asked.watch.stopped or line.unread))


def _first_line(view: ThreadView, asked: Asked) -> HistoryLine:
    """The current line as far as it is known without reading: what is still as it was is taken from there."""
    trunk, before = _trunk(view, asked), asked.before
    if before is None:
        return line_of(view, trunk)
    view.recall(before.view)
    if not view.continues(before.view):
        return line_of(view, trunk)
    return line_of(view, trunk, before.line, (*view.touched(before.view), *_known(view, before.line)))


def _learned(view: ThreadView, line: HistoryLine, asked: Asked) -> HistoryLine:
    """The line with the headers of which only the addresses are known, read newest first: up to the most there may be,
    but all that have come since. What there is of it is shown as soon as its end is read."""
    known = len(line.refs) - len(line.unread)
    came = len(view.refs) - len(asked.before.view.refs) if asked.before is not None else 0
    unread = line.unread[-max(came + 1, asked.most - known, 1) :][::-1]
    view.headers.learn(unread[:FIRST])
    if len(unread) > FIRST:
        asked.part(_opened(view, asked, _reread(view, line), whole=False))
    for start in range(FIRST, len(unread), TOGETHER):
        asked.give_way()
        if not asked.watch.goes_on(start, _nothing, asked.count):
            break
        view.headers.learn(unread[start : start + TOGETHER])
    return _reread(view, line)


def _reread(view: ThreadView, line: HistoryLine) -> HistoryLine:
    """The line with what is known of it by now."""
    return line_of(view, line.refs[-1], line, _known(view, line))


def _known(view: ThreadView, line: HistoryLine) -> Iterator[Ref]:
    """What was not read of a line then, and is known by now."""
    return filter(view.headers.knows, line.unread)


def _nothing() -> None:
    """More of the headers is no other picture of the graph."""


def _trunk(view: ThreadView, asked: Asked) -> Ref:
    wanted = asked.shape.trunk
    return view.head if wanted == asked.thread else view.newest.get(wanted, view.head)


def _opened(view: ThreadView, asked: Asked, line: HistoryLine, *, whole: bool) -> Reading:
    trunk = _trunk(view, asked)
    return Reading(view, trunk, thread_rows(view, trunk, asked.shape), line, whole)


def shaped(before: Reading, trunk: Ref, shape: Shape) -> Reading:
    """The rows and the current line of a thread that was read, with ``trunk`` at that line's end."""
    items = thread_rows(before.view, trunk, shape)
    line = line_of(before.view, trunk, before.line, _known(before.view, before.line))
    return replace(before, trunk=trunk, items=items, line=line)


def thread_rows(view: ThreadView, trunk: Ref, shape: Shape) -> Items:
    """The rows of a thread with ``trunk`` as its current line."""
    if shape.by_time:
        return TimeItems(view)
    return graph_items(view.rows(shape.unfolded, trunk), shape.listed)
