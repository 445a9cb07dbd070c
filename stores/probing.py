"""Which columns of a stranger's tables look like a history: by their names, and where those say nothing, by content.

Owns the guess and how sure it is; refuses to read more of a table than a few hundred short pieces.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stores.codec import json
from stores.errors import Corrupt
from stores.model import Value
from stores.table import TableMapping
from stores.table_rows import moment, quoted

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "thread": ("thread_id", "thread", "run_id", "run", "app_id", "session_id", "conversation_id", "flow_uuid"),
    "id": ("checkpoint_id", "step_id", "seq", "sequence_id", "id"),
    "parent": ("parent_id", "parent_checkpoint_id", "parent", "prev_id", "prev", "previous_id"),
    "state": ("state", "state_json", "payload", "snapshot", "checkpoint", "values"),
    "step": ("step", "step_number"),
    "node": ("node", "node_id", "node_name", "position", "method_name"),
    "status": ("status",),
    "created": ("created_at", "created", "timestamp", "ts"),
}
"""The names under which histories usually keep a column, the likeliest first."""
NEEDED: Final = ("thread", "id", "state")
ROWS: Final = 300
PIECE: Final = 2000
"""Characters of a cell that are looked at."""
MOSTLY: Final = 0.8
MOST_COLUMNS: Final = 12
LONGEST_NAME: Final = 80


Columns = Mapping[str, list[Value]]
"""Column → the beginnings of a table's first cells."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping that would read a table. ``sure``: there is little else that it could be."""

    mapping: TableMapping
    sure: bool


def propose(tables: Mapping[str, Iterable[str]], sample: Callable[[str], Columns]) -> tuple[Proposal, ...]:
    """Every table that may be a history; those of which all is told by names shut out the others.

    ``sample`` gives the beginnings of a table's first cells, and is asked only where names do not tell.
    """
    named = [named_parts(columns) for columns in tables.values()]
    whole = [
        Proposal(TableMapping(table=table, **parts), sure=True)
        for table, parts in zip(tables, named, strict=True)
        if set(NEEDED) <= set(parts)
    ]
    if whole:
        return tuple(whole)
    guesses = (_by_content(sample(table), table, parts) for table, parts in zip(tables, named, strict=True))
    return tuple(guess for guess in guesses if guess is not None)


def named_parts(columns: Iterable[str]) -> dict[str, str]:
    """Part → column, as far as the names tell."""
    lower = {column.lower(): column for column in columns}
    parts: dict[str, str] = {}
    for part, names in NAMES.items():
        taken = set(parts.values())
        column = next((lower[name] for name in names if name in lower and lower[name] not in taken), None)
        if column is not None:
            parts[part] = column
    return parts


@dataclass(frozen=True, slots=True)
class _Links:
    """Three columns that fit together. ``parent`` is None where no column names other rows."""

    thread: str
    id: str
    parent: str | None
    threads: int  # how many lines the thread column tells apart
    numbered: bool  # ids are mostly numbers, threads mostly names


def _by_content(columns: Columns, table: str, named: Mapping[str, str]) -> Proposal | None:
    """The table's mapping, its unnamed parts found in its first rows; None where one that is needed is not there."""
    state = named.get("state") or _state_of(named, columns)
    if state is None:
        return None
    links = _links_of({**named, "state": state}, columns)
    if links is None:
        return None
    found = {"state": state, "thread": links.thread, "id": links.id} | (
        {"parent": links.parent} if links.parent else {}
    )
    times = [name for name in columns if name not in {**named, **found}.values() and _is_time(columns[name])]
    if len(times) == 1 and "created" not in named:
        found["created"] = times[0]
    sure = (links.parent is not None and "parent" not in named) or len(set(NEEDED) & set(named)) >= 2
    return Proposal(TableMapping(table=table, **{**named, **found}), sure)


def sample_of(db: sqlite3.Connection, table: str) -> Columns:
    """Column → the beginnings of its first cells; nothing for an empty table."""
    names = [row[0] for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    pieces = (
        f"CASE WHEN typeof({column}) IN ('text', 'blob') THEN substr({column}, 1, {PIECE}) ELSE {column} END"
        for column in map(quoted, names)
    )
    rows = db.execute(f"SELECT {', '.join(pieces)} FROM {quoted(table)} LIMIT {ROWS}").fetchall() if names else []
    return {name: [row[place] for row in rows] for place, name in enumerate(names)} if rows else {}


def _state_of(named: Mapping[str, str], columns: Columns) -> str | None:
    """The column that holds JSON objects; of several the one that holds most."""
    sizes = {
        name: sum(len(cell) for cell in cells if isinstance(cell, str | bytes))
        for name, cells in columns.items()
        if name not in named.values() and sum(map(_is_object, cells)) >= MOSTLY * len(cells)
    }
    return max(sizes, key=lambda name: sizes[name]) if sizes else None


def _is_object(cell: Value) -> bool:
    if not isinstance(cell, str | bytes) or cell.lstrip()[:1] not in ("{", b"{"):
        return False
    try:
        return len(cell) >= PIECE or isinstance(json.loads(cell), dict)
    except Corrupt:
        return False


def _links_of(named: Mapping[str, str], columns: Columns) -> _Links | None:
    """The best fit of thread, id and parent: with parents before without, numbered ids, more threads before fewer."""
    short = [name for name, cells in columns.items() if name not in named.values() and _is_short(cells)]
    fits = (
        fit
        for thread in _choice(named, "thread", short[:MOST_COLUMNS])
        for id in _choice(named, "id", short[:MOST_COLUMNS])
        if thread != id and (fit := _fit(named, columns, thread, id, short)) is not None
    )
    return max(fits, key=lambda fit: (fit.parent is not None, fit.numbered, fit.threads), default=None)


def _choice(named: Mapping[str, str], part: str, others: list[str]) -> list[str]:
    return [named[part]] if part in named else others


def _is_short(cells: list[Value]) -> bool:
    """Whether they may be names or numbers of something: no times, no texts, no fractions."""
    named = [cell for cell in cells if cell is not None]
    return all(isinstance(cell, str | int) and len(str(cell)) <= LONGEST_NAME for cell in named) and not _is_time(cells)


def _is_time(cells: list[Value]) -> bool:
    return all(isinstance(cell, str) and moment(cell) is not None for cell in cells)


def _fit(named: Mapping[str, str], columns: Columns, thread: str, id: str, short: list[str]) -> _Links | None:
    """The columns together, where (thread, id) tells every row apart and a thread has more than one."""
    names = list(zip(columns[thread], columns[id], strict=True))
    threads = len(set(columns[thread]))
    if any(None in name for name in names) or len(set(names)) < len(names) or (threads == len(names) > 1):
        return None
    places = {(line, str(own)): place for place, (line, own) in enumerate(names)}
    parents = (name for name in _choice(named, "parent", short) if name not in (thread, id))
    linked = (name for name in parents if _leads_back(columns[thread], columns[name], places))
    numbered = all(isinstance(own, int) for own in columns[id])
    return _Links(thread, id, next(linked, named.get("parent")), threads, numbered)


def _leads_back(lines: list[Value], parents: list[Value], places: Mapping[tuple[Value, str], int]) -> bool:
    """Whether most cells that say anything name an earlier row of their line, and some row names none."""
    said = [
        (place, places.get((lines[place], str(parent)))) for place, parent in enumerate(parents) if parent is not None
    ]
    found = [place for place, above in said if above is not None and above < place]
    return 0 < len(found) < len(parents) and len(found) >= MOSTLY * (len(said) - len(set(lines)))
