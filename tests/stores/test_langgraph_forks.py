"""Forks and edits made by us, read back and run on by stock LangGraph."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from stores.codec import splice
from stores.errors import Conflict, Invalid, NotFound, ReadOnly, Unsupported
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Change, Header, NewCheckpoint, Partial, Ref, Status, Tagged
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_files import CURRENT, rows_of, unpack
from tests.stores.langgraph_graphs import config, record, saver_of

Open = Callable[[], LangGraphStore]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    (tmp_path / "db").mkdir()
    return tmp_path / "db" / "agent.sqlite"


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    stores: list[LangGraphStore] = []

    def open_it() -> LangGraphStore:
        stores.append(LangGraphStore(path, read_only=False))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def header(store: LangGraphStore, thread: str, *, step: int, ns: str = "") -> Header:
    """The newest checkpoint of a step."""
    return next(one for one in store.headers(thread).items if one.step == step and one.ref.ns == ns)


def run_on(path: Path, graph: Any, thread: str, value: Any = None) -> tuple[Any, tuple[str, ...], dict[str, Any]]:
    """Stock LangGraph's view of a thread (state, next), and the state after it went on."""
    with saver_of(path) as saver:
        app = graph.compile(checkpointer=saver)
        before = app.get_state(config(thread))
        return before.values, before.next, app.invoke(value, config(thread))


# --- the plain case: a → … → f, forked after c


