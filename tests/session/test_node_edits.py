"""Edits as a node's update, made by the thread's own graph: previewed, saved, refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.errors import Conflict
from stores.model import MISSING, Change, Diff, Value
from tests.engine.graph_threads import AGENTS, listing, started, stock
from tt_debug.errors import ChildFailed, UsageError
from tt_debug.session.plans import GraphTarget, NodeEdit, RunRequest, RunResult
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A thread that looked, and rested."""
    folder = tmp_path / "store"
    folder.mkdir()
    value: dict[str, Value] = {"mood": "bad", "log": ["in"], "messages": [["user", "hello"], ["ai", "hi"]]}
    return started(folder / "t.sqlite", "steered:builder", value=value)


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    found = Session.open(str(path), graph=GraphTarget("steered:builder", folder=AGENTS))
    yield found
    found.close()


def good(session: Session, *more: Change) -> Diff:
    return (Change("change", ("mood",), "bad", "good"), *more)


def updated(session: Session, ref: str, edit: NodeEdit, **how: Value) -> RunResult:
    request = RunRequest("update", ref=session.resolve(ref), edit=edit, **how)
    return session.execute(session.plan(request), lambda event: None)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_preview_tells_the_state_and_what_is_next_and_stores_nothing(session: Session, path: Path) -> None:
    before = digest(path), listing(path.parent)
    result = updated(session, "t", NodeEdit("look", good(session), preview=True))
    assert result.updated is not None
    assert [(c.path, c.old, c.new) for c in result.updated.changes] == [(("mood",), "bad", "good")]
    assert (result.updated.next, result.head) == (("party",), session.resolve("t"))
    assert (digest(path), listing(path.parent)) == before


def test_saving_is_what_was_previewed_and_runs_no_node(session: Session, path: Path) -> None:
    import steered

    result = updated(session, "t", NodeEdit("look", good(session)))
    assert result.head == session.resolve("t")
    assert session.load(result.head).header.source == "update"
    assert session.load(result.head).header.next == ("party",)
    with stock(path, steered.builder) as app:
        state = app.get_state({"configurable": {"thread_id": "t"}})
        assert (state.next, state.values["mood"], state.values["log"]) == (("party",), "good", ["in", "look", "rest"])
    with pytest.raises(Conflict, match="what comes next was changed too, from nothing to party"):
        session.undoing.plan()


@pytest.mark.parametrize("value", [["z"], []])
def test_a_list_is_replaced_by_what_was_typed(session: Session, value: list[Value]) -> None:
    log = session.load(session.resolve("t")).state["log"]
    result = updated(session, "t", NodeEdit("rest", (Change("change", ("log",), log, value),)))
    assert session.load(session.resolve("t")).state["log"] == value
    assert result.notes == ()


def test_or_goes_through_the_reducer_when_that_is_asked_for(session: Session) -> None:
    edit = NodeEdit("rest", (Change("change", ("log",), ["in"], ["z"]),), by_reducer=True)
    updated(session, "t", edit)
    assert session.load(session.resolve("t")).state["log"] == ["in", "look", "rest", "z"]


def test_messages_are_edited_inserted_deleted_and_reordered_exactly(session: Session, path: Path) -> None:
    """Their class is kept: the graph's own serializer makes them of the bytes that a store would hold."""
    import steered

    messages = session.load(session.resolve("t")).state["messages"]
    hello, hi = messages
    inserted = hello.with_value({**hello.value, "id": "new", "content": "well?"})
    changed = (
        Change("change", ("messages", 0, "content"), "hello", "goodbye"),
        Change("add", ("messages", 1), new=inserted),
    )
    updated(session, "t", NodeEdit("rest", changed))
    with stock(path, steered.builder) as app:
        found = app.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
        assert [(type(m).__name__, m.content) for m in found] == [
            ("HumanMessage", "goodbye"), ("HumanMessage", "well?"), ("AIMessage", "hi"),
        ]  # fmt: skip
    now = session.load(session.resolve("t")).state["messages"]
    updated(session, "t", NodeEdit("rest", (Change("change", ("messages",), now, [hi, hello]),)))
    with stock(path, steered.builder) as app:
        found = app.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
        assert [m.content for m in found] == ["hi", "hello"]


