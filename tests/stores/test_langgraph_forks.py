"""Forks and edits made by us, read back and run on by stock LangGraph."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from stores.codec import splice
from stores.model import Change, Ref, Status, Tagged
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_files import CURRENT, rows_of, unpack
from tests.stores.langgraph_graphs import config, record, saver_of
from tests.stores.langgraph_views import Open, header, run_on

# --- the plain case: a → … → f, forked after c


def test_a_fork_runs_on_from_its_base_and_leaves_the_original(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    original = rows_of(agent, "t")
    store = opened_agent()
    base = header(store, "t", step=3)

    fork = store.fork(base.ref, "fork")

    assert fork.ref == Ref("fork", "", base.ref.id)
    assert (fork.next, fork.status, fork.nodes) == (("d",), Status.UNFINISHED, ("c",))
    assert store.head("fork") == fork.ref
    assert len(store.headers("fork").items) == 5
    ran.clear()
    values, coming, end = run_on(agent, graph, "fork")
    assert (values, coming) == ({"log": ["a", "b", "c"], "n": 3}, ("d",))
    assert (end, ran) == ({"log": list("abcdef"), "n": 6}, ["d", "e", "f"])
    assert rows_of(agent, "t") == original
    assert store.headers("fork").items[0].nodes == ("f",)


def test_an_edited_fork_shows_the_edit_and_runs_on_with_it(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    original = rows_of(agent, "t")
    store = opened_agent()
    base = header(store, "t", step=3)

    changes = [Change("change", ("n",), 3, 100), Change("add", ("log", 0), new="first")]
    fork = store.fork(base.ref, "fork", changes, meta={"author": "me"})

    assert (fork.source, fork.step, fork.parent) == ("fork", 4, Ref("fork", "", base.ref.id))
    assert (fork.next, fork.meta) == (base.next, {"parents": {}, "author": "me"})
    assert fork.ref.id > base.ref.id
    assert store.load(fork.ref).state == {"log": ["first", "a", "b", "c"], "n": 100}
    assert store.load(Ref("fork", "", base.ref.id)).state == store.load(base.ref).state
    ran.clear()
    values, coming, end = run_on(agent, graph, "fork")
    assert (values, coming) == ({"log": ["first", "a", "b", "c"], "n": 100}, ("d",))
    assert (end["n"], ran) == (103, ["d", "e", "f"])
    assert rows_of(agent, "t") == original


def test_an_edit_in_the_thread_becomes_its_head_and_changes_no_row(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    base = store.fork(header(store, "t", step=3).ref, "u")
    original = rows_of(agent, "u")

    edit = store.fork(base.ref, "u", [Change("remove", ("log", 1), "b")])

    assert store.head("u") == edit.ref
    assert (edit.parent, edit.source, edit.next) == (base.ref, "fork", ("d",))
    assert set(original) < set(rows_of(agent, "u"))
    assert len(rows_of(agent, "u")) == len(original) + 1
    ran.clear()
    assert run_on(agent, graph, "u")[2] == {"log": list("acdef"), "n": 6}
    assert ran == ["d", "e", "f"]


def test_a_removed_channel_has_no_value(agent: Path, opened_agent: Open) -> None:
    """LangGraph puts a reducer's channel together again from earlier steps where it has a version and no value."""
    record(agent, graphs.chain([]), "t", {"log": [], "n": 0})
    store = opened_agent()
    changes = [Change("remove", ("n",), 3), Change("remove", ("log",))]
    fork = store.fork(header(store, "t", step=3).ref, "fork", changes)
    assert store.load(fork.ref).state == {}
    assert run_on(agent, graphs.chain([]), "fork")[0] == {"log": []}
    assert run_on(agent, graphs.chain([]), "fork")[0] == {"log": ["d", "e", "f"], "n": 3}


