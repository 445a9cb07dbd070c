"""Graphs of one node b after a, that end oddly."""

import operator
import os
import signal
import sys
import threading
from typing import Annotated, TypedDict

from langchain_core.messages import HumanMessage
from langgraph.channels import LastValue
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    log: Annotated[list, operator.add]


def with_b(node):
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"log": ["a"]})
    builder.add_node("b", node)
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("b", END)
    return builder


def leave(state):
    sys.exit(3)


def die(state):
    print("farewell")
    os.kill(os.getpid(), signal.SIGKILL)


def linger(state):
    threading.Thread(target=threading.Event().wait).start()


exits = with_b(leave)
killed = with_b(die)
lingers = with_b(linger)
asks_with_a_message = with_b(lambda state: {"log": [interrupt(HumanMessage("how large?"))]})


class Strict(LastValue):
    def from_checkpoint(self, checkpoint):
        raise RuntimeError("I sum up numbers")


class Numbers(TypedDict):
    log: Annotated[list, Strict]


sums_numbers = StateGraph(Numbers)
for name in "abcd":
    sums_numbers.add_node(name, linger)
sums_numbers.add_edge(START, "a")
