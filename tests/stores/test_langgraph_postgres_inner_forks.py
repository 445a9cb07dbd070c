"""Forks and edits in PostgreSQL where a thread is more than its root: subgraphs, sends, delta channels, calls."""

from __future__ import annotations

import pytest
from langgraph.types import Command

from stores.langgraph.postgres import LangGraphPostgresStore
from stores.model import Change, Partial, Ref, Status
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_graphs import config
from tests.stores.langgraph_postgres import rows_of
from tests.stores.langgraph_stock import header, record, run_on, saver_of
from tests.stores.langgraph_stock import store as store


def test_subgraphs_come_along_and_start_anew_below_the_base(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    store.fork(header(store, "t", step=1).ref, "before")
    after = store.fork(header(store, "t", step=2).ref, "after")
    assert {one.ref.ns.partition(":")[0] for one in store.headers("before").items} == {""}
    assert {one.ref.ns.partition(":")[0] for one in store.headers("after").items} == {"", "s"}
    inner = next(one for one in store.headers("after").items if one.ref.ns)
    assert inner.owner == Ref("after", "", after.parent.id if after.parent else "")
    ran.clear()
    assert run_on(database, graph, "before")[2]["log"][-1] == "z"
    assert ran == [*"pqr", "z"]


def test_pending_sends_run_in_a_fork(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.fan_out(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    fork = store.fork(header(store, "t", step=1).ref, "fork", [Change("change", ("n",), 5, 6)])
    assert fork.next == ("worker",) * 5
    ran.clear()
    run_on(database, graph, "fork")
    assert sorted(ran) == ["join", *(f"worker {number}" for number in range(5))]


@pytest.mark.parametrize("frequency", [3, 100])
def test_a_delta_channel_is_the_same_in_every_kind_of_fork(
    store: LangGraphPostgresStore, database: str, frequency: int
) -> None:
    ran: list[str] = []
    graph = graphs.delta_chain(ran, frequency)
    record(database, graph, "t", {"log": ["in"], "n": 0})
    base = header(store, "t", step=3)
    store.fork(base.ref, "copied")
    store.fork(base.ref, "edited", [Change("change", ("n",), 3, 100)])
    before = store.load(base.ref).state["log"]
    store.fork(base.ref, "whole", [Change("change", ("log",), before, ["new"])])
    for thread, n, log in (("copied", 3, ["in", *"abc"]), ("edited", 100, ["in", *"abc"]), ("whole", 3, ["new"])):
        ran.clear()
        values, coming, end = run_on(database, graph, thread)
        assert (values, coming) == ({"log": log, "n": n}, ("d",))
        assert (end, ran) == ({"log": [*log, *"def"], "n": n + 3}, ["d", "e", "f"])
    assert frequency == 3 or isinstance(before, Partial)


@pytest.mark.parametrize("changes", [(), (Change("change", ("n",), 2, 50),)])
def test_a_fork_within_a_subgraph_goes_on_within_it(
    store: LangGraphPostgresStore, database: str, changes: tuple[Change, ...]
) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    original = rows_of(database, "t")
    ns = next(one.ref.ns for one in store.headers("t").items if one.ref.ns)
    fork = store.fork(header(store, "t", step=1, ns=ns).ref, "fork", changes)
    assert (fork.ref.ns, fork.next) == (ns, ("q",))
    ran.clear()
    end = run_on(database, graph, "fork")[2]
    assert ran == ["q", "r", "z"]
    assert end["n"] == (5 if not changes else 53)
    assert rows_of(database, "t") == original


def test_an_edit_within_a_subgraph_that_waits_is_read_by_it(store: LangGraphPostgresStore, database: str) -> None:
    graph = graphs.nested([], inner=graphs.asking([]))
    record(database, graph, "t", {"log": [], "n": 0})
    inner = next(one for one in store.headers("t").items if one.ref.ns)
    assert (inner.status, inner.next) == (Status.WAITING, ("ask", "audit"))
    edit = store.fork(inner.ref, "t", [Change("change", ("n",), 2, 40)])
    assert edit.ref.ns == inner.ref.ns
    for value in (None, Command(resume="yes"), Command(resume="me")):
        end = run_on(database, graph, "t", value)[2]
    assert end["n"] == 43


def test_a_persistent_subgraph_remembers_what_lies_before_the_fork(
    store: LangGraphPostgresStore, database: str
) -> None:
    ran: list[str] = []
    graph = graphs.nested(ran, persistent=True)
    record(database, graph, "t", {"log": [], "n": 0})
    record(database, graph, "t", {"log": ["again"]})
    memory = [one for one in store.headers("t").items if one.ref.ns == "s"]
    base = header(store, "t", step=6)
    assert (len(memory), base.next) == (10, ("s",))
    store.fork(base.ref, "fork")
    copied = [one for one in store.headers("fork").items if one.ref.ns == "s"]
    assert [one.ref.id for one in copied] == [one.ref.id for one in memory[5:]]
    assert [store.load(one.ref).state for one in copied] == [store.load(one.ref).state for one in memory[5:]]


def test_the_result_of_a_workflow_is_what_its_next_call_is_given(store: LangGraphPostgresStore, database: str) -> None:
    with saver_of(database) as saver:
        graphs.workflow([], saver).invoke(3, config("t"))  # type: ignore[arg-type]
    head = store.load(store.head("t"))
    assert head.state == {"total": 6}
    fork = store.fork(head.header.ref, "fork", [Change("change", ("total",), 6, 100)])
    assert store.load(fork.ref).state == {"total": 100}
    with saver_of(database) as saver:
        assert graphs.workflow([], saver).invoke(1, config("fork")) == {"total": 102}  # type: ignore[arg-type]
        assert graphs.workflow([], saver).invoke(1, config("t")) == {"total": 8}  # type: ignore[arg-type]
