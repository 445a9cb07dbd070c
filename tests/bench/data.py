"""The databases that are measured: made once, the same bytes for everybody, without LangGraph.

Owns their shapes and where they lie; a file of the same name and size is used again.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import ormsgpack

from tests.stores.handmade import CHECKPOINTS, WITH_PATH

_START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_GREGORIAN: Final = datetime(1582, 10, 15, tzinfo=UTC)
_STEP: Final = timedelta(milliseconds=500)
BRANCH_EVERY: Final = 50
SHAPE: Final = 2
"""Counts up when what is made here changes, so that nobody measures yesterday's files."""


def folder() -> Path:
    """Where they lie: TT_DEBUG_BENCH_DATA, or the system's folder for temporary files."""
    place = Path(os.environ.get("TT_DEBUG_BENCH_DATA") or Path(tempfile.gettempdir()) / "tt-debug-bench")
    place.mkdir(parents=True, exist_ok=True)
    return place


def made(name: str, make: Callable[[Path], None]) -> Path:
    """The file of that name, made whole or not at all."""
    path = folder() / f"{name}.v{SHAPE}"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")  # two benches at once make one each
        unfinished.unlink(missing_ok=True)
        make(unfinished)
        unfinished.rename(path)
    return path


def sizes(most: int) -> Iterator[tuple[int, str]]:
    """The lengths of threads up to ``most`` that growth is measured at, each with its name."""
    names = {1_000: "1k", 10_000: "10k", 100_000: "100k", 1_000_000: "1M"}
    yield from ((count, name) for count, name in names.items() if count <= most)


def checkpoint_id(number: int, step: int) -> str:
    """A UUIDv6 of the ``number``-th moment with the step inside, as LangGraph makes them."""
    ticks = (_START + number * _STEP - _GREGORIAN) // timedelta(microseconds=1) * 10
    high, low = divmod(ticks, 1 << 12)
    return f"{high >> 16:08x}-{high & 0xFFFF:04x}-6{low:03x}-{0x8000 | step & 0x3FFF:04x}-{number:012x}"


def linear(count: int) -> Path:
    """A LangGraph file with one thread of ``count`` checkpoints of two messages, 2 kB; a side branch every 50."""
    return made(f"linear-{count}.sqlite", lambda path: _langgraph(path, _linear(count)))


def chat(count: int) -> Path:
    """A LangGraph file with a chat that grows by about 1 kB of incompressible text a step."""
    return made(f"chat-{count}.sqlite", lambda path: _langgraph(path, _chat(count)))


def talk(count: int) -> Path:
    """The same with messages of LangChain's, as its serializer writes them: 846 kB of them after 1,000 steps."""
    return made(f"talk-{count}.sqlite", lambda path: _langgraph(path, _talk("talk", count)))


def talks(threads: int, each: int) -> Path:
    """Several of these in one file: nine of 1,000 steps are 3 GB."""
    return made(f"talks-{threads}x{each}.sqlite", lambda path: _langgraph(path, _talks(threads, each)))


def crowd(threads: int, each: int) -> Path:
    """A LangGraph file with many threads of ``each`` checkpoints."""
    return made(f"crowd-{threads}x{each}.sqlite", lambda path: _langgraph(path, _crowd(threads, each)))


Row = tuple[str, str, str | None, bytes, bytes]


def _langgraph(path: Path, rows: Iterator[Row]) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute(CHECKPOINTS)
        db.execute(WITH_PATH)
        db.executemany("INSERT INTO checkpoints VALUES (?, '', ?, ?, 'msgpack', ?, ?)", rows)
        db.commit()
        db.execute("PRAGMA journal_mode = WAL")


def _linear(count: int) -> Iterator[Row]:
    line: list[str] = []
    for number in range(count):
        branches = number % BRANCH_EVERY == BRANCH_EVERY - 1
        parent = line[-2] if branches and len(line) > 1 else line[-1] if line else None
        step = len(line) - 1
        made = checkpoint_id(number, step)
        if not branches:
            line.append(made)
        values = {"count": number, "topic": f"topic {number % 7}", "messages": [_message(number), _message(number + 1)]}
        yield _row("agent", made, parent, step, number, values)


def chat_message(number: int, text: str | None = None) -> dict[str, Any]:
    """The ``number``-th message of a chat, of about 1 kB."""
    content = _text(number, 1000) if text is None else text
    return {"id": f"m{number}", "type": "ai" if number % 2 else "human", "content": content}


def _chat(count: int) -> Iterator[Row]:
    messages: list[dict[str, Any]] = []
    before: str | None = None
    for number in range(count):
        messages.append(chat_message(number))
        made = checkpoint_id(number, number - 1)
        yield _row("chat", made, before, number - 1, number, {"messages": messages})
        before = made


def _talks(threads: int, each: int) -> Iterator[Row]:
    for thread in range(threads):
        yield from _talk(f"talk-{thread}", each)


def _talk(thread: str, count: int) -> Iterator[Row]:
    messages: list[ormsgpack.Ext] = []
    before: str | None = None
    for number in range(count):
        messages.append(_message(number))
        made = checkpoint_id(number, number - 1)
        yield _row(thread, made, before, number - 1, number, {"messages": messages})
        before = made


def _message(number: int) -> ormsgpack.Ext:
    name = "AI" if number % 2 else "Human"
    fields: dict[str, Any] = {
        "content": _text(number, 580),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": name.lower(),
        "name": None,
        "id": f"m{number}",
    }
    if number % 2:
        fields |= {"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}
    whole = [f"langchain_core.messages.{name.lower()}", f"{name}Message", fields, "model_validate_json"]
    return ormsgpack.Ext(5, ormsgpack.packb(whole))


def _crowd(threads: int, each: int) -> Iterator[Row]:
    for thread in range(threads):
        before: str | None = None
        for number in range(each):
            at = thread * each + number
            made = checkpoint_id(at, number - 1)
            yield _row(f"thread-{thread:05}", made, before, number - 1, at, {"n": number, "text": _text(at, 400)})
            before = made


def _row(thread: str, made: str, parent: str | None, step: int, number: int, values: Mapping[str, Any]) -> Row:
    versions = dict.fromkeys(values, f"{number + 1:032}.0.5")
    content = {
        "v": 4,
        "ts": (_START + number * _STEP).isoformat(),
        "id": made,
        "channel_values": dict(values),
        "channel_versions": versions,
        "versions_seen": {"agent": versions},
        "updated_channels": sorted(values),
    }
    metadata = {"source": "input" if step < 0 else "loop", "step": step, "parents": {}}
    return thread, made, parent, ormsgpack.packb(content), json.dumps(metadata).encode()


def _text(seed: int, size: int) -> str:
    """Text that no compression makes much smaller, the same for the same seed."""
    need = -(-size // 64)
    return "".join(hashlib.sha256(f"{seed}/{part}".encode()).hexdigest() for part in range(need))[:size]


def messages(count: int) -> list[dict[str, Any]]:
    """A conversation as plain values."""
    random.seed(7)
    return [
        {
            "id": f"m{number}",
            "type": "ai" if number % 2 else "human",
            "content": _text(number, 120 + random.randrange(400)),
            "usage": {"in": number, "out": number * 2, "cost": number / 1000},
        }
        for number in range(count)
    ]
