"""Three nodes side by side: one asks, one is done at once, one is a subgraph that asks. Each call leaves a line."""

import operator
import os
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    topic: str
    log: Annotated[list, operator.add]


class Below(TypedDict, total=False):
    log: list


def called(name):
    if "CALLS" in os.environ:
        with open(os.environ["CALLS"], "a") as calls:
            calls.write(f"{name}\n")


def asks(name):
    def node(state):
        called(name)
        return {"log": [[name, interrupt({"ask": name})]]}

    return node


def says(name):
    def node(state):
        called(name)
        return {"log": [f"{name} on {state.get('topic')}"]}

    return node


def within(name):
    builder = StateGraph(Below)
    builder.add_node(name, asks(name))
    builder.add_edge(START, name)
    return builder.compile()


builder = StateGraph(State)
for name, node in {"left": asks("left"), "quick": says("quick"), "deep": within("below"), "last": says("last")}.items():
    builder.add_node(name, node)
for name in ("left", "quick", "deep"):
    builder.add_edge(START, name)
builder.add_edge(["left", "quick", "deep"], "last")
