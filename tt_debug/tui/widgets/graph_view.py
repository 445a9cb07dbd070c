"""The checkpoint graph: a list of `GraphItem`s with a cursor that is kept by address, not by row.

Owns drawing, the gutter and searching its rows; which rows there are is told by the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from rich.segment import Segment

from stores.model import Header, Ref
from tt_debug.tui.rows.graph import GraphFacts, graph_line
from tt_debug.tui.rows.graph_columns import Columns, columns_for
from tt_debug.tui.rows.graph_items import NOTHING, GraphItem, Items
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.widgets.piece_view import PieceView

GUTTER = 3


class GraphView(PieceView):
    """One row for each checkpoint, folded fork and step not yet run."""

    DEFAULT_CSS = """
    GraphView { height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.items: Items = NOTHING
        self.facts = GraphFacts({})
        self.pin: Ref | None = None
        self._problem = ""
        self._columns: tuple[int, Columns] | None = None

    def empty_text(self) -> str:
        """Before the first rows, or why there are none."""
        return self._problem or "reading…"

    def show_problem(self, text: str) -> None:
        """The thread cannot be read, and why; rows that are there stay."""
        self._problem = text
        self.refresh()

    def show(self, items: Items, facts: GraphFacts, cursor: int | None = None) -> None:
        """Show these rows; the cursor stays on its checkpoint when no row is given."""
        here = self.item()
        self.items, self.facts = items, facts
        self._columns = None
        if cursor is None and here is not None:
            cursor = self.same_row(here)
        self.set_rows(len(items), cursor=cursor)

    def same_row(self, here: GraphItem) -> int | None:
        """Where a row stands that was shown before; None when its checkpoint is folded away."""
        at = self.row_of(here.ref)
        if at is None or self.items[at].kind == here.kind:
            return at
        for row in range(at, min(at + 64, len(self.items))):
            if self.items[row].ref == here.ref and self.items[row].kind == here.kind:
                return row
        return at

    def show_facts(self, facts: GraphFacts, about: Collection[Ref] | None = None) -> None:
        """More is known about the same rows, or only about those of some checkpoints."""
        if bool(facts.watched) != bool(self.facts.watched):
            self._columns = None
        self.facts = facts
        if about is None:
            self.refresh()
            return
        top = self.scroll_offset.y
        for row, item in enumerate(self.items[top : top + self.size.height], top):
            if item.ref in about:
                self.refresh_row(row)

    def pin_at(self, ref: Ref | None) -> None:
        """Mark this checkpoint with A."""
        self.pin = ref
        self.refresh()

    def item(self, row: int | None = None) -> GraphItem | None:
        """The row under the cursor, or ``row``."""
        at = self.cursor if row is None else row
        return self.items[at] if 0 <= at < len(self.items) else None

    def header(self, row: int | None = None) -> Header | None:
        """The header of that row's checkpoint."""
        item = self.item(row)
        return self.facts.headers.get(item.ref) if item is not None else None

    def row_of(self, ref: Ref) -> int | None:
        """Where a checkpoint stands, None when it is folded away."""
        return self.items.row_of(ref)

    @property
    def marks_cursor(self) -> bool:
        """Always: it tells which checkpoint the other panels show."""
        return True

    def scroll_to_row(self, row: int) -> None:
        """Bring a checkpoint into view together with what would run, or runs, after it."""
        after, here = self.item(row + 1), self.item(row)
        if after is not None and here is not None and after.kind == "next" and after.ref == here.ref:
            super().scroll_to_row(row + 1)
        super().scroll_to_row(row)

    def search(self, text: str) -> list[int]:
        """Rows whose node, step, id, title, bookmark or changed keys contain ``text``, whatever the case."""
        return list(_hits(self.items, self.facts, text, range(len(self.items))))

    def search_ahead(self, text: str, direction: int, *, here: bool = False) -> Callable[[], GraphItem | None]:
        """What finds, on any thread, the row ahead of the cursor that `search` would find, around the ends if it must;
        from ``here`` on. It goes over the rows there are now."""
        ahead = range(self.cursor, len(self.items)) if direction > 0 else range(self.cursor, -1, -1)
        behind = range(self.cursor + 1) if direction > 0 else range(len(self.items) - 1, self.cursor - 1, -1)
        return partial(_first_hit, self.items, self.facts, text, (ahead[0 if here else 1 :], behind))

    def build(self, row: int, width: int) -> Sequence[Segment]:
        """Gutter, lanes, columns."""
        item = self.items[row]
        gutter = (Piece(" "), self._sign(item), Piece(" "))
        return self.segments((*gutter, *graph_line(item, self._columns_for(width - GUTTER - 1), self.facts)))

    def _sign(self, item: GraphItem) -> Piece:
        """A, or that it has a name."""
        if item.kind == "checkpoint" and item.ref == self.pin:
            return Piece("A", "removed")
        named = item.kind == "checkpoint" and item.ref in self.facts.names
        return Piece(self.facts.glyphs.bookmark, "accent") if named else Piece(" ")

    def piece_line(self, row: int, width: int) -> Line:
        """The row without its gutter."""
        return graph_line(self.items[row], self._columns_for(width), self.facts)

    def _columns_for(self, width: int) -> Columns:
        if self._columns is None or self._columns[0] != width:
            self._columns = (
                width,
                columns_for(width, self.items, self.facts.headers, watched=bool(self.facts.watched)),
            )
        return self._columns[1]


def _first_hit(items: Items, facts: GraphFacts, text: str, parts: Iterable[range]) -> GraphItem | None:
    row = next(_hits(items, facts, text, chain.from_iterable(parts)), None)
    return None if row is None else items[row]


def _hits(items: Items, facts: GraphFacts, text: str, rows: Iterable[int]) -> Iterator[int]:
    wanted = text.casefold()
    return (row for row in rows if wanted in _searched(items[row], facts))


def _searched(item: GraphItem, facts: GraphFacts) -> str:
    header = facts.headers[item.ref]
    nodes = header.next if item.kind == "next" else header.nodes
    known = (facts.changed.get(item.ref, ""), facts.names.get(item.ref, ""))
    own = (item.title, str(header.step), header.source, header.ref.id, *known)
    return " ".join((*nodes, *own)).casefold()
