"""The demo's LangGraph agent: the same trip as `trip.yaml`, with the same mistake at step 15.

Needs `langgraph` only; no model, no network, no keys.
"""

import inspect
import operator
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import trip_nodes
from langgraph.graph import END, START, StateGraph


class Trip(TypedDict, total=False):
    """What the agent knows of the trip."""

    request: str
    nights: int
    todo: list[str]
    places: list[str]
    found: str
    dates: dict[str, Any]
    trains: list[dict[str, Any]]
    train: dict[str, Any]
    hotels: list[dict[str, Any]]
    budget: dict[str, int]
    ranking: list[dict[str, Any]]
    hotel: dict[str, Any]
    reservation: str
    cost: int
    verdict: str
    summary: str
    messages: list[dict[str, Any]]
    log: Annotated[list[str], operator.add]


class Notes:
    """What `ctx` is to the workflow's nodes: here it collects what they log, and their effects are just called."""

    def __init__(self, visit: int) -> None:
        self.visit = visit
        self.lines: list[str] = []

    def log(self, text: str) -> None:
        self.lines.append(text)

    def effect(self, name: str, fn: Any, request: Any = None, cls: str = "") -> Any:
        return fn("") if inspect.signature(fn).parameters else fn()


def with_log(name: str):
    """A node that takes (state, ctx), as a node of this graph."""

    def node(state: Trip) -> dict[str, Any]:
        notes = Notes(len(state.get("places", [])) + 1)
        result = getattr(trip_nodes, name)(state, notes)
        return {**result, "log": notes.lines} if notes.lines else result

    return node


def write_summary(state: Trip) -> dict[str, Any]:
    return {
        "summary": f"{state['hotel']['name']} for {state['nights']} nights, {state['cost']} yen: {state['verdict']}."
    }


def build() -> StateGraph:
    """The graph, not yet compiled: tt-debug compiles it with its own checkpointer."""
    graph = StateGraph(Trip)
    for name in ("read_request", "search", "check_trains", "rank_hotels", "reserve_hotel", "invoice"):
        graph.add_node(name, with_log(name))
    for name in ("plan_days", "note", "pick_dates", "pick_train", "collect_hotels", "read_budget", "choose_hotel"):
        graph.add_node(name, getattr(trip_nodes, name))
    graph.add_node("check_total", trip_nodes.check_total)
    graph.add_node("write_summary", write_summary)
    line = ["pick_dates", "check_trains", "pick_train", "collect_hotels", "read_budget"]
    line += ["rank_hotels", "choose_hotel", "reserve_hotel", "invoice", "check_total", "write_summary", END]
    for before, after in [(START, "read_request"), ("read_request", "plan_days"), ("plan_days", "search")]:
        graph.add_edge(before, after)
    graph.add_edge("search", "note")
    graph.add_conditional_edges("note", lambda state: "search" if state["todo"] else "pick_dates")
    for before, after in pairwise(line):
        graph.add_edge(before, after)
    return graph


graph = build().compile()
