"""The order of a thread's checkpoints, against the plain way to find it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.langgraph import sqlite_tables
from stores.langgraph.skeleton import Key, Skeleton, build, joined
from stores.langgraph.sqlite_tables import SqliteTables
from tests.stores.handmade import CHECKPOINTS, uuid

NAMES = st.sampled_from("abcdefghij")
ROWS = st.dictionaries(st.tuples(st.sampled_from(["", "sub"]), NAMES), st.none() | NAMES, max_size=16)


def circles(parents: dict[Key, str | None]) -> set[Key]:
    """Those that a walk along parents comes back to."""
    found = set()
    for start in parents:
        at, steps = start, 0
        while steps <= len(parents) and at in parents and (parent := parents[at]) is not None:
            at, steps = Key(parent, at.ns), steps + 1
            if at == start:
                found.add(start)
                break
    return found


def plain_order(parents: dict[Key, str | None]) -> list[Key]:
    """Again and again the newest of those whose children are all listed; what lies on a circle last."""
    left = sorted(parents, reverse=True)
    found: list[Key] = []
    while left:
        waited_for = {Key(parent, key.ns) for key in left if (parent := parents[key]) is not None}
        free = next((key for key in left if key not in waited_for), None)
        if free is None:
            return found + left
        left.remove(free)
        found.append(free)
    return found


@given(ROWS)
def test_children_come_first_and_else_the_newest(rows: dict[tuple[str, str], str | None]) -> None:
    parents = {Key(id, ns): parent for (ns, id), parent in rows.items()}
    built = build((ns, id, parent) for (ns, id), parent in rows.items())
    assert list(built.order) == plain_order(parents)
    assert built.circling == circles(parents)
    assert {key: parent.id if (parent := built.parent(key)) else None for key in built.order} == parents
    assert len(built) == len(parents)
    assert {key for key in parents if built.has_child(key)} == set(built.children) & set(parents)
    assert {(child, key.ns) for key, children in built.children.items() for child in children} == {
        (key, key.ns) for key, parent in parents.items() if parent is not None
    }


@given(st.lists(st.none() | st.integers(0, 11), min_size=2, max_size=12), st.integers(1, 11))
def test_what_is_added_at_the_end_makes_the_same_as_reading_it_all(parents: list[int | None], cut: int) -> None:
    rows = [("", uuid(at), None if parent is None else uuid(parent)) for at, parent in enumerate(parents)]
    cut = min(cut, len(rows) - 1)
    grown = build(rows[:cut]).columns[""].grown([(id, parent or "") for _, id, parent in rows[cut:]])
    whole = build(rows)
    assert grown is not None
    assert grown == whole.columns[""]
    assert Skeleton([grown]).order == whole.order
    assert Skeleton([grown]).stamp == whole.stamp


NAMED = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "", "é", "x\ny"])
STORED = st.dictionaries(st.tuples(st.sampled_from(["", "sub", "sub:1", "ü"]), NAMED), st.none() | NAMED, max_size=16)


@given(STORED, st.integers(1, 5))
def test_a_file_read_in_pages_is_what_it_is_row_by_row(rows: dict[tuple[str, str], str | None], page: int) -> None:
    with pytest.MonkeyPatch.context() as patch, closing(sqlite3.connect(":memory:")) as db:
        patch.setattr(sqlite_tables, "_PAGE", page)
        db.execute(CHECKPOINTS)
        every = [("t", ns, id, parent) for (ns, id), parent in rows.items()] + [("u", "", "b", "a")]
        db.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, 'msgpack', x'', x'')", every)
        read = SqliteTables.of(db).skeleton("t")
    plain = build((ns, id, parent) for (ns, id), parent in rows.items())
    assert read.columns == plain.columns
    assert read.order == plain.order


KEYLESS = CHECKPOINTS.partition(",\n    PRIMARY")[0] + ")"
"""As a copy made by SELECT: a row may be there twice."""
CASELESS = CHECKPOINTS.replace("checkpoint_id TEXT", "checkpoint_id TEXT COLLATE NOCASE")
TWICE = [("a", None), ("b", "a"), ("b", "a"), ("d", "c"), ("c", "b"), ("d", "c")]
MIXED = [("a1", None), ("B2", "a1"), ("c3", "B2"), ("D4", "c3")]


@pytest.mark.parametrize("page", [1, 2, 3, 10])
@pytest.mark.parametrize(("table", "rows"), [(KEYLESS, TWICE), (CASELESS, MIXED)], ids=["twice", "caseless"])
def test_rows_that_do_not_ascend_are_told_like_any_others(
    monkeypatch: pytest.MonkeyPatch, table: str, rows: list[tuple[str, str | None]], page: int
) -> None:
    monkeypatch.setattr(sqlite_tables, "_PAGE", page)
    whole = build(("", id, parent) for id, parent in rows)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(table)
        db.executemany("INSERT INTO checkpoints VALUES ('t', '', ?, ?, 'msgpack', x'', x'')", rows)
        read = SqliteTables.of(db).skeleton("t")
    assert read.columns == whole.columns
    assert joined([""] * len(rows), *zip(*[(id, parent or "") for id, parent in rows], strict=True)).columns == (
        whole.columns
    )
    assert build([("", "A", None)]).columns[""].grown([("a", "A"), ("a", "A")]) is None
