"""Small graphs for stock LangGraph, which write their history with its own SqliteSaver. Nodes note that they ran."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt

Ran = list[str]
Node = Callable[[dict[str, Any]], dict[str, Any]]


class Log(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    n: int


def step(name: str, ran: Ran) -> Node:
    """A node that notes its name, in the state too, and counts."""

    def run(state: dict[str, Any]) -> dict[str, Any]:
        ran.append(name)
        return {"log": [name], "n": state.get("n", 0) + 1}

    return run


def chain(ran: Ran, names: str = "abcdef", **nodes: Any) -> StateGraph:
    """a → b → … → the last; ``nodes`` replace some of them."""
    graph = StateGraph(Log)
    for name in names:
        graph.add_node(name, nodes.get(name) or step(name, ran))
    for one, other in zip((START, *names), (*names, END), strict=True):
        graph.add_edge(one, other)
    return graph


def asking(ran: Ran) -> StateGraph:
    """prepare → (ask, audit) in one step → pay; ``ask`` asks twice."""

    def ask(state: dict[str, Any]) -> dict[str, Any]:
        ran.append("ask")
        return {"log": [interrupt({"question": "pay?"}), interrupt("who?")]}

    graph = StateGraph(Log)
    graph.add_node("prepare", step("prepare", ran))
    graph.add_node("ask", ask)
    graph.add_node("audit", step("audit", ran))
    graph.add_node("pay", step("pay", ran))
    graph.add_edge(START, "prepare")
    graph.add_edge("prepare", "ask")
    graph.add_edge("prepare", "audit")
    graph.add_edge(["ask", "audit"], "pay")
    return graph


def fan_out(ran: Ran) -> StateGraph:
    """split → five workers by Send → join."""

    def split(state: dict[str, Any]) -> dict[str, Any]:
        ran.append("split")
        return {"log": ["split"], "n": 5}

    def worker(state: dict[str, Any]) -> dict[str, Any]:
        ran.append(f"worker {state['item']}")
        return {"log": [f"worker {state['item']}"]}

    graph = StateGraph(Log)
    graph.add_node("split", split)
    graph.add_node("worker", worker)
    graph.add_node("join", step("join", ran))
    graph.add_edge(START, "split")
    graph.add_conditional_edges("split", lambda state: [Send("worker", {"item": i}) for i in range(state["n"])])
    graph.add_edge("worker", "join")
    return graph


def nested(ran: Ran, *, persistent: bool = False, inner: StateGraph | None = None) -> StateGraph:
    """a → sub (p → q → r, or ``inner``) → z."""
    below = (inner or chain(ran, "pqr")).compile(checkpointer=True if persistent else None)
    return chain(ran, "asz", s=below)


def failing(ran: Ran, broken: dict[str, bool]) -> StateGraph:
    """a → (bad, good) in one step → z; ``bad`` fails while ``broken["now"]``."""

    def bad(state: dict[str, Any]) -> dict[str, Any]:
        ran.append("bad")
        if broken["now"]:
            raise ValueError("429")
        return {"log": ["bad"]}

    graph = StateGraph(Log)
    for name in ("a", "good", "z"):
        graph.add_node(name, step(name, ran))
    graph.add_node("bad", bad)
    graph.add_edge(START, "a")
    graph.add_edge("a", "bad")
    graph.add_edge("a", "good")
    graph.add_edge(["bad", "good"], "z")
    return graph


def clashing(ran: Ran) -> StateGraph:
    """a → (x, y) in one step, which both write the same plain channel."""
    graph = StateGraph(Log)
    for name in "axy":
        graph.add_node(name, step(name, ran))
    graph.add_edge(START, "a")
    graph.add_edge("a", "x")
    graph.add_edge("a", "y")
    return graph


def extend(total: list[Any], writes: list[list[Any]]) -> list[Any]:
    """A delta channel's reducer."""
    return [*total, *(item for write in writes for item in write)]


def delta_chain(ran: Ran, frequency: int = 100) -> StateGraph:
    """a → … → f over a delta channel that is snapshot every ``frequency`` updates."""
    fields = {"log": Annotated[list, DeltaChannel(extend, snapshot_frequency=frequency)], "n": int}
    # The class syntax would leave the annotation a text that only finds module-level names.
    graph = StateGraph(TypedDict("State", fields))
    for name in "abcdef":
        graph.add_node(name, step(name, ran))
    for one, other in zip((START, *"abcdef"), (*"abcdef", END), strict=True):
        graph.add_edge(one, other)
    return graph


class Chat(TypedDict):
    messages: Annotated[list[Any], add_messages]
    turn: int


def chat(ran: Ran) -> StateGraph:
    """agent → agent → … until five answers are there; messages through `add_messages`."""

    def agent(state: dict[str, Any]) -> dict[str, Any]:
        ran.append(state["messages"][-1].content)
        turn = state["turn"] + 1
        return {"messages": [AIMessage(f"answer {turn}", id=f"ai-{turn}")], "turn": turn}

    graph = StateGraph(Chat)
    graph.add_node("agent", agent)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", lambda state: "agent" if state["turn"] < 5 else END)
    return graph


def first_message() -> dict[str, Any]:
    """An input for `chat`."""
    return {"messages": [HumanMessage("hello", id="human-0")], "turn": 0}


def workflow(ran: Ran, saver: SqliteSaver) -> Any:
    """A workflow of the functional API that adds its input to what it returned before."""

    @task
    def double(n: int) -> int:
        ran.append(f"double {n}")
        return 2 * n

    @entrypoint(checkpointer=saver)
    def flow(n: int, *, previous: Any = None) -> dict[str, Any]:
        ran.append("flow")
        return {"total": double(n).result() + (previous or {"total": 0})["total"]}

    return flow


@contextlib.contextmanager
def saver_of(path: Path) -> Iterator[SqliteSaver]:
    """Stock LangGraph's own saver on the file."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


def config(thread: str, **more: str) -> dict[str, Any]:
    """The config that addresses a thread."""
    return {"configurable": {"thread_id": thread, **more}}


def record(path: Path, graph: StateGraph, thread: str, start: Any, **options: Any) -> None:
    """Run a graph from the start, writing its history."""
    with saver_of(path) as saver:
        graph.compile(checkpointer=saver).invoke(start, config(thread), **options)