def test_untouched_channels_keep_their_bytes(agent: Path, opened_agent: Open) -> None:
    record(agent, graphs.chat([]), "t", graphs.first_message())
    store = opened_agent()
    base = header(store, "t", step=2)
    fork = store.fork(base.ref, "fork", [Change("change", ("turn",), 2, 4)])

    def parts(ref: Ref) -> dict[str, dict[str, bytes]]:
        blob = next(row[5] for row in rows_of(agent, ref.thread) if row[1:3] == (ref.ns, ref.id))
        assert isinstance(blob, bytes)
        top = {part.key: part.raw for part in splice.split_map(blob)}
        inner = ("channel_values", "channel_versions", "versions_seen")
        return {name: {part.key: part.raw for part in splice.split_map(top[name])} for name in inner}

    before, after = parts(base.ref), parts(fork.ref)
    for part in ("channel_values", "channel_versions"):
        assert list(after[part]) == list(before[part])
        assert {name for name in before[part] if before[part][name] != after[part][name]} == {"turn"}
    assert after["versions_seen"] == before["versions_seen"]


def test_an_edited_message_keeps_its_class(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.chat(ran)
    record(agent, graph, "t", graphs.first_message())
    store = opened_agent()
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
    values, coming, end = run_on(agent, graph, "fork")
    assert [(type(one).__name__, one.content) for one in values["messages"]] == [
        ("HumanMessage", "hello"),
        ("AIMessage", "another answer"),
    ]
    assert coming == ("agent",)
    assert ran[0] == "another answer"
    assert [one.content for one in end["messages"]][-1] == "answer 5"


def test_channels_can_be_added_and_taken_away(agent: Path, opened_agent: Open) -> None:
    graph = graphs.chain([])
    record(agent, graph, "t", {"log": []})
    store = opened_agent()
    assert "n" not in store.load(header(store, "t", step=0).ref).state
    more = store.fork(header(store, "t", step=0).ref, "more", [Change("add", ("n",), new=10)])
    less = store.fork(header(store, "t", step=3).ref, "less", [Change("remove", ("n",), 3)])
    assert store.load(more.ref).state == {"log": [], "n": 10}
    assert store.load(less.ref).state == {"log": ["a", "b", "c"]}
    assert run_on(agent, graph, "more")[2]["n"] == 16
    assert run_on(agent, graph, "less")[2] == {"log": list("abcdef"), "n": 3}


# --- what ran at the base


def test_with_its_results_kept_the_forks_step_is_not_run_again(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    store.fork(header(store, "t", step=3).ref, "fork", keep_results=True)
    ran.clear()
    assert run_on(agent, graph, "fork")[2] == {"log": list("abcdef"), "n": 6}
    assert ran == ["e", "f"]


def test_a_fork_before_sends_are_done_runs_them_all(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.fan_out(ran)
    record(agent, graph, "t", {"log": []})
    store = opened_agent()
    base = header(store, "t", step=1)
    assert base.next == ("worker",) * 5
    fork = store.fork(base.ref, "fork", [Change("change", ("log", 0), "split", "SPLIT")])
    assert fork.next == base.next
    ran.clear()
    values, coming, end = run_on(agent, graph, "fork")
    assert (values["log"], coming) == (["SPLIT"], ("worker",) * 5)
    assert sorted(ran) == ["join", *(f"worker {number}" for number in range(5))]
    assert end["log"] == ["SPLIT", *(f"worker {number}" for number in range(5)), "join"]


def test_open_questions_stay_open_in_a_copy_of_the_tip(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.asking(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    tip = header(store, "t", step=1)
    fork = store.fork(tip.ref, "fork")
    assert fork.status == Status.WAITING
    assert [task.status for task in store.load(fork.ref).tasks] == ["waiting", "done"]
    ran.clear()
    with saver_of(agent) as saver:
        app = graph.compile(checkpointer=saver)
        assert [one.value for one in app.get_state(config("fork")).interrupts] == [{"question": "pay?"}]
        app.invoke(Command(resume="yes"), config("fork"))
        assert ran == ["ask"]
        assert store.load(store.head("fork")).header.status == Status.WAITING
        end = app.invoke(Command(resume="me"), config("fork"))
    assert (end["log"], ran) == (["prepare", "yes", "me", "audit", "pay"], ["ask", "ask", "pay"])
    assert store.headers("t").items[0].status == Status.WAITING


def test_questions_are_asked_again_where_the_base_went_on(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.asking(ran)
    with saver_of(agent) as saver:
        app = graph.compile(checkpointer=saver)
        for value in ({"log": [], "n": 0}, Command(resume="yes"), Command(resume="me")):
            app.invoke(value, config("t"))
    store = opened_agent()
    base = header(store, "t", step=1)
    assert (base.status, base.next) == (Status.DONE, ("ask", "audit"))
    fork = store.fork(base.ref, "fork")
    assert (fork.status, fork.next) == (Status.UNFINISHED, ("ask", "audit"))
    ran.clear()
    run_on(agent, graph, "fork")
    assert sorted(ran) == ["ask", "audit"]
    assert store.load(fork.ref).header.status == Status.WAITING


def test_a_failed_step_is_tried_again_with_its_finished_siblings(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    broken = {"now": True}
    graph = graphs.failing(ran, broken)
    with pytest.raises(ValueError, match="429"):
        record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    tip = header(store, "t", step=1)
    assert tip.status == Status.FAILED
    copied = store.fork(tip.ref, "copied")
    edited = store.fork(tip.ref, "edited", [Change("change", ("n",), 1, 7)])
    assert (copied.status, edited.status) == (Status.FAILED, Status.UNFINISHED)
    broken["now"] = False
    ran.clear()
    assert run_on(agent, graph, "copied")[2]["log"] == ["a", "bad", "good", "z"]
    assert ran == ["bad", "z"]
    ran.clear()
    assert run_on(agent, graph, "edited")[2]["n"] == 9
    assert sorted(ran) == ["bad", "good", "z"]


def test_a_step_whose_updates_were_refused_is_failed_and_says_why(agent: Path, opened_agent: Open) -> None:
    graph = graphs.clashing([])
    with pytest.raises(InvalidUpdateError):
        record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    head = store.load(store.head("t"))
    assert {task.node: task.status for task in head.tasks} == {"x": "done", "y": "done"}
    assert head.header.status == Status.FAILED
    assert head.header.problem is not None
    assert "InvalidUpdateError" in head.header.problem
    assert store.threads().items[0].status == Status.FAILED


# --- beside a running application


def test_an_application_that_has_the_file_open_sees_the_fork(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    with saver_of(agent) as saver:
        app = graphs.chain(ran).compile(checkpointer=saver)
        app.invoke({"log": [], "n": 0}, config("t"))
        store = opened_agent()
        base = header(store, "t", step=3)
        store.fork(base.ref, "fork", [Change("change", ("n",), 3, 100)])
        app.invoke({"log": ["again"]}, config("t"))
        assert len(store.headers("t").items) == 16
        ran.clear()
        assert app.invoke(None, config("fork"))["n"] == 103
        assert ran == ["d", "e", "f"]


def test_an_application_in_the_middle_of_a_write_is_waited_for(agent: Path, opened_agent: Open) -> None:
    record(agent, graphs.chain([]), "t", {"log": [], "n": 0})
    store = opened_agent()
    base = header(store, "t", step=3)
    with contextlib.closing(sqlite3.connect(agent, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            fork = pool.submit(store.fork, base.ref, "fork")
            assert store.load(base.ref).header == base
            assert not fork.done()
            other.execute("COMMIT")
            assert fork.result().ref.thread == "fork"


def test_a_value_of_every_kind_survives_an_edit_beside_it(agent: Path, opened_agent: Open) -> None:
    unpack(CURRENT, agent.parent).rename(agent)
    store = opened_agent()
    for thread in ("odd-types", "odd-numpy", "odd-nan", "big-document"):
        head = store.load(store.head(thread))
        edited = store.load(store.fork(head.header.ref, f"{thread} edited", [Change("add", ("new",), new="值")]).ref)
        assert set(edited.state) == {*head.state, "new"}
        assert all(repr(edited.state[name]) == repr(value) for name, value in head.state.items())
        with saver_of(agent) as saver:
            # Its own reader, on a file of ours: values of known classes come out as they went in.
            before, after = (saver.get_tuple(config(name)) for name in (thread, f"{thread} edited"))
        assert before is not None
        assert after is not None
        assert after.checkpoint["channel_values"]["new"] == "值"
        assert set(before.checkpoint["channel_values"]) < set(after.checkpoint["channel_values"])
