"""A node that several others start, by a join or by a Send; and the same graphs without it."""

import operator
import os
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Send


class State(TypedDict):
    log: Annotated[list, operator.add]


def note(name):
    return lambda state: {"log": [name]}


def fan(target, by_send):
    builder = StateGraph(State)
    builder.add_node("left", note("left"))
    builder.add_node("right", note("right"))
    builder.add_node(target, note(target))
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    if by_send:
        builder.add_conditional_edges("left", lambda state: [Send(target, {"log": []})], [target])
    else:
        builder.add_edge(["left", "right"], target)
    return builder


def slow(state):
    if os.environ.get("FAIL_AT") == "slow":
        raise TimeoutError("too slow")
    return {"log": ["slow"]}


uneven = StateGraph(State)
uneven.add_node("quick", note("quick"))
uneven.add_node("slow", slow)
uneven.add_edge(START, "quick")
uneven.add_edge(START, "slow")

joined = fan("target", by_send=False)
joined_lost = fan("renamed", by_send=False)
sent = fan("target", by_send=True)
sent_lost = fan("renamed", by_send=True)


def within(name):
    inner = StateGraph(State)
    inner.add_node("before", note("before"))
    inner.add_node(name, note(name))
    inner.add_edge(START, "before")
    inner.add_edge("before", name)
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile(interrupt_before=[name]))
    outer.add_edge(START, "inner")
    return outer


inside = within("target")
inside_lost = within("renamed")
