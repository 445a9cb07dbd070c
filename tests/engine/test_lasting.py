"""Imports that the collector is spared: it is as it was after them, also where one fails."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Iterator

import pytest

from tt_debug.engine.lasting import lasting_imports


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_it_is_left_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with contextlib.suppress(ImportError), lasting_imports():
        assert not gc.isenabled()
        raise ImportError("langgraph")
    assert gc.isenabled() == enabled


class Node:
    """Something in a circle."""

    def __init__(self) -> None:
        self.itself = self


def test_what_is_made_later_is_collected_as_ever() -> None:
    with lasting_imports():
        pass
    made = weakref.ref(Node())
    gc.collect()
    assert made() is None
