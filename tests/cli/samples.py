"""A store in memory with a fork, a failed line, a subgraph and names that want to steer the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stores.memory import MemoryStore
from stores.model import NewCheckpoint, Ref, Value
from tt_debug.session.journal import Journal
from tt_debug.session.running import Code
from tt_debug.session.session import Session

HOSTILE = "\x1b]0;pwn\x07 \x9b31m \u202e[/] 京都"


def ident(number: int) -> str:
    """A time-ordered id of 2025-10-24, a tenth of a second later with each number."""
    ticks = 0x1F0B0B0_0000_0000 + number * 1_000_000
    return f"{ticks >> 28:08x}-{ticks >> 12 & 0xFFFF:04x}-6{ticks & 0xFFF:03x}-8000-0000000000{number:02x}"


def checkpoint(thread: str, number: int, parent: Ref | None, node: str, state: Mapping[str, Value]) -> NewCheckpoint:
    """One checkpoint, written by ``node``."""
    step = number % 10 - 1
    return NewCheckpoint(
        ref=Ref(thread, "", ident(number)),
        parent=parent,
        state=state,
        source="loop" if parent else "input",
        step=step,
        nodes=(node,) if parent else (),
        next=("book",) if node == "plan" else (),
        meta={"user": "ada"},
    )


def sample_store() -> MemoryStore:
    """``trip`` with three steps, ``trip-eu`` forked from its first, and a thread with a hostile name."""
    store = MemoryStore()
    state: dict[str, Value] = {"city": "京都", "days": [1, 2], "note": "short"}
    first = store.append(checkpoint("trip", 0, None, "", state))
    second = store.append(checkpoint("trip", 1, first.ref, "plan", {**state, "plan": {"hotel": "ryokan", "price": 88}}))
    store.append(
        checkpoint("trip", 2, second.ref, "book", {"city": "大阪", "days": [1, 2, 3], "plan": {"hotel": "inn"}})
    )
    store.append(checkpoint("trip-eu", 11, first.ref, "plan", {**state, "city": "Kraków"}))
    store.append(checkpoint(HOSTILE, 20, None, "", {HOSTILE: HOSTILE, "nothing": None, "big": 2**60, "half": 0.5}))
    return store


def sample_session(folder: Path) -> Session:
    """The real session over it."""
    return Session(sample_store(), Journal("sample", folder), Code())
