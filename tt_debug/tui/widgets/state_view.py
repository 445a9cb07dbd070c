"""A state as a tree that folds; rows are found again over states by their path.

Owns folding and the cursor's place; values are shown, never changed here.
"""

from __future__ import annotations

from collections.abc import Mapping

from stores.model import Diff, Path, Value
from tt_debug.tui.rows.pieces import Line, text_of
from tt_debug.tui.rows.state import Closed, Node, NodeKey, chunk_of, marks_of, state_line, state_nodes
from tt_debug.tui.widgets.piece_view import PieceView

SEARCHED = 400
"""Cells of a row that a search looks at."""


class StateView(PieceView):
    """One row for each value that is not folded away."""

    EMPTY = "this state is empty"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.nodes: list[Node] = []
        self._state: Mapping[str, Value] | None = None
        self._marks: dict[Path, str] = {}
        self._folds: dict[NodeKey, bool] = {}
        self._notes: Mapping[str, str] = {}
        self._huge = False
        self._problem = ""

    def empty_text(self) -> str:
        """An empty state says so; before the first one it is being read."""
        if self._problem:
            return self._problem
        return "reading…" if self._state is None else self.EMPTY

    @property
    def folds(self) -> Mapping[NodeKey, bool]:
        """What was opened and closed, for `state_nodes` on another thread."""
        return dict(self._folds)

    def show_problem(self, text: str) -> None:
        """There is no state to show, and why."""
        self._problem, self._state, self.nodes = text, None, []
        self.set_rows(0)

    def show(
        self,
        state: Mapping[str, Value],
        nodes: list[Node] | None = None,
        notes: Mapping[str, str] | None = None,
        *,
        huge: bool = False,
    ) -> None:
        """Show a state; the cursor goes to the same path, or the nearest one above it that is there.

        ``notes`` are said of its keys, at the right. Nothing of a ``huge`` state opens by itself."""
        here = self.current()
        self._state, self._problem, self._notes, self._huge = state, "", notes or {}, huge
        self.nodes = self._laid_out() if nodes is None else nodes
        self.set_rows(len(self.nodes), cursor=self._row_for(here.path, here.start) if here else 0)

    def mark(self, diff: Diff) -> None:
        """Sign the rows that a diff touches."""
        self._marks = marks_of(diff)
        self.refresh()

    def current(self) -> Node | None:
        """The row under the cursor."""
        return self.nodes[self.cursor] if 0 <= self.cursor < len(self.nodes) else None

    def go_to(self, path: Path) -> None:
        """Unfold what holds ``path`` and put the cursor there, or as near as it goes."""
        if self._state is None:
            return
        for depth in range(1, len(path)):
            self._folds[(path[:depth], -1)] = True
            self._folds[(path[:depth], chunk_of(self._state, path[: depth + 1]))] = True
        self.nodes = self._laid_out()
        self.set_rows(len(self.nodes), cursor=self._row_for(path, -1))

    def _laid_out(self) -> list[Node]:
        return state_nodes(self._state or {}, Closed(self._folds) if self._huge else self._folds)

    def _row_for(self, path: Path, start: int) -> int:
        rows = {node.key: row for row, node in enumerate(self.nodes)}
        if (path, start) in rows:
            return rows[(path, start)]
        for depth in range(len(path), 0, -1):
            if (path[:depth], -1) in rows:
                return rows[(path[:depth], -1)]
        return 0

    def fold(self) -> None:
        """Close the row under the cursor; a row that is closed or a leaf goes to what holds it."""
        node = self.current()
        if node is None:
            return
        if node.opened:
            self._set(node, False)
            return
        for row in range(self.cursor - 1, -1, -1):
            if self.nodes[row].depth < node.depth:
                self.cursor = row
                return

    def unfold(self) -> None:
        """Open the row under the cursor; an open one goes to its first child."""
        node = self.current()
        if node is None or node.opened is None:
            return
        if not node.opened:
            self._set(node, True)
        elif self.cursor + 1 < len(self.nodes) and self.nodes[self.cursor + 1].depth > node.depth:
            self.cursor += 1

    def toggle(self) -> bool:
        """Open or close the row under the cursor; False when it is a leaf."""
        node = self.current()
        if node is None or node.opened is None:
            return False
        self._set(node, not node.opened)
        return True

    def _set(self, node: Node, opened: bool) -> None:
        if self._state is None:
            return
        self._folds[node.key] = opened
        self.nodes = self._laid_out()
        self.set_rows(len(self.nodes), cursor=self._row_for(node.path, node.start))

    def search(self, text: str) -> list[int]:
        """Rows that show ``text``, whatever the case; what is folded away is not searched."""
        wanted = text.casefold()
        return [
            row for row, node in enumerate(self.nodes) if wanted in text_of(state_line(node, SEARCHED, {})).casefold()
        ]

    def piece_line(self, row: int, width: int) -> Line:
        """The row in ``width`` cells."""
        return state_line(self.nodes[row], width, self._marks, self.glyphs, self._notes)
