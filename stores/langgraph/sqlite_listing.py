"""The threads of a file in the order of their listing, kept while nothing is written: its pages are of one whole.

Owns knowing when they are out of date; refuses to read them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from stores.langgraph.tables import ThreadRow


class Listing:
    """The threads as a connection saw them last."""

    def __init__(self) -> None:
        self._seen: tuple[sqlite3.Connection, int] | None = None
        self._rows: list[ThreadRow] = []

    def rows(self, db: sqlite3.Connection, read: Callable[[], list[ThreadRow]]) -> list[ThreadRow]:
        """What ``read`` gives, asked anew after another connection's commit; a reopened file has another connection."""
        (version,) = db.execute("PRAGMA data_version").fetchone()
        if self._seen is None or self._seen[0] is not db or self._seen[1] != version:
            self._rows, self._seen = read(), (db, version)
        return self._rows
