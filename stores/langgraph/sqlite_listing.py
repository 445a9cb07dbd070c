"""The threads of a file in the order of their listing, kept while nothing is written: its pages are of one whole.

Owns knowing when they are out of date; refuses to read them.
"""

from __future__ import annotations

from collections.abc import Callable

from stores.langgraph.tables import ThreadRow


class Listing:
    """The threads as they were seen last."""

    def __init__(self) -> None:
        self._seen: object = None
        self._rows: list[ThreadRow] = []

    def rows(self, moment: object, read: Callable[[], list[ThreadRow]]) -> list[ThreadRow]:
        """What ``read`` gives, asked anew at another `Tables.moment`."""
        if moment != self._seen:
            self._rows, self._seen = read(), moment
        return self._rows
