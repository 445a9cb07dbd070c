"""Fixtures for the stores' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.langgraph.sqlite import LangGraphStore
from tests.stores.langgraph_views import Open


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test lets LangGraph write its file; what we keep elsewhere lands in the test's folder too."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    (tmp_path / "db").mkdir()
    return tmp_path / "db" / "agent.sqlite"


@pytest.fixture
def opened_agent(agent: Path) -> Iterator[Open]:
    """Opens the file for writing; closed after the test."""
    stores: list[LangGraphStore] = []

    def open_it() -> LangGraphStore:
        stores.append(LangGraphStore(agent, read_only=False))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()