def test_a_fork_runs_on_from_its_base_and_leaves_the_original(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    original = rows_of(path, "t")
    store = opened()
    base = header(store, "t", step=3)

    fork = store.fork(base.ref, "fork")

    assert fork.ref == Ref("fork", "", base.ref.id)
    assert (fork.next, fork.status, fork.nodes) == (("d",), Status.UNFINISHED, ("c",))
    assert store.head("fork") == fork.ref
    assert len(store.headers("fork").items) == 5
    ran.clear()
    values, coming, end = run_on(path, graph, "fork")
    assert (values, coming) == ({"log": ["a", "b", "c"], "n": 3}, ("d",))
    assert (end, ran) == ({"log": list("abcdef"), "n": 6}, ["d", "e", "f"])
    assert rows_of(path, "t") == original
    assert store.headers("fork").items[0].nodes == ("f",)


def test_an_edited_fork_shows_the_edit_and_runs_on_with_it(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    original = rows_of(path, "t")
    store = opened()
    base = header(store, "t", step=3)

    changes = [Change("change", ("n",), 3, 100), Change("add", ("log", 0), new="first")]
    fork = store.fork(base.ref, "fork", changes, meta={"author": "me"})

    assert (fork.source, fork.step, fork.parent) == ("fork", 4, Ref("fork", "", base.ref.id))
    assert (fork.next, fork.meta) == (base.next, {"parents": {}, "author": "me"})
    assert fork.ref.id > base.ref.id
    assert store.load(fork.ref).state == {"log": ["first", "a", "b", "c"], "n": 100}
    assert store.load(Ref("fork", "", base.ref.id)).state == store.load(base.ref).state
    ran.clear()
    values, coming, end = run_on(path, graph, "fork")
    assert (values, coming) == ({"log": ["first", "a", "b", "c"], "n": 100}, ("d",))
    assert (end["n"], ran) == (103, ["d", "e", "f"])
    assert rows_of(path, "t") == original


def test_an_edit_in_the_thread_becomes_its_head_and_changes_no_row(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    original = rows_of(path, "t")
    store = opened()
    base = header(store, "t", step=3)

    edit = store.fork(base.ref, "t", [Change("remove", ("log", 1), "b")])

    assert store.head("t") == edit.ref
    assert (edit.parent, edit.source, edit.next) == (base.ref, "fork", ("d",))
    assert set(original) < set(rows_of(path, "t"))
    assert len(rows_of(path, "t")) == len(original) + 1
    ran.clear()
    assert run_on(path, graph, "t")[2] == {"log": list("acdef"), "n": 6}
    assert ran == ["d", "e", "f"]


def test_going_back_without_an_edit_is_a_row_of_its_own(path: Path, opened: Open) -> None:
    ran: list[str] = []
    record(path, graphs.chain(ran), "t", {"log": [], "n": 0})
    store = opened()
    again = store.fork(header(store, "t", step=1).ref, "t")
    assert (store.head("t"), again.next) == (again.ref, ("b",))
    ran.clear()
    assert run_on(path, graphs.chain(ran), "t")[2] == {"log": list("abcdef"), "n": 6}
    assert ran == list("bcdef")


def test_untouched_channels_keep_their_bytes(path: Path, opened: Open) -> None:
    record(path, graphs.chat([]), "t", graphs.first_message())
    store = opened()
    base = header(store, "t", step=2)
    fork = store.fork(base.ref, "fork", [Change("change", ("turn",), 2, 4)])

    def parts(ref: Ref) -> dict[str, dict[str, bytes]]:
        blob = next(row[5] for row in rows_of(path, ref.thread) if row[1:3] == (ref.ns, ref.id))
        assert isinstance(blob, bytes)
        top = {part.key: part.raw for part in splice.split_map(blob)}
        inner = ("channel_values", "channel_versions", "versions_seen")
        return {name: {part.key: part.raw for part in splice.split_map(top[name])} for name in inner}

    before, after = parts(base.ref), parts(fork.ref)
    for part in ("channel_values", "channel_versions"):
        assert list(after[part]) == list(before[part])
        assert {name for name in before[part] if before[part][name] != after[part][name]} == {"turn"}
    assert after["versions_seen"] == before["versions_seen"]


def test_an_edited_message_keeps_its_class(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.chat(ran)
    record(path, graph, "t", graphs.first_message())
    store = opened()
    base = header(store, "t", step=2)
    messages = store.load(base.ref).state["messages"]
    assert [type(one) for one in messages] == [Tagged] * 3

    changes = [
        Change("change", ("messages", 2, "content"), "answer 2", "another answer"),
        Change("remove", ("messages", 1), messages[1]),
    ]
    fork = store.fork(base.ref, "fork", changes)

    after = store.load(fork.ref).state["messages"]
    assert after[0] == messages[0]
    ran.clear()
    values, coming, end = run_on(path, graph, "fork")
    assert [(type(one).__name__, one.content) for one in values["messages"]] == [
        ("HumanMessage", "hello"),
        ("AIMessage", "another answer"),
    ]
    assert coming == ("agent",)
    assert ran[0] == "another answer"
    assert [one.content for one in end["messages"]][-1] == "answer 5"


def test_channels_can_be_added_and_taken_away(path: Path, opened: Open) -> None:
    graph = graphs.chain([])
    record(path, graph, "t", {"log": []})
    store = opened()
    assert "n" not in store.load(header(store, "t", step=0).ref).state
    more = store.fork(header(store, "t", step=0).ref, "more", [Change("add", ("n",), new=10)])
    less = store.fork(header(store, "t", step=3).ref, "less", [Change("remove", ("n",), 3)])
    assert store.load(more.ref).state == {"log": [], "n": 10}
    assert store.load(less.ref).state == {"log": ["a", "b", "c"]}
    assert run_on(path, graph, "more")[2]["n"] == 16
    assert run_on(path, graph, "less")[2] == {"log": list("abcdef"), "n": 3}


# --- what ran at the base


def test_with_its_results_kept_the_forks_step_is_not_run_again(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    store = opened()
    store.fork(header(store, "t", step=3).ref, "fork", keep_results=True)
    ran.clear()
    assert run_on(path, graph, "fork")[2] == {"log": list("abcdef"), "n": 6}
    assert ran == ["e", "f"]


def test_a_fork_before_sends_are_done_runs_them_all(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.fan_out(ran)
    record(path, graph, "t", {"log": []})
    store = opened()
    base = header(store, "t", step=1)
    assert base.next == ("worker",) * 5
    fork = store.fork(base.ref, "fork", [Change("change", ("log", 0), "split", "SPLIT")])
    assert fork.next == base.next
    ran.clear()
    values, coming, end = run_on(path, graph, "fork")
    assert (values["log"], coming) == (["SPLIT"], ("worker",) * 5)
    assert sorted(ran) == ["join", *(f"worker {number}" for number in range(5))]
    assert end["log"] == ["SPLIT", *(f"worker {number}" for number in range(5)), "join"]


def test_open_questions_stay_open_in_a_copy_of_the_tip(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.asking(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    store = opened()
    tip = header(store, "t", step=1)
    fork = store.fork(tip.ref, "fork")
    assert fork.status == Status.WAITING
    assert [task.status for task in store.load(fork.ref).tasks] == ["waiting", "done"]
    ran.clear()
    with saver_of(path) as saver:
        app = graph.compile(checkpointer=saver)
        assert [one.value for one in app.get_state(config("fork")).interrupts] == [{"question": "pay?"}]
        app.invoke(Command(resume="yes"), config("fork"))
        assert ran == ["ask"]
        assert store.load(store.head("fork")).header.status == Status.WAITING
        end = app.invoke(Command(resume="me"), config("fork"))
    assert (end["log"], ran) == (["prepare", "yes", "me", "audit", "pay"], ["ask", "ask", "pay"])
    assert store.headers("t").items[0].status == Status.WAITING


def test_questions_are_asked_again_where_the_base_went_on(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.asking(ran)
    with saver_of(path) as saver:
        app = graph.compile(checkpointer=saver)
        for value in ({"log": [], "n": 0}, Command(resume="yes"), Command(resume="me")):
            app.invoke(value, config("t"))
    store = opened()
    base = header(store, "t", step=1)
    assert (base.status, base.next) == (Status.DONE, ("ask", "audit"))
    fork = store.fork(base.ref, "fork")
    assert (fork.status, fork.next) == (Status.UNFINISHED, ("ask", "audit"))
    ran.clear()
    run_on(path, graph, "fork")
    assert sorted(ran) == ["ask", "audit"]
    assert store.load(fork.ref).header.status == Status.WAITING


def test_a_failed_step_is_tried_again_with_its_finished_siblings(path: Path, opened: Open) -> None:
    ran: list[str] = []
    broken = {"now": True}
    graph = graphs.failing(ran, broken)
    with pytest.raises(ValueError, match="429"):
        record(path, graph, "t", {"log": [], "n": 0})
    store = opened()
    tip = header(store, "t", step=1)
    assert tip.status == Status.FAILED
    copied = store.fork(tip.ref, "copied")
    edited = store.fork(tip.ref, "edited", [Change("change", ("n",), 1, 7)])
    assert (copied.status, edited.status) == (Status.FAILED, Status.UNFINISHED)
    broken["now"] = False
    ran.clear()
    assert run_on(path, graph, "copied")[2]["log"] == ["a", "bad", "good", "z"]
    assert ran == ["bad", "z"]
    ran.clear()
    assert run_on(path, graph, "edited")[2]["n"] == 9
    assert sorted(ran) == ["bad", "good", "z"]


# --- subgraphs


def test_a_fork_before_a_subgraph_runs_the_whole_of_it(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    store = opened()
    assert len(store.headers("t").items) == 10
    fork = store.fork(header(store, "t", step=1).ref, "fork")
    assert fork.next == ("s",)
    assert {one.ref.ns for one in store.headers("fork").items} == {""}
    ran.clear()
    run_on(path, graph, "fork")
    assert ran == ["p", "q", "r", "z"]


def test_a_fork_behind_a_subgraph_takes_its_history_along(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    store = opened()
    inner = {one.ref.ns: one for one in store.headers("t").items if one.ref.ns}
    store.fork(header(store, "t", step=2).ref, "fork")
    copied = [one for one in store.headers("fork").items if one.ref.ns]
    assert len(copied) == 5
    assert {one.ref.ns for one in copied} == set(inner)
    ran.clear()
    run_on(path, graph, "fork")
    assert ran == ["z"]


@pytest.mark.parametrize("changes", [(), (Change("change", ("n",), 2, 50),)])
def test_a_fork_within_a_subgraph_goes_on_within_it(path: Path, opened: Open, changes: tuple[Change, ...]) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(path, graph, "t", {"log": [], "n": 0})
    original = rows_of(path, "t")
    store = opened()
    ns = next(one.ref.ns for one in store.headers("t").items if one.ref.ns)
    base = header(store, "t", step=1, ns=ns)
    assert base.next == ("q",)
    fork = store.fork(base.ref, "fork", changes)
    assert (fork.ref.ns, fork.next) == (ns, ("q",))
    assert store.head("fork").id == header(store, "t", step=1).ref.id
    ran.clear()
    end = run_on(path, graph, "fork")[2]
    assert ran == ["q", "r", "z"]
    assert end["n"] == (5 if not changes else 53)
    assert rows_of(path, "t") == original


def test_an_edit_within_a_subgraph_that_is_over_is_refused(path: Path, opened: Open) -> None:
    record(path, graphs.nested([]), "t", {"log": [], "n": 0})
    original = rows_of(path, "t")
    store = opened()
    base = next(one for one in store.headers("t").items if one.ref.ns)
    with pytest.raises(Unsupported, match="is over"):
        store.fork(base.ref, "t", [Change("change", ("n",), 4, 0)])
    assert rows_of(path, "t") == original


def test_an_edit_within_a_subgraph_that_waits_is_read_by_it(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran, inner=graphs.asking(ran))
    record(path, graph, "t", {"log": [], "n": 0})
    store = opened()
    inner = next(one for one in store.headers("t").items if one.ref.ns)
    assert (inner.status, inner.next) == (Status.WAITING, ("ask", "audit"))
    edit = store.fork(inner.ref, "t", [Change("change", ("n",), 2, 40)])
    assert edit.ref.ns == inner.ref.ns
    with saver_of(path) as saver:
        app = graph.compile(checkpointer=saver)
        for value in (None, Command(resume="yes"), Command(resume="me")):
            end = app.invoke(value, config("t"))
    assert end["n"] == 43


def test_a_persistent_subgraph_remembers_what_lies_before_the_fork(path: Path, opened: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran, persistent=True)
    with saver_of(path) as saver:
        app = graph.compile(checkpointer=saver)
        app.invoke({"log": [], "n": 0}, config("t"))
        app.invoke({"log": ["again"]}, config("t"))
    store = opened()
    memory = [one for one in store.headers("t").items if one.ref.ns == "s"]
    assert len(memory) == 10
    base = next(one for one in store.headers("t").items if one.step == 6 and not one.ref.ns)
    assert base.next == ("s",)
    store.fork(base.ref, "fork")
    copied = [one for one in store.headers("fork").items if one.ref.ns == "s"]
    assert [one.ref.id for one in copied] == [one.ref.id for one in memory[5:]]
    # Stock LangGraph takes invoke(None) at a head for the resumption of its subgraphs too, and a persistent one that
    # has finished before then has nothing to do (the same after a breakpoint of its own); addressed by id, it runs.
    ran.clear()
    with saver_of(path) as saver:
        graph.compile(checkpointer=saver).invoke(None, config("fork", checkpoint_ns="", checkpoint_id=base.ref.id))
    assert ran == ["p", "q", "r", "z"]


# --- delta channels


@pytest.mark.parametrize("frequency", [100, 3])
def test_a_delta_channel_is_the_same_in_every_kind_of_fork(path: Path, opened: Open, frequency: int) -> None:
    ran: list[str] = []
    graph = graphs.delta_chain(ran, frequency)
    record(path, graph, "t", {"log": ["in"], "n": 0})
    store = opened()
    base = header(store, "t", step=3)
    edit = [Change("change", ("n",), 3, 100)]
    store.fork(base.ref, "copied")
    edited = store.fork(base.ref, "edited", edit)
    assert edited.parent == Ref("edited", "", base.parent.id if base.parent else "")
    store.fork(base.ref, "t", edit)
    for thread, n in (("copied", 3), ("edited", 100), ("t", 100)):
        ran.clear()
        values, coming, end = run_on(path, graph, thread)
        assert (values, coming) == ({"log": ["in", "a", "b", "c"], "n": n}, ("d",))
        assert (end, ran) == ({"log": ["in", *"abcdef"], "n": n + 3}, ["d", "e", "f"])


def test_a_second_turn_goes_on_from_a_fork_of_the_first(path: Path, opened: Open) -> None:
    graph = graphs.delta_chain([])
    record(path, graph, "t", {"log": ["one"], "n": 0})
    record(path, graph, "t", {"log": ["two"]})
    store = opened()
    finished = next(one for one in store.headers("t").items if one.step == 6)
    assert header(store, "t", step=7).nodes == ("__input__",)
    store.fork(finished.ref, "fork")
    assert run_on(path, graph, "fork", {"log": ["other"]})[2]["log"] == ["one", *"abcdef", "other", *"abcdef"]


def test_an_edited_delta_channel_is_stored_whole(path: Path, opened: Open) -> None:
    graph = graphs.delta_chain([])
    record(path, graph, "t", {"log": ["in"], "n": 0})
    store = opened()
    base = header(store, "t", step=3)
    before = store.load(base.ref).state["log"]
    assert isinstance(before, Partial)
    fork = store.fork(base.ref, "fork", [Change("change", ("log",), before, ["new"])])
    assert store.load(fork.ref).state["log"] == ["new"]
    assert "counters_since_delta_snapshot" not in fork.meta
    values, _, end = run_on(path, graph, "fork")
    assert (values["log"], end["log"]) == (["new"], ["new", *"def"])
    with pytest.raises(Invalid, match="log"):
        store.fork(base.ref, "other", [Change("change", ("log", 0), "in", "out")])


# --- the functional API


def test_the_result_of_a_workflow_is_what_its_next_call_is_given(path: Path, opened: Open) -> None:
    ran: list[str] = []
    with saver_of(path) as saver:
        graphs.workflow(ran, saver).invoke(3, config("t"))
    store = opened()
    head = store.load(store.head("t"))
    assert head.state == {"total": 6}
    fork = store.fork(head.header.ref, "fork", [Change("change", ("total",), 6, 100)])
    assert store.load(fork.ref).state == {"total": 100}
    with saver_of(path) as saver:
        assert graphs.workflow(ran, saver).invoke(1, config("fork")) == {"total": 102}
        assert graphs.workflow(ran, saver).invoke(1, config("t")) == {"total": 8}


# --- beside a running application


def test_an_application_that_has_the_file_open_sees_the_fork(path: Path, opened: Open) -> None:
    ran: list[str] = []
    with saver_of(path) as saver:
        app = graphs.chain(ran).compile(checkpointer=saver)
        app.invoke({"log": [], "n": 0}, config("t"))
        store = opened()
        base = header(store, "t", step=3)
        store.fork(base.ref, "fork", [Change("change", ("n",), 3, 100)])
        app.invoke({"log": ["again"]}, config("t"))
        assert len(store.headers("t").items) == 16
        ran.clear()
        assert app.invoke(None, config("fork"))["n"] == 103
        assert ran == ["d", "e", "f"]


def test_an_application_in_the_middle_of_a_write_is_waited_for(path: Path, opened: Open) -> None:
    record(path, graphs.chain([]), "t", {"log": [], "n": 0})
    store = opened()
    base = header(store, "t", step=3)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            fork = pool.submit(store.fork, base.ref, "fork")
            assert store.load(base.ref).header == base
            assert not fork.done()
            other.execute("COMMIT")
            assert fork.result().ref.thread == "fork"


def test_a_value_of_every_kind_survives_an_edit_beside_it(path: Path, opened: Open) -> None:
    unpack(CURRENT, path.parent).rename(path)
    store = opened()
    for thread in ("odd-types", "odd-numpy", "odd-nan", "big-document"):
        head = store.load(store.head(thread))
        edited = store.load(store.fork(head.header.ref, f"{thread} edited", [Change("add", ("new",), new="值")]).ref)
        assert set(edited.state) == {*head.state, "new"}
        assert all(repr(edited.state[name]) == repr(value) for name, value in head.state.items())
        with saver_of(path) as saver:
            # Its own reader, on a file of ours: values of known classes come out as they went in.
            before, after = (saver.get_tuple(config(name)) for name in (thread, f"{thread} edited"))
        assert before is not None
        assert after is not None
        assert after.checkpoint["channel_values"]["new"] == "值"
        assert set(before.checkpoint["channel_values"]) < set(after.checkpoint["channel_values"])


# --- refusals: each leaves the file as it was


def test_what_cannot_be_written_writes_nothing(path: Path, opened: Open) -> None:
    record(path, graphs.chain([]), "t", {"log": [], "n": 0})
    record(path, graphs.chain([]), "other", {"log": [], "n": 0})
    store = opened()
    ref = header(store, "t", step=3).ref
    before = rows_of(path, "t"), rows_of(path, "other")
    with pytest.raises(Conflict, match="other"):
        store.fork(ref, "other")
    with pytest.raises(NotFound):
        store.fork(ref._replace(id="1f1ec304-5c98-68fb-8003-3e575cea2e1d"), "fork")
    with pytest.raises(NotFound):
        store.fork(ref._replace(thread="nobody"), "fork")
    for change, reason in (
        (Change("change", ("log", 9), None, "x"), "log"),
        (Change("change", ("n",), 3, 2**64), "cannot store n as msgpack"),
        (Change("change", ("log", 0), "a", "\ud800"), r"cannot store log\[0\] as msgpack"),
        (Change("add", ("branch:to:x",), new=None), "channel"),
        (Change("change", (), {}, []), "state"),
    ):
        with pytest.raises(Invalid, match=reason):
            store.fork(ref, "fork", [change])
        with pytest.raises(Invalid, match=reason):
            store.fork(ref, "t", [change])
    for name in ("", "\ud800"):
        with pytest.raises(Invalid):
            store.fork(ref, name)
    with pytest.raises(Unsupported):
        store.append(NewCheckpoint(Ref("t", "", "x"), None, {}, "fork"))
    assert (rows_of(path, "t"), rows_of(path, "other"), rows_of(path, "fork")) == (*before, [])
    assert len(store.threads().items) == 2


def test_a_store_opened_for_looking_refuses_to_write(path: Path) -> None:
    record(path, graphs.chain([]), "t", {"log": [], "n": 0})
    store = LangGraphStore(path)
    with pytest.raises(ReadOnly):
        store.fork(store.head("t"), "fork")
    store.close()


def test_nothing_of_ours_is_left_beside_the_file(path: Path, opened: Open) -> None:
    record(path, graphs.chain([]), "t", {"log": [], "n": 0})
    store = opened()
    store.fork(header(store, "t", step=3).ref, "fork", [Change("change", ("n",), 3, 4)])
    store.load(store.head("fork"))
    assert [one.name for one in path.parent.iterdir()] == [path.name]
