"""The threads of a file in the order of their listing, kept while nothing is written: its pages are of one whole.

Owns knowing when they are out of date, and the questions for them: each name is found from the one before it in the
primary key's index, so that they cost little more than there are names. Refuses to ask them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from stores.codec.utf8 import has_utf8
from stores.langgraph.tables import ThreadRow


class Listed(NamedTuple):
    """Threads, newest write first, not counted; and by the root checkpoint they begin with, those that do."""

    rows: Sequence[ThreadRow]
    beginning: dict[str, list[str]]


class Listing:
    """The threads as they were seen last."""

    def __init__(self) -> None:
        self._seen: object = None
        self._listed = Listed((), {})

    def at(self, moment: object, read: Callable[[], Listed]) -> Listed:
        """What ``read`` gives, asked anew at another `Tables.moment`."""
        if moment != self._seen:
            self._listed, self._seen = read(), moment
        return self._listed


# Of the values that SQLite sorts, texts come before the empty blob: other writers may have stored no text.
_TEXT: Final = "{0} >= '' AND {0} < x''"
_NAMES: Final = f"""names(thread) AS (
    SELECT min(thread_id) FROM checkpoints WHERE {_TEXT.format("thread_id")}
    UNION ALL
    SELECT (SELECT min(thread_id) FROM checkpoints WHERE thread_id > names.thread AND thread_id < x'') FROM names
    WHERE names.thread IS NOT NULL)"""


def threads(ns: str, id: str) -> str:
    """The question for (thread, newest id of its root graph, that row's number, first id there, last namespace) of
    every one, by the columns' names."""
    root = f"FROM checkpoints WHERE thread_id = names.thread AND {ns} = '' AND {_TEXT.format(id)}"
    return f"""
        WITH RECURSIVE {_NAMES}
        SELECT thread, (SELECT max({id}) {root}), (SELECT rowid {root} ORDER BY {id} DESC LIMIT 1),
            (SELECT min({id}) {root}),
            (SELECT max({ns}) FROM checkpoints WHERE thread_id = names.thread AND {_TEXT.format(ns)})
        FROM names WHERE thread IS NOT NULL"""


def subgraphs(ns: str, id: str) -> str:
    """The question for (thread, namespace, newest id, its row's number) of every namespace but the root graphs'."""
    rows = f"FROM checkpoints WHERE thread_id = spaces.thread AND {ns} = spaces.space AND {_TEXT.format(id)}"
    return f"""
        WITH RECURSIVE {_NAMES}, spaces(thread, space) AS (
            SELECT thread, (SELECT min({ns}) FROM checkpoints WHERE thread_id = names.thread AND {ns} > ''
                AND {ns} < x'') FROM names WHERE thread IS NOT NULL
            UNION ALL
            SELECT thread, (SELECT min({ns}) FROM checkpoints WHERE thread_id = spaces.thread AND {ns} > spaces.space
                AND {ns} < x'') FROM spaces WHERE space IS NOT NULL)
        SELECT thread, space, (SELECT max({id}) {rows}) AS newest, (SELECT rowid {rows} ORDER BY {id} DESC LIMIT 1)
        FROM spaces WHERE space IS NOT NULL AND newest IS NOT NULL"""


def spaces(ns: str) -> str:
    """The question for the namespaces of the thread ``:thread``."""
    texts = f"FROM checkpoints WHERE thread_id = :thread AND {_TEXT.format(ns)}"
    return f"""
        WITH RECURSIVE spaces(space) AS (
            SELECT min({ns}) {texts}
            UNION ALL
            SELECT (SELECT min({ns}) {texts} AND {ns} > spaces.space) FROM spaces WHERE space IS NOT NULL)
        SELECT space FROM spaces WHERE space IS NOT NULL"""


def counted(ns: str, id: str) -> str:
    """The question for (count, first namespace, last namespace) of the thread ``:thread``."""
    rows = f"FROM checkpoints WHERE thread_id = :thread AND {_TEXT.format(ns)} AND {_TEXT.format(id)}"
    return f"SELECT (SELECT count(*) {rows}), (SELECT min({ns}) {rows}), (SELECT max({ns}) {rows})"


def is_text(row: Sequence[object]) -> bool:
    """Whether the texts of a row are valid ones, which can be asked for."""
    return all(map(has_utf8, [part for part in row if isinstance(part, str) and not part.isascii()]))
