"""Workflows of one node with effects, in a world that each test begins anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stores.model import Change, Header, Ref
from stores.runs import Run
from tests.engine import effect_nodes as nodes
from tests.engine.flows import Bench, bench, python

HERE = "tests.engine.effect_nodes"


@pytest.fixture(autouse=True)
def fresh_world() -> Iterator[None]:
    nodes.reset()
    yield
    nodes.reset()


def flow(folder: Path, function: str, next: Any = None, **fields: Any) -> Bench:
    return bench(folder, [python("a", f"{HERE}:{function}", next, **fields)])


def again(on: Bench, base: Ref, thread: str, *changes: Change, **fields: Any) -> Header:
    """Fork at ``base``, and a pending run of the fork."""
    forked = on.store.fork(base, thread, changes)
    on.store.create_run(Run(f"run-{thread}", thread, on.workflow.hash, **fields))
    return forked
