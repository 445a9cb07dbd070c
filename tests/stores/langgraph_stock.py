"""Stock LangGraph on a PostgreSQL database of a test, and our store beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from stores.langgraph.postgres import LangGraphPostgresStore
from stores.model import Header
from tests.stores.langgraph_graphs import config
from tests.stores.langgraph_postgres import opened


@contextmanager
def saver_of(url: str, serde: Any = None) -> Iterator[PostgresSaver]:
    """Stock LangGraph's saver on the database."""
    with PostgresSaver.from_conn_string(url) as saver:
        if serde is not None:
            saver.serde = serde
        saver.setup()
        yield saver


def record(url: str, graph: Any, thread: str, value: Any, **compiled: Any) -> None:
    """Let stock LangGraph run a graph on a thread."""
    with saver_of(url) as saver:
        graph.compile(checkpointer=saver, **compiled).invoke(value, config(thread))


def run_on(url: str, graph: Any, thread: str, value: Any = None) -> tuple[Any, tuple[str, ...], dict[str, Any]]:
    """Stock LangGraph's view of a thread (state, next), and the state after it went on."""
    with saver_of(url) as saver:
        app = graph.compile(checkpointer=saver)
        before = app.get_state(config(thread))
        return before.values, before.next, app.invoke(value, config(thread))


def header(store: LangGraphPostgresStore, thread: str, *, step: int, ns: str = "") -> Header:
    """The newest checkpoint of a step."""
    return next(one for one in store.headers(thread).items if one.step == step and one.ref.ns == ns)


@pytest.fixture
def store(database: str) -> Iterator[LangGraphPostgresStore]:
    """Our store on tables that stock LangGraph made."""
    with saver_of(database):
        pass
    found = opened(database, read_only=False)
    yield found
    found.close()
