"""Graphs in which something deeper than a node can only be awaited; and some that are made in other ways."""

import operator
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt


class State(TypedDict):
    log: Annotated[list, operator.add]


@tool
async def weigh(what: str) -> str:
    """Weigh a thing."""
    return f"{what}: 3 kg"


def call(state):
    return {"messages": [AIMessage("", tool_calls=[{"name": "weigh", "args": {"what": "ink"}, "id": "1"}])]}


with_tool = StateGraph(MessagesState)
with_tool.add_node("call", call)
with_tool.add_node("tools", ToolNode([weigh]))
with_tool.add_edge(START, "call")
with_tool.add_edge("call", "tools")


async def choose(state):
    return "last"


async def add(value):
    return {"log": ["awaited"]}


def note(name):
    return lambda state: {"log": [name]}


def two(first, branch=None):
    builder = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("last", note("last"))
    builder.add_edge(START, "first")
    if branch is None:
        builder.add_edge("first", "last")
    else:
        builder.add_conditional_edges("first", branch, ["last"])
    builder.add_edge("last", END)
    return builder


with_branch = two(note("first"), choose)
with_chain = two(RunnableLambda(lambda state: state) | RunnableLambda(add))
with_subgraph = two(two(add).compile())
sync = two(note("first"))
bound = sync.compile().with_config(tags=["bound"])
configured_later = sync.compile() | RunnableLambda(lambda state: state)


@task
def double(number):
    return number * 2


@entrypoint()
def functional(number):
    return double(number).result() + interrupt("how many more?")
