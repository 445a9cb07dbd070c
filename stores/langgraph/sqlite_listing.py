"""The threads of a file in the order of their listing, kept while nothing is written: its pages are of one whole.

Owns knowing when they are out of date, and the questions for them: each name is found from the one before it in the
primary key's index, so that they cost little more than there are names. Refuses to ask them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

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


# Of the values that SQLite sorts, texts come before the empty blob: other writers may have stored no text.
_TEXT: Final = "{0} >= '' AND {0} < x''"
_NAMES: Final = f"""names(thread) AS (
    SELECT min(thread_id) FROM checkpoints WHERE {_TEXT.format("thread_id")}
    UNION ALL
    SELECT (SELECT min(thread_id) FROM checkpoints WHERE thread_id > names.thread AND thread_id < x'') FROM names
    WHERE names.thread IS NOT NULL)"""


def spaces(ns: str, id: str) -> str:
    """The question for (thread, namespace, count, newest id, its row's number) of every one, by the columns' names."""
    rows = f"FROM checkpoints WHERE thread_id = spaces.thread AND {ns} = spaces.space AND {_TEXT.format(id)}"
    return f"""
        WITH RECURSIVE {_NAMES}, spaces(thread, space) AS (
            SELECT thread, (SELECT min({ns}) FROM checkpoints WHERE thread_id = names.thread AND {_TEXT.format(ns)})
            FROM names WHERE thread IS NOT NULL
            UNION ALL
            SELECT thread, (SELECT min({ns}) FROM checkpoints WHERE thread_id = spaces.thread AND {ns} > spaces.space
                AND {ns} < x'') FROM spaces WHERE space IS NOT NULL)
        SELECT thread, space, (SELECT count(*) {rows}), (SELECT max({id}) {rows}) AS newest,
            (SELECT rowid {rows} ORDER BY {id} DESC LIMIT 1)
        FROM spaces WHERE space IS NOT NULL AND newest IS NOT NULL"""


def firsts(ns: str, id: str) -> str:
    """The question for (thread, first id of its root graph, its row's number)."""
    rows = f"FROM checkpoints WHERE thread_id = names.thread AND {ns} = '' AND {_TEXT.format(id)}"
    return f"""
        WITH RECURSIVE {_NAMES}
        SELECT thread, (SELECT min({id}) {rows}) AS first, (SELECT rowid {rows} ORDER BY {id} LIMIT 1)
        FROM names WHERE thread IS NOT NULL AND first IS NOT NULL"""
