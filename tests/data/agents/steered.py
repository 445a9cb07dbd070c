"""A graph whose edges depend on the state, with reducers; and the same graph changed in one way each."""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages


class State(TypedDict, total=False):
    mood: str
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]


def newer(old, new):
    return new or old


class Summed(TypedDict, total=False):
    mood: str
    log: Annotated[list, newer]
    messages: Annotated[list, add_messages]


def says(name):
    return lambda state: {"log": [name]}


def way(state):
    return "party" if state.get("mood") == "good" else "rest"


async def awaited_way(state):
    return way(state)


def no_way(state):
    raise ValueError("no way from here")


def build(schema=State, branch=way):
    builder = StateGraph(schema)
    for name in ("look", "party", "rest"):
        builder.add_node(name, says(name))
    builder.add_edge(START, "look")
    builder.add_conditional_edges("look", branch, ["party", "rest"])
    return builder


builder = build()
awaiting = build(branch=awaited_way)
broken = build(branch=no_way)
reduced = build(Summed)
stops = build().compile(interrupt_before=["look", "party", "rest"])
longer = build()
longer.add_node("sweep", says("sweep"))
longer.add_edge("party", "sweep")
