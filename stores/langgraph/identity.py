"""Which task wrote a row, proven by its id where the row does not say: SQLite savers store task paths since 3.1.2.

Owns recomputing ids over the names that the rows know of; refuses to name what no id proves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from stores.langgraph.next import PUSH, Due, Ids, Place, Triggers, due_tasks, node_of, pull_path, woken_by
from stores.langgraph.outline import Outline
from stores.langgraph.rows import NULL_TASK, RETURN, START, WriteRow

UPDATE_PATH: Final = "~__interrupt__, "
CALL_PATH: Final = f"~{PUSH}, ~"
# One call of update_state makes several updates, each under an id of its own.
_UPDATES: Final = ("__interrupt__", *(f"__interrupt__:{number}" for number in range(1, 8)))
_MAX_WAKING: Final = 3  # edges named by their source that wake one node at once


class Standing(NamedTuple):
    """A checkpoint as its superstep starts: where it is, what it holds, what wakes which node."""

    place: Place
    outline: Outline
    triggers: Triggers


def with_paths(standing: Standing, rows: Sequence[WriteRow], names: Iterable[str]) -> list[WriteRow]:
    """The rows with the task path of every task whose id proves who it is; ``names`` are the nodes it may be."""
    silent = {row.task for row in rows if not row.path} - {NULL_TASK}
    if not silent:
        return list(rows)
    proven = {task.id: task.path for task in due_tasks(standing.place, standing.outline, standing.triggers)}
    silent -= set(proven)
    if silent:
        candidates = sorted({*names, *_names_in(rows)})
        proven |= _search(standing, rows, candidates, silent)
        if silent - set(proven):
            proven |= dict(_outside(standing.place))
    return [row if row.path else row._replace(path=proven.get(row.task, "")) for row in rows]


def _names_in(rows: Iterable[WriteRow]) -> Iterator[str]:
    """The nodes that the channels written to tell of: their own, those before them and those after."""
    for row in rows:
        kind, _, rest = row.channel.partition(":")
        if kind == "join":
            yield from rest.partition(":")[0].split("+")
        elif kind == "branch":
            yield rest.partition(":")[0]
        elif not rest:
            yield row.channel
        if node := node_of(row.channel):
            yield node


def _outside(place: Place) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(_UPDATES):
        if id := place.outside_id(name):
            yield id, f"{UPDATE_PATH}{number:010d}"


def _search(
    standing: Standing, rows: Sequence[WriteRow], candidates: Sequence[str], wanted: set[str]
) -> dict[str, str]:
    """Task → path of those that are a node's task, or a call inside the task of one."""
    written = {row.task for row in rows}
    calls = {row.task for row in rows if row.channel == RETURN}
    sent = [row.channel for row in rows if row.task == NULL_TASK]
    callers = [
        Due(id, name, pull_path(name))
        for name in candidates
        for id in _ids_of(standing, name, sent, len(written) + len(standing.triggers))
        if id in written
    ]
    found = {caller.id: caller.path for caller in callers}
    for caller in callers if calls & wanted else ():
        found |= _calls(standing.place, caller, candidates, calls & wanted)
    return found


def _ids_of(standing: Standing, name: str, sent: Sequence[str], count: int) -> Iterator[str]:
    """Every id that a node's task may have at this checkpoint."""
    place, outline = standing.place, standing.outline
    known = standing.triggers.get(name, set())
    by_end = f"branch:to:{name}"
    yield place.pull_id(name, known | {by_end})
    if place.ids in (Ids.XXH3, Ids.JS):
        yield place.pull_id(name, known)
        yield place.pull_id(name, [by_end])
        yield place.pull_id(name, [START])
        return
    # An edge named by its source may lead to any node, and only those that woke the node make its id.
    open_edges = [channel for channel in outline.available if channel in outline.seen or node_of(channel) == name]
    waking = {*woken_by(outline, name, {*known, *open_edges, START}), *sent}
    for size in range(1, _MAX_WAKING + 1):
        for some in combinations(sorted(waking), size):
            for index in range(count if place.ids is Ids.FIRST else 1):
                yield place.pull_id(name, some, index)


def _calls(place: Place, caller: Due, names: Sequence[str], wanted: set[str]) -> dict[str, str]:
    """Task → path of the calls made inside one task; they are numbered with its other writes."""
    return {
        id: f"{CALL_PATH[:-1]}{caller.path}, {number:010d}, {1:010d}"
        for number in range(4 * len(wanted) + 4)
        for called in names
        for id in place.call_ids(caller, called, str(number))
        if id in wanted
    }
