"""In PostgreSQL: an edited copy of a waiting thread keeps what its step has done, and its own graph ends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.model import Change
from tests.engine.graph_threads import AGENTS
from tests.engine.test_graph_postgres import begun
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.langgraph_postgres import rows_of
from tt_debug.session.losses import losses_at
from tt_debug.session.plans import GraphTarget, NodeEdit, RunRequest
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def test_questions_and_results_come_along(database: str) -> None:
    begun(database, "crossing:builder")
    session = Session.open(database, graph=GraphTarget("crossing:builder", folder=AGENTS))
    base = session.resolve("t")
    assert [len(nodes) for nodes in (losses_at(session, base).asking, losses_at(session, base).finished)] == [2, 1]
    before = rows_of(database, "t")
    session.fork(base, "kept", (Change("add", ("topic",), new="snow"),), keep_results=True)
    for ask in session.approvals("kept"):
        session.answer(ask.id, f"to {ask.node}", "ann", thread="kept")
    plan = session.plan(RunRequest("resume", session.resolve("kept")))
    assert session.execute(plan, lambda event: None).status == "done"
    log = session.load(session.resolve("kept")).state["log"]
    assert sorted(map(str, log)) == [
        "['below', 'to below']", "['left', 'to left']", "in", "last on snow", "quick on None",
    ]  # fmt: skip
    assert rows_of(database, "t") == before
    session.close()


@pytest.mark.soak
def test_an_edit_as_a_node(database: str) -> None:
    begun(database, "steered:builder")
    session = Session.open(database, graph=GraphTarget("steered:builder", folder=AGENTS))
    before = rows_of(database, "t")
    edit = NodeEdit("look", (Change("add", ("mood",), new="good"),), preview=True)
    seen = session.execute(session.plan(RunRequest("update", session.resolve("t"), edit=edit)), lambda event: None)
    assert seen.updated is not None
    assert (seen.updated.next, rows_of(database, "t")) == (("party",), before)
    saved = NodeEdit("look", (Change("change", ("log",), ["in", "look", "rest"], []),))
    session.execute(session.plan(RunRequest("update", session.resolve("t"), edit=saved)), lambda event: None)
    head = session.load(session.resolve("t"))
    assert (head.state["log"], head.header.next) == ([], ("rest",))
    session.close()
