"""The same four nodes, which can only be awaited."""

import asyncio
import os

from langgraph.graph import END, START, StateGraph

from letters import State, pass_gate


def letter(name):
    async def node(state: State):
        await asyncio.sleep(0)
        if name == os.environ.get("GATE_AT"):
            pass_gate()
        return {"log": [name]}

    return node


builder = StateGraph(State)
for name in "abcd":
    builder.add_node(name, letter(name))
for before, after in zip([START, *"abcd"], [*"abcd", END]):
    builder.add_edge(before, after)
graph = builder.compile()
