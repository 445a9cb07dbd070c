"""What the tapes were recorded with: deterministic, offline. To record anew: `tests.langgraph_server` says how."""

import operator
from itertools import pairwise
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    city: str
    notes: Annotated[list, operator.add]
    plan: dict
    fail: bool


def plan(state):
    return {"plan": {"city": state["city"], "days": 3}, "notes": ["planned"]}


def look(state):
    return {"notes": [f"looked at {state['city']}"]}


def judge(state):
    return {"notes": [f"{state['city']} is fine"]}


def approve(state):
    answer = interrupt({"question": "book it?", "plan": state["plan"]})
    return {"notes": [f"answer {answer}"]}


def book(state):
    if state.get("fail"):
        raise ValueError("no rooms left")
    return {"notes": ["booked"]}


def line(schema, *nodes):
    """A graph of nodes one after the other."""
    graph = StateGraph(schema)
    for name, node in nodes:
        graph.add_node(name, node)
    for (before, _), (after, _) in pairwise(nodes):
        graph.add_edge(before, after)
    graph.add_edge(START, nodes[0][0])
    graph.add_edge(nodes[-1][0], END)
    return graph.compile()


research = line(State, ("look", look), ("judge", judge))
trip = line(State, ("plan", plan), ("research", research), ("approve", approve), ("book", book))


def largest(one, other):
    return max(one, other)


class Counts(TypedDict, total=False):
    n: int
    seen: Annotated[list, operator.add]
    largest: Annotated[int, largest]


def a(state):
    return {"seen": ["a"], "largest": state["n"]}


def b(state):
    if state["n"] == 0:
        raise ValueError("nothing to count")
    return {"seen": ["b"], "largest": state["n"] + 1}


def c(state):
    return {"seen": ["c"]}


builder = StateGraph(Counts)
builder.add_node("first", lambda state: {"seen": ["first"]})
for each in (a, b, c):
    builder.add_node(each.__name__, each)
builder.add_edge(START, "first")
builder.add_edge("first", "a")
builder.add_edge("first", "b")
builder.add_edge("a", "c")
builder.add_edge("b", "c")
builder.add_edge("c", END)
fan = builder.compile()

builder = StateGraph(Counts)
builder.add_node("first", lambda state: {"seen": ["first"]})
builder.add_node("small", c)
builder.add_node("large", c)
builder.add_edge(START, "first")
builder.add_conditional_edges("first", lambda state: "large" if state["n"] > 9 else "small", ["small", "large"])
ways = builder.compile()


builder = StateGraph(Counts)
for each in (a, b, c):
    builder.add_node(each.__name__, each)
builder.add_edge(START, "a")
builder.add_edge(START, "b")
builder.add_edge(["a", "b"], "c")
builder.add_edge("c", END)
joined = builder.compile()


def ask(state):
    return {"notes": [f"inside: {interrupt({'question': 'inside?'})}"]}


asking = line(State, ("look", look), ("ask", ask))
deep = line(State, ("plan", plan), ("asking", asking), ("book", book))


def left(state):
    return {"seen": [interrupt("left?")]}


def right(state):
    return {"seen": [interrupt("right?")]}


builder = StateGraph(Counts)
for each in (left, right):
    builder.add_node(each.__name__, each)
    builder.add_edge(START, each.__name__)
    builder.add_edge(each.__name__, END)
two = builder.compile()
