"""A LangGraph server as a test opens it, and what it looks for there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stores import open_store
from stores.langgraph_server.store import ServerStore
from stores.model import Header
from tests.langgraph_server import Server

LODZ = {"city": "Łódź", "notes": []}


UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def server(langgraph_server: Server) -> Server:
    return langgraph_server


@pytest.fixture
def store(server: Server) -> Iterator[ServerStore]:
    opened = open_store(server.url, read_only=False)
    assert isinstance(opened, ServerStore)
    yield opened
    opened.close()


def whole_of(store: ServerStore, thread: str) -> list[Header]:
    return list(store.headers(thread).items)


def at_step(store: ServerStore, thread: str, step: int) -> Header:
    return next(one for one in whole_of(store, thread) if one.step == step and not one.ref.ns)
