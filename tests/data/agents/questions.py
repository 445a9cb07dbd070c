"""Nodes that ask a human: one, or two side by side, or in a subgraph."""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    log: Annotated[list, operator.add]


def ask(name):
    def node(state: State):
        print(f"asking {name}")
        return {"log": [[name, interrupt({"ask": name})]]}

    return node


def last(state: State):
    return {"log": ["last"]}


def build(*names):
    builder = StateGraph(State)
    builder.add_node("last", last)
    for name in names:
        builder.add_node(name, ask(name))
        builder.add_edge(START, name)
        builder.add_edge(name, "last")
    builder.add_edge("last", END)
    return builder


one = build("size")
two = build("size", "color")

outer = StateGraph(State)
outer.add_node("inner", build("size").compile())
outer.add_edge(START, "inner")
outer.add_edge("inner", END)


def ask_twice(state: State):
    return {"log": [[interrupt({"ask": "once"}), interrupt({"ask": "again"})]]}


twice = StateGraph(State)
twice.add_node("both", ask_twice)
twice.add_edge(START, "both")
twice.add_edge("both", END)

chain = StateGraph(State)
for name in ("first", "second"):
    chain.add_node(name, ask(name))
chain.add_node("between", last)
chain.add_edge(START, "first")
chain.add_edge("first", "between")
chain.add_edge("between", "second")
