"""Four nodes in a row, in every form a graph can be named in."""

import contextlib
import operator
import os
import signal
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    log: Annotated[list, operator.add]


STOP_HEARD, STOP_TOLD = os.pipe() if "GATE_UNTIL_STOPPED" in os.environ else (None, None)
if STOP_TOLD is not None:
    usual = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *given: (usual(*given), os.write(STOP_TOLD, b".")))


def pass_gate():
    """Wait until the test opens the other end of a named pipe; and until this process heard that it is to stop."""
    open(os.environ["GATE"]).close()
    if STOP_HEARD is not None:
        os.read(STOP_HEARD, 1)


def letter(name):
    def node(state: State):
        print(f"node {name}")
        if name == os.environ.get("GATE_AT"):
            pass_gate()
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
