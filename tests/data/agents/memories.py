"""A subgraph that remembers earlier turns: before → memory (listen → keep) → after; or called by a node's code."""

import operator
import os
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    log: Annotated[list, operator.add]


class Memory(TypedDict, total=False):
    log: list
    heard: Annotated[list, operator.add]


def note(name):
    return lambda state: {"log": [name]}


def listen(state: Memory):
    return {"heard": [state["log"][-1]]}


def keep(state: Memory):
    return {"log": [f"remember {', '.join(state['heard'])}"]}


def ask(state: Memory):
    return {"log": [f"told {interrupt('what?')} after {', '.join(state['heard'])}"]}


def remembering(last=keep):
    inner = StateGraph(Memory)
    inner.add_node("listen", listen)
    inner.add_node("last", last)
    inner.add_edge(START, "listen")
    inner.add_edge("listen", "last")
    return inner.compile(checkpointer=True)


def around(memory):
    outer = StateGraph(State)
    for name, node in (("before", note("before")), ("memory", memory), ("after", note("after"))):
        outer.add_node(name, node)
    outer.add_edge(START, "before")
    outer.add_edge("before", "memory")
    outer.add_edge("memory", "after")
    outer.add_edge("after", END)
    return outer


builder = around(remembering())
asking = around(remembering(ask))

called = remembering()


def recall(state: State):
    if os.environ.get("FAIL_AT") == "recall":
        raise ValueError("forgotten")
    return {"log": called.invoke({"log": state["log"]})["log"]}


within = around(recall)

beside = around(recall)
beside.add_node("sibling", note("sibling"))
beside.add_edge("before", "sibling")
