"""The neighbour."""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    log: Annotated[list, operator.add]


builder = StateGraph(State)
for name in "abcd":
    builder.add_node(name, lambda state, name=name: {"log": [name]})
for before, after in zip([START, *"abcd"], [*"abcd", END]):
    builder.add_edge(before, after)
