"""A thread of langgraph 0.2.76 that stopped before a plain edge: its rows do not say where that leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.graph_threads import AGENTS, stored_log
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.errors import NotAHead
from tt_debug.session.plans import GraphTarget, RunRequest
from tt_debug.session.session import Session


def test_the_graph_knows_what_its_rows_do_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    path = unpack("stopped_before_plain_edge.sqlite", tmp_path)
    session = Session.open(str(path), graph=GraphTarget("letters:graph", folder=AGENTS))
    plan = session.plan(RunRequest("resume", session.resolve("t")))
    assert plan.nodes == ()
    assert plan.notes == (
        "what comes after a is not in the rows of a release so old: the graph knows, and ends it at its end",
    )
    result = session.execute(plan, lambda event: None)
    assert (result.status, result.notes) == ("done", ())
    assert stored_log(path) == ["in", "a", "b", "c", "d"]
    with pytest.raises(NotAHead, match="has run to its end"):  # written by a release that names edges by their ends
        session.plan(RunRequest("resume", session.resolve("t")))
    session.close()


def test_what_a_newer_release_wrote_has_ended_where_nothing_is_next(tmp_path: Path) -> None:
    session = Session.open(str(unpack(CURRENT, tmp_path)), graph=GraphTarget("letters:graph", folder=AGENTS))
    ended = next(info.thread for info in session.threads(status="done"))
    with pytest.raises(NotAHead, match="has run to its end"):
        session.plan(RunRequest("resume", session.resolve(f"{ended}@head")))
    session.close()
