"""Nodes that do things to the world outside: every call leaves a line in $WORLD, with its key."""

import asyncio
import operator
import os
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send

import tt_debug


class State(TypedDict):
    log: Annotated[list, operator.add]


def done(what):
    """The other side: it keeps what it was asked for."""

    def call(key):
        with open(os.environ["WORLD"], "a") as world:
            world.write(f"{what} {key}\n")
        return {"done": what}

    return call


def acts(name, cls="at_most_once", asked=None):
    def node(state):
        result = tt_debug.effect(name, done(name), asked and {"asked": asked}, cls=cls)
        return {"log": [result["done"]]}

    return node


def built(*nodes, state=State):
    builder = StateGraph(state)
    for name, node in nodes:
        builder.add_node(name, node)
    names = [name for name, _ in nodes]
    for before, after in zip([START, *names], [*names, END]):
        builder.add_edge(before, after)
    return builder


def quiet(state):
    return {"log": ["quiet"]}


def sure(cls):
    return built(("first", quiet), ("pay", acts("pay", cls)), ("last", quiet))


idempotent = sure("idempotent")
at_most_once = sure("at_most_once")


def loud(state):
    return {"log": ["loud"]}


changed = built(("first", quiet), ("pay", acts("pay", asked="more")), ("last", quiet))
noisy = built(("first", quiet), ("pay", acts("pay")), ("last", loud))


# --- everywhere in one graph


def twice(state):
    return {"log": [tt_debug.effect("mail", done("mail"), number)["done"] for number in (1, 2)]}


def tried(state):
    """LangGraph tries it again; the second try meets the first one's effects."""
    found = tt_debug.effect("book", done("book"), cls="idempotent")
    if not os.path.exists(os.environ["WORLD"] + ".tried"):
        open(os.environ["WORLD"] + ".tried", "w").close()
        raise ConnectionError("the line broke")
    return {"log": [found["done"], tt_debug.effect("thank", done("thank"))["done"]]}


async def awaited(state):
    async def call(key):
        await asyncio.sleep(0)
        return done("await")(key)

    both = await asyncio.gather(*(tt_debug.aeffect(f"await{n}", call, n) for n in (1, 2)))
    return {"log": [each["done"] for each in both]}


def worker(state):
    return {"log": [tt_debug.effect("work", done("work"), cls="idempotent")["done"]]}


def spread(state):
    return [Send("worker", {"log": []}), Send("worker", {"log": []})]


def inner(state):
    return {"log": [tt_debug.effect("deep", done("deep"))["done"]]}


def again(state):
    return "round" if state["log"].count("round") < 2 else "worker_start"


everywhere = StateGraph(State)
everywhere.add_node("begin", quiet)
everywhere.add_node("twice", twice)
everywhere.add_node("tried", tried, retry_policy=RetryPolicy(initial_interval=0.01))
everywhere.add_node("awaited", awaited)
everywhere.add_node("round", acts("round"))
everywhere.add_node("worker_start", built(("inner", inner)).compile())
everywhere.add_node("worker", worker)
for before, after in [
    (START, "begin"),
    ("begin", "twice"),
    ("twice", "tried"),
    ("tried", "awaited"),
    ("awaited", "round"),
]:
    everywhere.add_edge(before, after)
everywhere.add_conditional_edges("round", again)
everywhere.add_conditional_edges("worker_start", spread, ["worker"])


# --- one of two


def slow(state):
    """Its process is killed while its neighbour has finished."""
    if os.environ.get("GATE"):
        open(os.environ["GATE"]).close()
    return {"log": [tt_debug.effect("slow", done("slow"), cls="idempotent")["done"]]}


pair = StateGraph(State)
pair.add_node("start", quiet)
pair.add_node("quick", acts("quick"))
pair.add_node("slow", slow)
for before, after in [(START, "start"), ("start", "quick"), ("start", "slow"), ("quick", END), ("slow", END)]:
    pair.add_edge(before, after)
