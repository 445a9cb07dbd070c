"""Listings as lines: columns that line up, told part by part where there are many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from stores.langgraph.base import LangGraphBase
from stores.model import Header, Ref
from tests.stores.handmade import Row, handmade, uuid
from tt_debug.cli import tables
from tt_debug.cli.tables import Column, long_table, table
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView

COLUMNS = (Column("n", right=True), Column("name"), Column("note"))


def test_columns_line_up_by_cells_and_what_is_empty_is_left_out() -> None:
    rows = [("7", "京都", ""), ("12", "Rome\x1b", "")]
    assert table(COLUMNS, rows) == [" n  name", " 7  京都", "12  Rome␛"]
    assert table(COLUMNS, rows, width=6) == [" n  n…", " 7…", "12  R…"]
    assert table(COLUMNS, []) == []


def test_what_is_too_long_moves_its_own_line_only() -> None:
    lines = table(COLUMNS, [("1", "x" * 2 * tables.WIDEST, "a"), ("2", "y", "b")])
    assert lines[0].index("note") == lines[2].index("b") == len("n  ") + tables.WIDEST + len("  ")
    assert lines[1].endswith("x  a")


def test_parts_widen_columns_and_name_the_ones_that_were_empty() -> None:
    parts = [[("1", "a", "")], [], [("100", "bb", "")], [("2", "c", "new")]]
    assert list(long_table(COLUMNS, parts)) == ["n  name", "1  a", "100  bb", "  n  name  note", "  2  c     new"]


def test_a_part_is_told_before_the_next_is_asked_for() -> None:
    def parts() -> Iterator[list[tuple[str, str, str]]]:
        yield [("1", "a", "")]
        pytest.fail("asked for more")

    lines = long_table(COLUMNS, parts())
    assert [next(lines), next(lines)] == ["n  name", "1  a"]


@pytest.mark.parametrize(
    "told",
    [
        lambda view: tables.log_lines(view, view.line(), None),
        lambda view: tables.graph_lines(view, view.rows(), range(len(view.rows()))),
    ],
    ids=["list", "graph"],
)
def test_the_first_lines_of_a_history_are_there_before_it_is_read(
    told: Callable[[ThreadView], Iterator[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Ref] = []

    def reading(store: LangGraphBase, thread: str, refs: Sequence[Ref]) -> Sequence[Header]:
        read.extend(refs)
        return headers_at(store, thread, refs)

    headers_at = LangGraphBase.headers_at
    monkeypatch.setattr(LangGraphBase, "headers_at", reading)
    monkeypatch.setattr(tables, "TOGETHER", 2)
    rows = [Row(uuid(at), uuid(at - 1) if at else None, step=at) for at in range(9)]
    session = Session.open(str(handmade(tmp_path / "long.db", rows)), read_only=True)
    view = session.open_thread("t")
    lines = told(view)
    assert uuid(0)[:8] in next(line for line in lines if "step" not in line)
    assert len(read) == 2
    assert sum(1 for _ in lines) == 8
    assert len(read) == 9
    session.close()
