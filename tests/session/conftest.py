"""The demo's two stores, opened; what belongs to us lies in the test's own folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tt_debug.demo import DemoFiles, prepare
from tt_debug.session.plans import GraphTarget
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TT_DEBUG_DEMO_PACE", "0")
    return tmp_path / "home"


@pytest.fixture
def demo(tmp_path: Path) -> DemoFiles:
    return prepare(tmp_path / "demo")


@pytest.fixture
def native(demo: DemoFiles) -> Iterator[Session]:
    session = Session.open(str(demo.native))
    yield session
    session.close()


@pytest.fixture
def langgraph(demo: DemoFiles) -> Iterator[Session]:
    session = Session.open(str(demo.langgraph), graph=GraphTarget(demo.graph))
    yield session
    session.close()
