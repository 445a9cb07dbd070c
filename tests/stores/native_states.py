"""What tests of large native states share: an empty store, messages that hardly compress, a chat that grows."""

from __future__ import annotations

import random
import sqlite3
import string
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.model import Header, NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native

LETTERS = [c for c in string.printable[:94] if c not in '"\\']
Message = dict[str, Any]


def message(number: int, size: int = 1000) -> Message:
    """Text that no compression makes much smaller, the same for the same number."""
    text = "".join(random.Random(number).choices(LETTERS, k=size))
    return {"id": f"m{number}", "type": "ai" if number % 2 else "human", "content": text}


MESSAGES = [message(number) for number in range(200)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_native(tmp_path / "native.sqlite")
    return tmp_path / "native.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[NativeStore]:
    with closing(NativeStore(path, read_only=False)) as opened:
        yield opened


def sql(path: Path, statement: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement, values).fetchall()


def append(store: NativeStore, state: Mapping[str, Any], parent: Ref | None = None, id: str | None = None) -> Header:
    name = id or f"{0 if parent is None else int(parent.id) + 1:06}"
    return store.append(NewCheckpoint(Ref("chat", "", name), parent, state, "input" if parent is None else "step"))


def chat(store: NativeStore, steps: int, first: int = 1) -> list[Header]:
    """Each step adds a message."""
    made: list[Header] = []
    for step in range(first, first + steps):
        state = {"messages": MESSAGES[:step], "n": step}
        made.append(append(store, state, made[-1].ref if made else None))
    return made
