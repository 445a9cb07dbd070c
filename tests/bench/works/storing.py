"""Storing a growing chat and reading it back; ours against LangGraph's saver and against plain JSON in a row."""

from __future__ import annotations

import random
import sqlite3
import string
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count as counted
from pathlib import Path
from typing import Any, Final

import orjson

from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from tests.bench import data
from tests.bench.data import chat_message, made
from tests.bench.harness import Amount

Message = dict[str, Any]

_LETTERS: Final = [letter for letter in string.printable[:94] if letter not in '"\\']
_AT_ONCE: Final = 10
"""Steps that a round takes, and that the state grows by in it."""


def _incompressible(number: int) -> Message:
    """A message of random letters: what is left to compress is that a byte has more values than letters."""
    return chat_message(number, "".join(random.Random(number).choices(_LETTERS, k=1000)))


def _growing(path: Path, messages: Iterator[Message]) -> None:
    create_native(path)
    with closing(NativeStore(path, read_only=False)) as store:
        held: list[Message] = []
        before: Ref | None = None
        for number, message in enumerate(messages):
            held = [*held, message]
            ref = Ref("chat", "", f"{number:06}")
            store.append(NewCheckpoint(ref, before, {"messages": held}, "step", step=number))
            before = ref


def _native(kind: str, count: int, message: Callable[[int], Message]) -> Path:
    return made(f"native-{kind}-{count}.sqlite", lambda path: _growing(path, map(message, range(count))))


def _unique(count: int, message: Callable[[int], Message]) -> Callable[[], Amount]:
    size = sum(len(orjson.dumps(message(number))) + 1 for number in range(count))
    return lambda: Amount(size, "bytes")


def bytes_ours(count: int) -> Callable[[], Amount]:
    """What states and chunks hold, as it is stored; not the keys they are found by, which `file_ours` has."""
    with closing(sqlite3.connect(_native("random", count, _incompressible))) as db:
        ((rows,),) = db.execute("SELECT sum(length(state)) FROM checkpoints")
        ((chunks,),) = db.execute("SELECT coalesce(sum(length(data)), 0) FROM chunks")
    return lambda: Amount(rows + chunks, "bytes")


def bytes_floor(count: int) -> Callable[[], Amount]:
    """Each message once."""
    return _unique(count, _incompressible)


def file_ours(count: int) -> Callable[[], Amount]:
    """The whole file, with headers, indexes and checksums."""
    size = _native("chat", count, chat_message).stat().st_size
    return lambda: Amount(size, "bytes")


def file_peer(count: int) -> Callable[[], Amount]:
    """LangGraph's with the same messages."""
    size = data.chat(count).stat().st_size
    return lambda: Amount(size, "bytes")


def unique(count: int) -> Callable[[], Amount]:
    """Each message once."""
    return _unique(count, chat_message)


def step_ours(count: int) -> Callable[[], object]:
    """Steps that each add a message to so many."""
    folder = tempfile.mkdtemp(prefix="tt-debug-bench-")
    create_native(Path(folder) / "native.sqlite")
    store = NativeStore(Path(folder) / "native.sqlite", read_only=False)
    numbers = counted()

    def work() -> object:
        held = [chat_message(number) for number in range(count - 1)]
        before = store.append(NewCheckpoint(_ref(numbers), None, {"messages": held}, "input")).ref
        steps = [[*held, *map(chat_message, range(count, count + more))] for more in range(1, _AT_ONCE + 1)]
        return _timed(lambda: _append(store, before, steps, numbers))

    return work


def _append(store: NativeStore, before: Ref, steps: list[list[Message]], numbers: Iterator[int]) -> None:
    for messages in steps:
        before = store.append(NewCheckpoint(_ref(numbers), before, {"messages": messages}, "step")).ref


def _ref(numbers: Iterator[int]) -> Ref:
    return Ref("chat", "", f"{next(numbers):06}")


def _timed(work: Callable[[], object]) -> Amount:
    import time

    started = time.perf_counter()
    work()
    return Amount((time.perf_counter() - started) / _AT_ONCE)


def step_peer(count: int) -> Callable[[], object]:
    """The same by LangGraph's saver."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    folder = tempfile.mkdtemp(prefix="tt-debug-bench-")
    db = sqlite3.connect(Path(folder) / "langgraph.sqlite", check_same_thread=False)
    saver = SqliteSaver(db)
    saver.setup()
    db.execute("PRAGMA synchronous = FULL")
    numbers = counted()

    def work() -> object:
        held = [chat_message(number) for number in range(count - 1)]
        steps = [[*held, *map(chat_message, range(count, count + more))] for more in range(1, _AT_ONCE + 1)]
        return _timed(lambda: [put(messages) for messages in steps])

    def put(messages: list[Message]) -> None:
        number = next(numbers)
        checkpoint = {
            **empty_checkpoint(),
            "id": data.checkpoint_id(number, number),
            "channel_values": {"messages": messages},
        }
        config: Any = {"configurable": {"thread_id": "chat", "checkpoint_ns": ""}}
        metadata: Any = {"source": "loop", "step": number, "parents": {}}
        saver.put(config, checkpoint, metadata, {})  # type: ignore[arg-type]

    return work


def read_ours(count: int) -> Callable[[], object]:
    """The newest state by a store that has nothing in memory."""
    path = _native("chat", count, chat_message)
    ref = Ref("chat", "", f"{count - 1:06}")

    def work() -> object:
        with closing(NativeStore(path)) as store:
            return _timed_once(lambda: store.load(ref))

    return work


def next_ours(count: int) -> Callable[[], object]:
    """A state by a store that has just read the one before it."""
    path = _native("chat", count, chat_message)
    last = [Ref("chat", "", f"{number:06}") for number in range(max(0, count - 100), count)]
    loads = _each_anew(path, last)
    return lambda: _timed_once(next(loads))


def _each_anew(path: Path, refs: list[Ref]) -> Iterator[Callable[[], object]]:
    """The reading of each but the first after the one before it; from the front again by a store that has read none."""
    while True:
        with closing(NativeStore(path)) as store:
            store.load(refs[0])
            yield from (partial(store.load, ref) for ref in refs[1:])


def _timed_once(work: Callable[[], object]) -> Amount:
    import time

    started = time.perf_counter()
    work()
    return Amount(time.perf_counter() - started)


def read_peer(count: int) -> Callable[[], object]:
    """LangGraph's reading of its newest checkpoint with the same messages."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    db = sqlite3.connect(f"{data.chat(count).as_uri()}?mode=ro", uri=True, check_same_thread=False)
    saver = SqliteSaver(db)
    saver.is_setup = True
    return lambda: saver.get_tuple({"configurable": {"thread_id": "chat", "checkpoint_ns": ""}})


def read_floor(count: int) -> Callable[[], object]:
    """The same state as JSON in a row."""
    folder = tempfile.mkdtemp(prefix="tt-debug-bench-")
    path = Path(folder) / "inline.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE checkpoints (id TEXT PRIMARY KEY, state TEXT)")
        state = orjson.dumps({"messages": [chat_message(number) for number in range(count)]}).decode()
        db.execute("INSERT INTO checkpoints VALUES ('1', ?)", (state,))

    def work() -> object:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            return _timed_once(lambda: orjson.loads(db.execute("SELECT state FROM checkpoints").fetchone()[0]))

    return work
