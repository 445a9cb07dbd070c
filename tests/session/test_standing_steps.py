"""A step that has not gone on, shown for what it is: Sends with what they hand over, a stop that nothing tells of."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.model import MISSING
from tests.engine.graph_threads import AGENTS, started
from tt_debug.session.records import show_record
from tt_debug.session.session import Session
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.rows.writes import write_rows
from tt_debug.unfinished import UNTOUCHED, untouched


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def test_a_send_says_what_it_hands_over(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "partings:sent", interrupt_before=["target"])
    session = Session.open(str(path))
    found = session.load(session.resolve("t"))
    assert [(task.node, task.given) for task in found.tasks] == [("target", {"log": []})]
    assert [task["given"] for task in show_record(found)["tasks"]] == [{"log": []}]
    lines = [text_of(row.line) for row in write_rows(found, None, ())]
    assert "    given  {log: []}" in lines
    earlier = session.load(session.resolve("t@0"))
    assert {task.given for task in earlier.tasks} == {MISSING}
    assert all("given" not in task for task in show_record(earlier)["tasks"])


def test_a_stop_that_stored_nothing(tmp_path: Path) -> None:
    """A static breakpoint, a kill and a run that is under way leave the same rows."""
    path = started(tmp_path / "t.sqlite", "letters:builder", interrupt_before=["c"])
    session = Session.open(str(path))
    found = session.load(session.resolve("t"))
    assert untouched(found) == UNTOUCHED
    assert UNTOUCHED in [text_of(row.line) for row in write_rows(found, None, ())]
    assert not untouched(session.load(session.resolve("t@0")))
    waiting = Session.open(str(started(tmp_path / "q.sqlite", "questions:one")))
    assert not untouched(waiting.load(waiting.resolve("t")))
