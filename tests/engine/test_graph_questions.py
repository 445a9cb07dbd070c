"""Questions of a driven graph: told, answered one by one, refused where nobody asked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.model import Value
from tests.engine.graph_threads import run, started, stored_log, target
from tt_debug.engine.graph import describe_graph
from tt_debug.errors import UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def questioned(tmp_path: Path, builder: str) -> Path:
    return started(tmp_path / "q.sqlite", f"questions:{builder}")


def test_a_question_is_answered(tmp_path: Path) -> None:
    store = questioned(tmp_path, "one")
    facts = describe_graph(target("questions:one"), str(store), "t")
    [question] = facts.questions
    assert (question.node, question.prompt, facts.next) == ("size", {"ask": "size"}, ("size",))
    waiting = run(store, target("questions:one"))
    assert (waiting.end.status, waiting.printed) == ("waiting", [])  # asked already: the node does not run again
    assert waiting.the("waiting").fields == {
        "node": "size",
        "approval": question.id,
        "prompt": {"ask": "size"},
        "ns": "",
    }
    with pytest.raises(UsageError, match="no open question has the id nobody"):
        run(store, target("questions:one"), answers={"nobody": 1})
    answered = run(store, target("questions:one"), answer=None, has_answer=True)
    assert (answered.end.status, answered.nodes()) == ("done", ["size", "last"])
    assert stored_log(store) == ["in", ["size", None], "last"]


def test_two_questions_are_answered_one_by_one(tmp_path: Path) -> None:
    store = questioned(tmp_path, "two")
    ids = {q.node: q.id for q in describe_graph(target("questions:two"), str(store), "t").questions}
    with pytest.raises(UsageError, match="2 questions are open"):
        run(store, target("questions:two"), answer=1, has_answer=True)
    half = run(store, target("questions:two"), answers={ids["color"]: {"deep": "blue"}})
    assert half.end.status == "waiting"
    assert half.the("waiting").fields["node"] == "size"
    whole = run(store, target("questions:two"), answers={ids["size"]: 7})
    assert whole.end.status == "done"
    assert sorted(map(str, stored_log(store))) == ["['color', {'deep': 'blue'}]", "['size', 7]", "in", "last"]


def test_a_question_in_a_subgraph(tmp_path: Path) -> None:
    store = questioned(tmp_path, "outer")
    waiting = run(store, target("questions:outer"))
    assert waiting.the("waiting").fields["ns"].startswith("inner:")
    answered = run(store, target("questions:outer"), answer=7, has_answer=True)
    assert (answered.end.status, answered.nodes()) == ("done", ["inner"])
    assert ["size", 7] in stored_log(store)


def test_an_answer_that_nobody_asked_for_is_refused(tmp_path: Path) -> None:
    store = started(tmp_path / "t.sqlite", "letters:builder")
    with pytest.raises(UsageError, match="no question is open"):
        run(store, target("letters:graph"), answer=1, has_answer=True)


def test_a_fork_that_has_its_question_still_to_ask(tmp_path: Path) -> None:
    """A copied checkpoint carries the node and not the question; an answer may come with the resume all the same."""
    store = started(tmp_path / "q.sqlite", "questions:one")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM writes WHERE channel = '__interrupt__'")
    assert run(store, target("questions:one"), answer="large", has_answer=True).end.status == "done"
    assert ["size", "large"] in stored_log(store)


def test_values_json_has_no_type_for_are_told_all_the_same(tmp_path: Path) -> None:
    store = started(tmp_path / "t.sqlite", "endings:asks_with_a_message")
    prompt: Value = run(store, target("endings:asks_with_a_message")).the("waiting").fields["prompt"]
    assert prompt["$type"] == "langchain_core.messages.human.HumanMessage"
    assert prompt["value"]["content"] == "how large?"
