"""A node that tells what it was configured with."""

import operator
import os
from dataclasses import dataclass
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

AT_IMPORT = os.environ.get("COLOR")


class State(TypedDict):
    log: Annotated[list, operator.add]


@dataclass
class Context:
    model: str = "none"


def first(state: State):
    return {"log": ["first"]}


def tell(state: State, config: RunnableConfig, runtime: Runtime[Context]):
    return {
        "log": [
            {
                "color": AT_IMPORT,
                "user": config["configurable"].get("user"),
                "model": runtime.context.model if runtime.context else None,
            }
        ]
    }


builder = StateGraph(State, context_schema=Context)
builder.add_node("first", first)
builder.add_node("tell", tell)
builder.add_edge(START, "first")
builder.add_edge("first", "tell")
builder.add_edge("tell", END)
