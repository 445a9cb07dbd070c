"""A thread in PostgreSQL driven by the user's own graph, in another process, on the tables as they are."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from stores.errors import Conflict, NotFound
from stores.langgraph.postgres import LangGraphPostgresStore
from stores.model import Change
from tests.applications import run_application
from tests.engine.graph_threads import AGENTS, Outcome, records, target
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.langgraph_postgres import opened, rows_of
from tt_debug.engine.events import Event
from tt_debug.engine.graph import describe_graph
from tt_debug.engine.graph_edit import UpdateJob, update_graph
from tt_debug.engine.graph_place import path_of
from tt_debug.engine.graph_run import GraphJob, run_graph

_START = """
import importlib, json, sys
from langgraph.checkpoint.postgres import PostgresSaver
url, graph, how = json.loads(sys.argv[1])
module, _, attr = graph.partition(":")
builder = getattr(importlib.import_module(module), attr)
with PostgresSaver.from_conn_string(url) as saver:
    saver.setup()
    builder.compile(checkpointer=saver).invoke({"log": ["in"]}, {"configurable": {"thread_id": "t"}}, **how)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def begun(url: str, graph: str, **how: object) -> None:
    """Thread "t" begun by stock LangGraph, and left where ``how`` stops it."""
    run_application(_START, json.dumps([url, graph, how]), folder=AGENTS)


@pytest.fixture
def store(database: str) -> Iterator[LangGraphPostgresStore]:
    begun(database, "letters:builder", interrupt_before=["c"])
    found = opened(database, read_only=False)
    yield found
    found.close()


def driven(store: LangGraphPostgresStore, graph: str, thread: str = "t") -> Outcome:
    events: list[Event] = []
    end = run_graph(GraphJob(target(graph), path_of(store), thread, records=records()), events.append)
    return Outcome(end, events)


def columns(url: str) -> list[tuple[object, ...]]:
    """Every column that the tables have."""
    named = "SELECT table_name, column_name FROM information_schema.columns"
    with psycopg.connect(url) as db:
        return db.execute(f"{named} WHERE table_schema = 'public' ORDER BY 1, 2".encode()).fetchall()


def test_an_edited_fork_goes_on_through_the_graph_on_the_tables_as_they_are(
    store: LangGraphPostgresStore, database: str
) -> None:
    before, tables = rows_of(database, "t"), columns(database)
    base = store.head("t")
    store.fork(base, "fork", [Change("add", ("log", 3), new="edited")])
    facts = describe_graph(target("letters:graph"), path_of(store), "fork")
    assert (facts.next, facts.head) == (("c",), store.head("fork"))
    outcome = driven(store, "letters:graph", thread="fork")
    assert (outcome.end.status, outcome.nodes()) == ("done", ["c", "d"])
    assert outcome.end.head == store.head("fork")
    assert store.load(store.head("fork")).state["log"] == ["in", "a", "b", "edited", "c", "d"]
    assert (rows_of(database, "t"), columns(database)) == (before, tables)


def test_a_graph_that_is_awaited_is_driven_too(database: str) -> None:
    begun(database, "letters:builder", interrupt_before=["c"])
    store = opened(database)
    outcome = driven(store, "awaited:graph")
    assert outcome.end.status == "done"
    assert outcome.end.head == store.head("t")
    store.close()


def test_another_schema_is_driven_in_its_own_tables(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as db:
        db.execute('CREATE SCHEMA "an app"')
    begun(f"{database}&options=-c%20search_path%3D%22an%5C%20app%22", "letters:builder", interrupt_before=["c"])
    store = opened(database, schema="an app", read_only=False)
    outcome = driven(store, "letters:graph")
    assert (outcome.end.status, outcome.nodes()) == ("done", ["c", "d"])
    assert store.load(store.head("t")).state["log"] == ["in", *"abcd"]
    store.close()


def test_a_thread_that_another_machine_runs_is_left_alone(store: LangGraphPostgresStore, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('tt-debug run public t', 0))")
        with pytest.raises(Conflict, match="a tt-debug elsewhere is running thread"):
            driven(store, "letters:graph")
    assert driven(store, "letters:graph").end.status == "done"


def test_a_password_is_in_no_event_no_error_and_no_list_of_processes(
    store: LangGraphPostgresStore, database: str
) -> None:
    seen: list[str] = []

    def look(event: Event) -> None:
        seen.append(str(event))
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                seen.append(command.read_bytes().decode("utf-8", "replace"))

    url = f"{path_of(store)}&password=hunter2-secret"
    job = GraphJob(target("letters:graph"), url, "t", records=records())
    assert run_graph(job, look).status == "done"
    unreachable = GraphJob(target("letters:graph"), url.replace("dbname=", "dbname=no_"), "t", records=records())
    with pytest.raises(NotFound) as caught:
        run_graph(unreachable, look)
    shown = [*seen, str(caught.value), caught.value.hint, repr(job), repr(unreachable)]
    assert len(shown) > 10
    assert not [text for text in shown if "hunter2" in text]


def test_a_node_edit_goes_through_the_graph_and_is_refused_where_the_thread_moved_on(
    store: LangGraphPostgresStore,
) -> None:
    job = UpdateJob(target("letters:graph"), path_of(store), "t", store.head("t").id, "b", {"log": ["B"]}, True)
    assert update_graph(job, save=False).after["log"] == ["in", "a", "b", "B"]
    assert store.load(store.head("t")).state["log"] == ["in", "a", "b"]
    saved = update_graph(job, save=True)
    assert (saved.next, saved.checkpoint) == (("c",), store.head("t").id)
    with pytest.raises(Conflict, match="moved on"):
        update_graph(job, save=True)
