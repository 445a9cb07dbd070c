"""A state as the rows of a tree: what is open, and each row as styled pieces, made when it is looked at.

Owns folding and row text. A closed container costs one row, whatever is in it; lists open in chunks of 100.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from stores.model import MISSING, Diff, Partial, Path, Tagged, Value
from tt_debug.conversation import as_message, plain
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.pieces import Line, Piece, cells, cut, spread
from tt_debug.tui.rows.values import class_name, count_text, is_container, key_text, value_line

CHUNK: Final = 100
"""Items of a list or keys of a dict shown under one row."""
GUIDES: Final = 24
"""Deeper than this the indentation stops growing, so that something of the value is left to see."""

_NO_NOTES: Final[Mapping[str, str]] = {}

NodeKey: TypeAlias = tuple[Path, int]
"""A row's identity over states: its path, and the first index of a chunk or -1."""


@dataclass(frozen=True, slots=True)
class Node:
    """One row of the tree. ``opened`` is None for a leaf. ``start`` is a chunk's first index, else -1."""

    path: Path
    label: str
    value: Value
    depth: int
    opened: bool | None
    start: int = -1

    @property
    def key(self) -> NodeKey:
        """Its identity over states."""
        return (self.path, self.start)


class Closed(dict[NodeKey, bool]):
    """What the user opened and closed in a state of which nothing opens by itself."""


def state_nodes(state: Mapping[str, Value], folds: Mapping[NodeKey, bool]) -> list[Node]:
    """The rows of a state, top to bottom; ``folds`` says which rows the user opened (True) or closed (False)."""
    nodes: list[Node] = []
    pending: list[Iterator[Node]] = [_children(state, (), 0, folds)]
    while pending:
        node = next(pending[-1], None)
        if node is None:
            pending.pop()
            continue
        nodes.append(node)
        if node.opened and is_container(node.value):
            pending.append(_inside(node, folds))
    return nodes


def _inside(node: Node, folds: Mapping[NodeKey, bool]) -> Iterator[Node]:
    if node.start < 0:
        return _children(node.value, node.path, node.depth + 1, folds)
    return _span(node.value, node.path, node.depth + 1, range(node.start, node.start + CHUNK), folds)


def _children(value: Value, path: Path, depth: int, folds: Mapping[NodeKey, bool]) -> Iterator[Node]:
    inner = plain(value)
    if isinstance(inner, Partial):
        parts = {"start value": inner.seed, "writes": list(inner.writes)}
        for name, part in parts.items():
            if part is not MISSING:
                yield _node(part, (*path, name), name, depth, folds)
    elif len(inner) <= CHUNK:
        yield from _span(inner, path, depth, range(CHUNK), folds)
    else:
        for start in range(0, len(inner), CHUNK):
            last = min(start + CHUNK, len(inner)) - 1
            newest = last == len(inner) - 1 and isinstance(inner, list) and as_message(inner[last]) is not None
            newest = newest and not isinstance(folds, Closed)
            opened = folds.get((path, start), newest)
            yield Node(path, f"{start}…{last}", inner, depth, opened, start)


def _span(inner: Value, path: Path, depth: int, span: range, folds: Mapping[NodeKey, bool]) -> Iterator[Node]:
    """The items of a list or dict at the positions of ``span``."""
    if isinstance(inner, Mapping):
        for key, item in islice(inner.items(), span.start, span.stop):
            yield _node(item, (*path, key), key_text(key, limit=60), depth, folds)
    else:
        for index in range(span.start, min(span.stop, len(inner))):
            yield _node(inner[index], (*path, index), f"[{index}]", depth, folds)


def _node(value: Value, path: Path, label: str, depth: int, folds: Mapping[NodeKey, bool]) -> Node:
    if not is_container(value):
        return Node(path, label, value, depth, None)
    by_itself = depth == 0 and not isinstance(folds, Closed) and _opens_itself(value)
    return Node(path, label, value, depth, folds.get((path, -1), by_itself))


def _opens_itself(value: Value) -> bool:
    """Lists of messages and small flat dicts are what people look for first."""
    if isinstance(value, Tagged):
        return False
    if isinstance(value, list):
        return as_message(value[-1]) is not None
    return isinstance(value, Mapping) and len(value) <= 8 and not any(is_container(item) for item in value.values())


def chunk_of(state: Mapping[str, Value], path: Path) -> int:
    """The first position of the chunk that the last step of ``path`` lies in; -1 where there is no such place."""
    inner: Value = state
    for step in path[:-1]:
        inner = plain(inner)
        try:
            inner = inner[step]
        except (KeyError, IndexError, TypeError):
            return -1
    inner, last = plain(inner), path[-1]
    if isinstance(inner, Mapping):
        at = next((number for number, key in enumerate(inner) if key == last), -1)
    else:
        at = last if isinstance(last, int) else -1
    return at // CHUNK * CHUNK if at >= 0 else -1


def marks_of(diff: Diff) -> dict[Path, str]:
    """A sign for each path a diff touches: ``+ ~`` at the place, ``~`` on what holds it."""
    marks: dict[Path, str] = {}
    for change in diff:
        if change.op == "add":
            marks[change.path] = "+"
        elif change.op != "remove":
            marks[change.path] = "~"
        for depth in range(1, len(change.path)):
            marks.setdefault(change.path[:depth], "~")
    return marks


def mark_piece(node: Node, marks: Mapping[Path, str]) -> Piece:
    """The sign of a row, from its own path."""
    sign = marks.get(node.path, " ") if node.start < 0 else " "
    return Piece(sign, {"+": "added", "~": "changed"}.get(sign, "plain"))


def state_line(
    node: Node, width: int, marks: Mapping[Path, str], glyphs: Glyphs = UNICODE, notes: Mapping[str, str] = _NO_NOTES
) -> Line:
    """A row of the tree in at most ``width`` cells; ``notes`` are said of the state's own keys, at the right."""
    fold = " " if node.opened is None else glyphs.opened if node.opened else glyphs.folded
    lead = [mark_piece(node, marks)]
    if node.depth:
        lead.append(Piece(f"{glyphs.line} " * min(node.depth, GUIDES), "muted"))
    lead += [Piece(f"{fold} ", "muted"), Piece(node.label, "key" if node.start < 0 else "muted"), Piece("  ")]
    if node.start >= 0:
        return cut(lead, width, glyphs.ellipsis)
    value = _value(node, glyphs)
    note = notes.get(str(node.path[0]), "") if node.depth == 0 else ""
    # A partly known value that is closed says on its line how many writes it has.
    told = node.opened is None or (not node.opened and isinstance(plain(node.value), Partial))
    counted = "" if told else count_text(node.value)
    right = (Piece("  ".join(filter(None, (note, counted))), "muted"),) if note or counted else ()
    return spread(_aligned(lead, node) + value, right, width, glyphs.ellipsis)


def _value(node: Node, glyphs: Glyphs) -> Line:
    if node.opened and as_message(node.value) is None:
        return (Piece(class_name(node.value), "secondary"),) if isinstance(node.value, Tagged) else ()
    return value_line(node.value, glyphs)


def _aligned(lead: list[Piece], node: Node) -> Line:
    """Positions of messages in one width up to [99], so that their roles stand below each other."""
    if node.path and isinstance(node.path[-1], int) and as_message(node.value) is not None:
        return (*lead, Piece(" " * max(0, 6 - cells(lead[-2:]))))
    return tuple(lead)