@pytest.mark.soak
def test_on_a_new_thread_from_an_earlier_step(session: Session) -> None:
    head = session.resolve("t")
    result = updated(session, "t@1", NodeEdit("look", good(session)), thread="other")
    assert (result.thread, session.resolve("t")) == ("other", head)
    assert session.load(session.resolve("other")).header.next == ("party",)
    ran = session.execute(session.plan(RunRequest("resume", session.resolve("other"))), lambda event: None)
    assert (ran.status, session.load(session.resolve("other")).state["log"]) == ("done", ["in", "look", "party"])


def test_a_branch_that_has_to_be_awaited(path: Path) -> None:
    session = Session.open(str(path), graph=GraphTarget("steered:awaiting", folder=AGENTS))
    assert updated(session, "t", NodeEdit("look", good(session))).updated.next == ("party",)  # type: ignore[union-attr]


def test_saving_stops_before_the_next_breakpoint(tmp_path: Path) -> None:
    """Saving and running are two actions: nothing is called, and the run that follows stops where the graph says."""
    path = started(tmp_path / "b.sqlite", "steered:builder", value={"mood": "good"}, interrupt_before=["look"])
    session = Session.open(str(path), graph=GraphTarget("steered:stops", folder=AGENTS))
    typed = (Change("add", ("log",), new=["typed"]),)
    updated(session, "t", NodeEdit("look", typed))
    head = session.load(session.resolve("t"))
    assert (head.header.next, head.state["log"]) == (("party",), ["typed"])


def test_refused(session: Session, path: Path) -> None:
    before = digest(path)
    with pytest.raises(UsageError, match="no node 'nowhere'") as caught:
        updated(session, "t", NodeEdit("nowhere", good(session)))
    assert caught.value.hint == "it has: look, party, rest"
    with pytest.raises(UsageError, match="no 'moood'") as caught:
        updated(session, "t", NodeEdit("look", (Change("add", ("moood",), new=1),)))
    assert caught.value.hint == "it has: mood, log, messages"
    with pytest.raises(UsageError, match="cannot take mood out"):
        updated(session, "t", NodeEdit("look", (Change("remove", ("mood",), "bad", MISSING),)))
    with pytest.raises(UsageError, match="a reducer takes a whole value"):
        updated(session, "t", NodeEdit("look", (Change("add", ("log", 0), new=1),), by_reducer=True))
    with pytest.raises(Conflict, match="not the head"):
        updated(session, "t@1", NodeEdit("look", good(session)))
    broken = Session.open(str(path), graph=GraphTarget("steered:broken", folder=AGENTS))
    with pytest.raises(ChildFailed, match="updating the state as look failed: ValueError: no way from here"):
        updated(broken, "t", NodeEdit("look", good(session)))
    with pytest.raises(ChildFailed, match="no way from here"):
        updated(broken, "t@1", NodeEdit("look", good(session)), thread="never")
    assert "never" not in {info.thread for info in session.threads()}
    without = Session.open(str(path))
    with pytest.raises(UsageError, match="the graph's to make"):
        updated(without, "t", NodeEdit("look", good(session)))
    assert digest(path) == before


def test_a_thread_that_moved_on_since_it_was_planned(session: Session) -> None:
    plan = session.plan(RunRequest("update", ref=session.resolve("t"), edit=NodeEdit("look", good(session))))
    session.edit(session.resolve("t"), good(session))
    with pytest.raises(Conflict, match="has moved on"):
        session.execute(plan, lambda event: None)


def test_a_plan_says_what_of_the_step_is_dropped(tmp_path: Path) -> None:
    path = started(tmp_path / "c.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    session = Session.open(str(path), graph=GraphTarget("crossing:builder", folder=AGENTS))
    edit = NodeEdit("left", (Change("change", ("topic",), "rain", "snow"),))
    plan = session.plan(RunRequest("update", ref=session.resolve("t"), edit=edit))
    assert [note.partition(";")[0] for note in plan.notes] == [
        "deep and what it asks is dropped with the step",
        "quick has finished, and its result is dropped with the step",
    ]
    result = session.execute(plan, lambda event: None)
    assert result.updated is not None
    assert (result.updated.next, result.updated.after["log"]) == ((), ["in"])
