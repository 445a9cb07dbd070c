"""A thread read and laid out off the event loop: its family, the rows of its graph, its current line."""

from __future__ import annotations

from dataclasses import dataclass

from stores.model import Ref
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.rows.graph import GraphItem, graph_items, time_items
from tt_debug.tui.rows.line import HistoryLine, line_of


@dataclass(frozen=True, slots=True)
class Reading:
    """A thread as it was read: ``line`` leads to ``trunk``, which keeps the graph's first lane."""

    view: ThreadView
    trunk: Ref
    items: list[GraphItem]
    line: HistoryLine


@dataclass(frozen=True, slots=True)
class Shape:
    """How the rows of a thread are made: the current line's thread, what is unfolded, and the order."""

    trunk: str
    unfolded: frozenset[Ref] = frozenset()
    listed: frozenset[tuple[Ref, int]] = frozenset()
    by_time: bool = False


def read_thread(session: Session, thread: str, shape: Shape) -> Reading:
    """Open a thread; the head of the shape's trunk, a thread of its family, gives the current line."""
    view = session.open_thread(thread)
    head = view.head
    if shape.trunk != thread:
        own = [ref for ref in view.headers if ref.thread == shape.trunk and not ref.ns]
        head = own[-1] if own else head
    return shaped(view, head, shape)


def shaped(view: ThreadView, trunk: Ref, shape: Shape) -> Reading:
    """The rows and the current line of a thread, with ``trunk`` at that line's end."""
    return Reading(view, trunk, thread_rows(view, trunk, shape), line_of(view, trunk))


def thread_rows(view: ThreadView, trunk: Ref, shape: Shape) -> list[GraphItem]:
    """The rows of a thread with ``trunk`` as its current line."""
    if shape.by_time:
        return time_items(view.headers)
    return graph_items(view.rows(shape.unfolded, trunk), view.headers, trunk.thread, shape.listed)
