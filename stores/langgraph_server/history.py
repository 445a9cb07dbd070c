"""The checkpoints of one thread in pages: the root graph's rows, and before each those of the subgraphs it called.

Owns the order and the ends of pages; refuses to make headers of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stores.errors import Invalid
from stores.langgraph_server import snapshots
from stores.langgraph_server.connection import MOST_ROWS, Connection, State

Key = tuple[str, str]
"""Namespace and id."""


@dataclass(slots=True)
class History:
    """What was read of one thread. ``parents`` are those that some checkpoint names as its parent."""

    connection: Connection
    thread: str
    states: dict[Key, State] = field(default_factory=dict)

    def page(self, after: str | None, limit: int) -> tuple[list[State], str | None]:
        """Newest first, a child before its parent; and where the next page goes on.

        Raises NotFound for the thread, Invalid for another list's ``after``.
        """
        done, given = _end(after)
        found: list[State] = []
        for root, group in self._groups(done, limit):
            if given is not None:
                places = [snapshots.place(state) for state in group]
                if given not in places:
                    raise Invalid(f"not the end of a page of this thread: {after!r}")
                group, given = group[places.index(given) + 1 :], None
            for state in group:
                if len(found) == limit:
                    return found, _text(done, snapshots.place(found[-1])) if found else after
                found.append(state)
            done = root
        return found, None

    def parent(self, state: State) -> State | None:
        """The state of its parent, from what was read or from the server."""
        key = snapshots.parent_of(state)
        if key is None:
            return None
        if key not in self.states:
            found = self.connection.state(self.thread, *key)
            if found is None:
                return None
            self.states[key] = found
        return self.states[key]

    def _groups(self, done: str | None, limit: int) -> Iterator[tuple[str, list[State]]]:
        """Each checkpoint of the root graph after ``done`` with what ran below it, newest first."""
        before = done
        while True:
            rows = self._rows("", before, min(max(limit, 1) + 1, MOST_ROWS))
            for row in rows:
                before = snapshots.place(row)[1]
                yield before, [*self._below(row, before), row]
            if not rows:
                return

    def _below(self, root: State, id: str) -> list[State]:
        """What ran in the subgraphs of one superstep, newest first."""
        found: dict[Key, State] = {}
        todo = snapshots.inner_namespaces(root)
        for ns in todo:
            for row in self._all(ns):
                key = snapshots.place(row)
                # A subgraph that keeps its state has the rows of all its calls in one namespace.
                if key in found or snapshots.root_of(row) not in (id, None):
                    continue
                found[key] = row
                todo += [inner for inner in snapshots.inner_namespaces(row) if inner not in todo]
        # Ids are UUIDv6: by them, whichever of two graphs wrote later comes first.
        return sorted(found.values(), key=lambda row: snapshots.place(row)[1], reverse=True)

    def _all(self, ns: str) -> Iterator[State]:
        before: str | None = None
        while rows := self._rows(ns, before, MOST_ROWS):
            yield from rows
            if len(rows) < MOST_ROWS:
                return
            before = snapshots.place(rows[-1])[1]

    def _rows(self, ns: str, before: str | None, limit: int) -> list[State]:
        """Rows that are older than ``before``, whatever the server makes of that."""
        rows = self.connection.history(self.thread, ns, before, limit)
        older = [row for row in rows if before is None or snapshots.place(row)[1] < before]
        self.states.update((snapshots.place(row), row) for row in older)
        return older


def _text(done: str | None, last: Key) -> str:
    return last[1] if last == ("", done) else " ".join((done or "-", last[1], last[0]))


def _end(after: str | None) -> tuple[str | None, Key | None]:
    """The last root checkpoint that was given with all below it, and the last row given of what ran below the next."""
    if after is None or " " not in after:
        return after, None
    parts = after.split(" ", 2)
    if len(parts) != 3:
        raise Invalid(f"not the end of a page of this thread: {after!r}")
    return None if parts[0] == "-" else parts[0], (parts[2], parts[1])
