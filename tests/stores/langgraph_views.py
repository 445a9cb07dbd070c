"""What tests of LangGraph forks share: a file of its own for each test, our store on it, and stock LangGraph's view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stores.langgraph.sqlite import LangGraphStore
from stores.model import Header
from tests.stores.langgraph_graphs import config, saver_of

Open = Callable[[], LangGraphStore]


def header(store: LangGraphStore, thread: str, *, step: int, ns: str = "") -> Header:
    """The newest checkpoint of a step."""
    return next(one for one in store.headers(thread).items if one.step == step and one.ref.ns == ns)


def run_on(path: Path, graph: Any, thread: str, value: Any = None) -> tuple[Any, tuple[str, ...], dict[str, Any]]:
    """Stock LangGraph's view of a thread (state, next), and the state after it went on."""
    with saver_of(path) as saver:
        app = graph.compile(checkpointer=saver)
        before = app.get_state(config(thread))
        return before.values, before.next, app.invoke(value, config(thread))
