"""Forks and edits where values or steps lie elsewhere: subgraphs, delta channels, the functional API."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.types import Command

from stores.errors import Invalid, Unsupported
from stores.model import Change, Partial, Ref, Status
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_files import rows_of
from tests.stores.langgraph_graphs import config, record, saver_of
from tests.stores.langgraph_views import Open, header, run_on

# --- subgraphs


def test_a_fork_before_a_subgraph_runs_the_whole_of_it(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    assert len(store.headers("t").items) == 10
    fork = store.fork(header(store, "t", step=1).ref, "fork")
    assert fork.next == ("s",)
    assert {one.ref.ns for one in store.headers("fork").items} == {""}
    ran.clear()
    run_on(agent, graph, "fork")
    assert ran == ["p", "q", "r", "z"]


def test_with_its_results_kept_a_fork_before_a_subgraph_has_it_behind(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    store.fork(header(store, "t", step=1).ref, "fork", keep_results=True)
    assert len([one for one in store.headers("fork").items if one.ref.ns]) == 5
    ran.clear()
    run_on(agent, graph, "fork")
    assert ran == ["z"]


def test_a_fork_behind_a_subgraph_takes_its_history_along(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    inner = {one.ref.ns: one for one in store.headers("t").items if one.ref.ns}
    store.fork(header(store, "t", step=2).ref, "fork")
    copied = [one for one in store.headers("fork").items if one.ref.ns]
    assert len(copied) == 5
    assert {one.ref.ns for one in copied} == set(inner)
    ran.clear()
    run_on(agent, graph, "fork")
    assert ran == ["z"]


@pytest.mark.parametrize("changes", [(), (Change("change", ("n",), 2, 50),)])
def test_a_fork_within_a_subgraph_goes_on_within_it(
    agent: Path, opened_agent: Open, changes: tuple[Change, ...]
) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(agent, graph, "t", {"log": [], "n": 0})
    original = rows_of(agent, "t")
    store = opened_agent()
    ns = next(one.ref.ns for one in store.headers("t").items if one.ref.ns)
    base = header(store, "t", step=1, ns=ns)
    assert base.next == ("q",)
    fork = store.fork(base.ref, "fork", changes)
    assert (fork.ref.ns, fork.next) == (ns, ("q",))
    assert store.head("fork").id == header(store, "t", step=1).ref.id
    ran.clear()
    end = run_on(agent, graph, "fork")[2]
    assert ran == ["q", "r", "z"]
    assert end["n"] == (5 if not changes else 53)
    assert rows_of(agent, "t") == original


def test_an_edit_within_a_subgraph_that_is_over_is_refused(agent: Path, opened_agent: Open) -> None:
    record(agent, graphs.nested([]), "t", {"log": [], "n": 0})
    original = rows_of(agent, "t")
    store = opened_agent()
    base = next(one for one in store.headers("t").items if one.ref.ns)
    with pytest.raises(Unsupported, match="is over"):
        store.fork(base.ref, "t", [Change("change", ("n",), 4, 0)])
    assert rows_of(agent, "t") == original


def test_an_edit_within_a_subgraph_that_waits_is_read_by_it(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran, inner=graphs.asking(ran))
    record(agent, graph, "t", {"log": [], "n": 0})
    store = opened_agent()
    inner = next(one for one in store.headers("t").items if one.ref.ns)
    assert (inner.status, inner.next) == (Status.WAITING, ("ask", "audit"))
    edit = store.fork(inner.ref, "t", [Change("change", ("n",), 2, 40)])
    assert edit.ref.ns == inner.ref.ns
    with saver_of(agent) as saver:
        app = graph.compile(checkpointer=saver)
        for value in (None, Command(resume="yes"), Command(resume="me")):
            end = app.invoke(value, config("t"))
    assert end["n"] == 43


def test_a_persistent_subgraph_remembers_what_lies_before_the_fork(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran, persistent=True)
    with saver_of(agent) as saver:
        app = graph.compile(checkpointer=saver)
        app.invoke({"log": [], "n": 0}, config("t"))
        app.invoke({"log": ["again"]}, config("t"))
    store = opened_agent()
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
    with saver_of(agent) as saver:
        graph.compile(checkpointer=saver).invoke(None, config("fork", checkpoint_ns="", checkpoint_id=base.ref.id))
    assert ran == ["p", "q", "r", "z"]


# --- delta channels


@pytest.mark.parametrize("frequency", [100, 3])
def test_a_delta_channel_is_the_same_in_every_kind_of_fork(agent: Path, opened_agent: Open, frequency: int) -> None:
    ran: list[str] = []
    graph = graphs.delta_chain(ran, frequency)
    record(agent, graph, "t", {"log": ["in"], "n": 0})
    store = opened_agent()
    base = header(store, "t", step=3)
    edit = [Change("change", ("n",), 3, 100)]
    store.fork(base.ref, "copied")
    edited = store.fork(base.ref, "edited", edit)
    assert edited.parent == Ref("edited", "", base.parent.id if base.parent else "")
    store.fork(store.fork(base.ref, "t2").ref, "t2", edit)
    for thread, n in (("copied", 3), ("edited", 100), ("t2", 100)):
        ran.clear()
        values, coming, end = run_on(agent, graph, thread)
        assert (values, coming) == ({"log": ["in", "a", "b", "c"], "n": n}, ("d",))
        assert (end, ran) == ({"log": ["in", *"abcdef"], "n": n + 3}, ["d", "e", "f"])


def test_a_second_turn_goes_on_from_a_fork_of_the_first(agent: Path, opened_agent: Open) -> None:
    graph = graphs.delta_chain([])
    record(agent, graph, "t", {"log": ["one"], "n": 0})
    record(agent, graph, "t", {"log": ["two"]})
    store = opened_agent()
    finished = next(one for one in store.headers("t").items if one.step == 6)
    assert header(store, "t", step=7).nodes == ("__input__",)
    store.fork(finished.ref, "fork")
    assert run_on(agent, graph, "fork", {"log": ["other"]})[2]["log"] == ["one", *"abcdef", "other", *"abcdef"]


def test_an_edited_delta_channel_is_stored_whole(agent: Path, opened_agent: Open) -> None:
    graph = graphs.delta_chain([])
    record(agent, graph, "t", {"log": ["in"], "n": 0})
    store = opened_agent()
    base = header(store, "t", step=3)
    before = store.load(base.ref).state["log"]
    assert isinstance(before, Partial)
    fork = store.fork(base.ref, "fork", [Change("change", ("log",), before, ["new"])])
    assert store.load(fork.ref).state["log"] == ["new"]
    assert "counters_since_delta_snapshot" not in fork.meta
    values, _, end = run_on(agent, graph, "fork")
    assert (values["log"], end["log"]) == (["new"], ["new", *"def"])
    with pytest.raises(Invalid, match="log"):
        store.fork(base.ref, "other", [Change("change", ("log", 0), "in", "out")])


# --- the functional API


def test_the_result_of_a_workflow_is_what_its_next_call_is_given(agent: Path, opened_agent: Open) -> None:
    ran: list[str] = []
    with saver_of(agent) as saver:
        graphs.workflow(ran, saver).invoke(3, config("t"))
    store = opened_agent()
    head = store.load(store.head("t"))
    assert head.state == {"total": 6}
    fork = store.fork(head.header.ref, "fork", [Change("change", ("total",), 6, 100)])
    assert store.load(fork.ref).state == {"total": 100}
    with saver_of(agent) as saver:
        assert graphs.workflow(ran, saver).invoke(1, config("fork")) == {"total": 102}
        assert graphs.workflow(ran, saver).invoke(1, config("t")) == {"total": 8}
