"""Four nodes in a row, in every form a graph can be named in."""

import contextlib
import operator
import os
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    log: Annotated[list, operator.add]


def letter(name):
    def node(state: State):
        print(f"node {name}")
        if name == os.environ.get("GATE_AT"):
            open(os.environ["GATE"]).close()  # a named pipe: waits until the test opens its other end
        if name == os.environ.get("FAIL_AT"):
            raise ValueError(f"{name} is out of ink")
        return {"log": [name]}

    return node


def build(names="abcd", mark=None):
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, letter(name))
    for before, after in zip([START, *names], [*names, END]):
        builder.add_edge(before, after)
    return builder


builder = build()
graph = builder.compile()
with_memory = builder.compile(checkpointer=MemorySaver())
without_c = build("abd").compile()
looped = build()
looped.add_edge("d", "a")
looped = looped.compile()
stops_at_c = builder.compile(interrupt_before=["c"])
not_a_graph = {"graph": graph}


def make():
    print("made: sync")
    return builder


async def make_async():
    print("made: async")
    return builder.compile()


def make_configured(config: RunnableConfig):
    print(f"made: {config['configurable']['who']} on {config['configurable']['thread_id']}")
    return builder


@contextlib.contextmanager
def make_within():
    print("opened")
    yield builder.compile()
    print("closed")


@contextlib.asynccontextmanager
async def make_within_async(config: RunnableConfig):
    print("opened: async")
    yield builder.compile()
    print("closed: async")


def make_with_two(config, runtime):
    return builder


def make_badly():
    raise RuntimeError("no key in the drawer")
