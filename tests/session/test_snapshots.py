"""What stock LangGraph kept in memory, in a file: the same history to its own saver, opened and gone on from by us."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.types import Command

import tt_debug
from stores.model import Change, Status
from tests.applications import run_application
from tests.engine.graph_threads import AGENTS, target
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_graphs import Ran, config, saver_of
from tt_debug.session.plans import RunRequest
from tt_debug.session.session import Session


def history(app: Any, thread: str) -> list[Any]:
    """What LangGraph itself tells of a thread and of its subgraphs, newest first."""
    return [
        (
            found.values, found.next, found.config["configurable"], found.metadata, found.created_at,
            (found.parent_config or {}).get("configurable"),
            [(task.id, task.name, task.path, task.error, task.interrupts, task.result) for task in found.tasks],
        )
        for found in app.get_state_history(config(thread))
    ]  # fmt: skip


def run(graph: StateGraph, start: Any, **options: Any) -> tuple[InMemorySaver, Any]:
    """The graph run in memory, as far as it goes."""
    saver = InMemorySaver()
    app = graph.compile(checkpointer=saver)
    with contextlib.suppress(ValueError):
        app.invoke(start, config("t"), **options)
    return saver, app


GRAPHS: dict[str, Callable[[Ran], tuple[StateGraph, dict[str, Any]]]] = {
    "a chain": lambda ran: (graphs.chain(ran), {"log": ["in"]}),
    "waiting": lambda ran: (graphs.asking(ran), {"log": ["in"]}),
    "fanned out": lambda ran: (graphs.fan_out(ran), {"log": ["in"]}),
    "nested": lambda ran: (graphs.nested(ran), {"log": ["in"]}),
    "nested, persistent": lambda ran: (graphs.nested(ran, persistent=True), {"log": ["in"]}),
    "failed": lambda ran: (graphs.failing(ran, {"now": True}), {"log": ["in"]}),
    "delta": lambda ran: (graphs.delta_chain(ran), {"log": ["in"]}),
    "delta with snapshots": lambda ran: (graphs.delta_chain(ran, 2), {"log": ["in"]}),
    "a chat": lambda ran: (graphs.chat(ran), graphs.first_message()),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_langgraph_reads_the_same_history_from_the_file(tmp_path: Path, name: str) -> None:
    ran: Ran = []
    graph, start = GRAPHS[name](ran)
    saver, app = run(graph, start)
    before = list(ran)
    path = tt_debug.snapshot(saver, tmp_path / "run.db")
    with saver_of(path) as stored:
        assert history(graph.compile(checkpointer=stored), "t") == history(app, "t")
    assert ran == before


@pytest.mark.parametrize("name", GRAPHS)
def test_we_open_it_as_we_open_any_file_of_langgraphs(tmp_path: Path, name: str) -> None:
    graph, start = GRAPHS[name]([])
    saver, app = run(graph, start)
    session = Session.open(str(tt_debug.snapshot(saver, tmp_path / "run.db")))
    assert session.info.kind == "langgraph"
    view, told = session.open_thread("t"), list(app.get_state_history(config("t")))
    assert [ref.id for ref in view.line()] == [found.config["configurable"]["checkpoint_id"] for found in told[::-1]]
    following = [set(view.headers[ref].next) for ref in view.line()]
    assert following == [set(found.next) for found in told[::-1]]
    assert not [header.problem for header in view.headers.values() if header.problem]
    session.close()


def test_its_own_saver_goes_on_where_memory_stopped(tmp_path: Path) -> None:
    ran: Ran = []
    graph = graphs.asking(ran)
    saver, _ = run(graph, {"log": ["in"]})
    assert sorted(ran) == ["ask", "audit", "prepare"]
    path = tt_debug.snapshot(saver, tmp_path / "run.db")
    ran.clear()
    with saver_of(path) as stored:
        on_file = graph.compile(checkpointer=stored)
        on_file.invoke(
            Command(resume={asked.id: "yes" for asked in on_file.get_state(config("t")).interrupts}), config("t")
        )
        assert "audit" not in ran
        assert [asked.value for asked in on_file.get_state(config("t")).interrupts] == ["who?"]


def test_we_fork_it_and_go_on_with_the_graph(tmp_path: Path) -> None:
    saver, _ = run(graphs.chain([]), {"log": ["in"]}, interrupt_before=["d"])
    session = Session.open(str(tt_debug.snapshot(saver, tmp_path / "run.db")))
    fork = session.fork(session.resolve("t@1"), "fixed", [Change("change", ("n",), 1, 100)])
    session.close()
    ran: Ran = []
    with saver_of(tmp_path / "run.db") as stored:
        done = graphs.chain(ran).compile(checkpointer=stored).invoke(None, config("fixed"))
    assert (ran, done["n"]) == (list("bcdef"), 105)
    assert fork.next == ("b",)


def test_we_answer_it_and_resume(tmp_path: Path) -> None:
    code = (
        "import sys, questions, tt_debug\n"
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "saver = InMemorySaver()\n"
        "app = questions.two.compile(checkpointer=saver)\n"
        "app.invoke({'log': ['in']}, {'configurable': {'thread_id': 't'}})\n"
        "tt_debug.snapshot(saver, sys.argv[1])\n"
    )
    path, graph = tmp_path / "run.db", target("questions:two")
    run_application(code, str(path), folder=AGENTS)
    session = Session.open(str(path), graph=graph)
    for asked in session.approvals():
        session.answer(asked.id, "big", "ada")
    result = session.execute(session.plan(RunRequest("resume", ref=session.resolve("t"))), lambda event: None)
    assert result.status == Status.DONE
    assert sorted(session.load(session.resolve("t")).state["log"][1:3]) == [["color", "big"], ["size", "big"]]
    session.close()


def test_a_path_that_is_taken_stays_as_it_is(tmp_path: Path) -> None:
    saver, _ = run(graphs.chain([]), {"log": ["in"]})
    path = tmp_path / "run.db"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        tt_debug.snapshot(saver, path)
    assert path.read_text() == "mine"
    with pytest.raises(FileNotFoundError):
        tt_debug.snapshot(saver, tmp_path / "nowhere" / "run.db")


def test_what_fails_half_way_leaves_no_file(tmp_path: Path) -> None:
    saver, _ = run(graphs.chain([]), {"log": ["in"]})
    key = next(iter(saver.writes))
    saver.writes[key][("task", 99)] = ("task", "log", None, "")  # type: ignore[assignment]
    with pytest.raises(TypeError):
        tt_debug.snapshot(saver, tmp_path / "run.db")
    assert list(tmp_path.iterdir()) == []


def test_another_saver_is_told_apart(tmp_path: Path) -> None:
    with saver_of(tmp_path / "other.db") as other, pytest.raises(TypeError, match="InMemorySaver, and a SqliteSaver"):
        tt_debug.snapshot(other, tmp_path / "run.db")
    assert not (tmp_path / "run.db").exists()


def test_an_empty_saver_and_odd_metadata(tmp_path: Path) -> None:
    session = Session.open(str(tt_debug.snapshot(InMemorySaver(), tmp_path / "empty.db")))
    assert session.threads() == ()
    session.close()
    saver = InMemorySaver()
    who = {"configurable": {"thread_id": 7}, "metadata": {"who": "ada"}}
    graphs.chain([], "a").compile(checkpointer=saver).invoke({"log": []}, who)
    path = tt_debug.snapshot(saver, tmp_path / "run.db")
    with sqlite3.connect(path) as db:
        assert {row[0] for row in db.execute("SELECT thread_id FROM checkpoints")} == {"7"}
    session = Session.open(str(path))
    assert session.threads(meta={"who": "ada"})[0].thread == "7"
    session.close()


def test_importing_the_package_costs_nothing() -> None:
    code = "import sys, tt_debug; print('sqlite3' in sys.modules, 'tt_debug.snapshots' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False False\n"
    with pytest.raises(AttributeError):
        tt_debug.nothing  # type: ignore[attr-defined]
