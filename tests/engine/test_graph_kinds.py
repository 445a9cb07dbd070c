"""Kinds of graphs: what of them has to be awaited, made by functions, written with another serializer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.applications import run_application
from tests.engine.graph_threads import AGENTS, run, started, target
from tt_debug.engine.graph_standing import async_only


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def test_what_has_to_be_awaited_is_seen_however_deep_it_lies() -> None:
    import awaited
    import letters
    import tools

    for builder in (awaited.builder, tools.with_tool, tools.with_branch, tools.with_chain, tools.with_subgraph):
        assert async_only(builder.compile())
    for builder in (letters.builder, tools.sync):
        assert not async_only(builder.compile())
    assert not async_only(tools.functional)
    assert not async_only(tools.bound)


def test_a_tool_that_can_only_be_awaited(tmp_path: Path) -> None:
    store = started(tmp_path / "t.sqlite", "tools:with_tool", value={"messages": []}, interrupt_before=["tools"])
    outcome = run(store, target("tools:with_tool"))
    assert (outcome.end.status, outcome.nodes()) == ("done", ["tools"])


def test_a_functional_graph_and_its_question(tmp_path: Path) -> None:
    store = tmp_path / "t.sqlite"
    begin = """
import copy, sys, tools
from langgraph.checkpoint.sqlite import SqliteSaver
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = copy.copy(tools.functional)
    graph.checkpointer = saver
    graph.invoke(4, {"configurable": {"thread_id": "t"}})
"""
    run_application(begin, str(store), folder=AGENTS)
    waiting = run(store, target("tools:functional"))
    assert (waiting.end.status, waiting.the("waiting").fields["prompt"]) == ("waiting", "how many more?")
    assert run(store, target("tools:functional"), answer=5, has_answer=True).end.status == "done"


SCRIPT = """
import sys
from dataclasses import dataclass
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

@dataclass
class Person:
    name: str

class State(TypedDict):
    who: Person
    kind: str

def look(state):
    return {"kind": type(state["who"]).__name__ + "/" + str(type(state["who"]) is Person)}

builder = StateGraph(State)
builder.add_node("wait", lambda state: {})
builder.add_node("look", look)
builder.add_edge(START, "wait")
builder.add_edge("wait", "look")
builder.add_edge("look", END)
SAVER
graph = builder.compile(checkpointer=saver)

if __name__ == "__main__":
    from langgraph.checkpoint.sqlite import SqliteSaver
    with SqliteSaver.from_conn_string(sys.argv[1]) as own:
        own.serde = saver.serde if saver else own.serde
        app = builder.compile(checkpointer=own)
        app.invoke({"who": Person("Ann")}, {"configurable": {"thread_id": "t"}}, interrupt_before=["look"])
"""
REVERSED = """
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

class Reversed(JsonPlusSerializer):
    def dumps_typed(self, value):
        kind, data = super().dumps_typed(value)
        return kind, data[::-1]

    def loads_typed(self, data):
        return super().loads_typed((data[0], data[1][::-1]))

saver = InMemorySaver(serde=Reversed())
"""


def kind_seen(tmp_path: Path, saver: str) -> object:
    """What the node makes of a value whose class its script stored as one of ``__main__``."""
    script, store = tmp_path / "agent.py", tmp_path / "t.sqlite"
    script.write_text(SCRIPT.replace("SAVER", saver))
    subprocess.run([sys.executable, str(script), str(store)], check=True)
    assert run(store, target("./agent.py:graph", folder=tmp_path)).end.status == "done"
    read = """
import json, sys
sys.path.insert(0, sys.argv[1])
import agent
from langgraph.checkpoint.sqlite import SqliteSaver
with SqliteSaver.from_conn_string(sys.argv[2]) as own:
    own.serde = agent.saver.serde if agent.saver else own.serde
    values = own.get_tuple({"configurable": {"thread_id": "t"}}).checkpoint["channel_values"]
    print(json.dumps([values["kind"], type(values["who"]).__module__]))
"""
    arguments = [sys.executable, "-c", read, str(tmp_path), str(store)]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)


@pytest.mark.soak
def test_classes_of_a_script_keep_their_class(tmp_path: Path) -> None:
    assert kind_seen(tmp_path, "saver = None") == ["Person/True", "agent"]


def test_a_store_is_read_and_written_by_the_serializer_of_the_graphs_own_saver(tmp_path: Path) -> None:
    assert kind_seen(tmp_path, REVERSED) == ["Person/True", "agent"]
