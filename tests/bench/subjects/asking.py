"""Questions asked of the whole history: when a condition held, where a text stands, who wrote a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench import data, native_data
from tests.bench.harness import Case, Work, rounds_at

_WORKS: Final = "tests.bench.works.asking"
_MOST: Final = 100_000


def cases(size: int) -> Iterator[Case]:
    """Of a thread of LangGraph's, and of native ones of several lengths."""
    yield from _of_langgraph(size)
    for count, name in data.sizes(size):
        yield from _of_native(count, name)


def _of_native(count: int, name: str) -> Iterator[Case]:
    """Small states of plain values, in one line."""
    where = {"path": str(native_data.linear(count)), "thread": native_data.THREAD}
    floor = Work(f"{_WORKS}:native_floor", where)
    for key, what in (("nothing", "that none has"), ("phase", "written twice"), ("count", "that each step writes")):
        yield Case(
            f"history-native-{key}-{name}",
            f"history of a path {what}, in {count:,} native checkpoints / json.loads of each row",
            Work(f"{_WORKS}:history_ours", {**where, "key": key}),
            None,
            floor,
            rounds=rounds_at(count, 3),
        )
    yield Case(
        f"find-native-{name}",
        f"find a number in {count:,} native checkpoints / json.loads of each row",
        Work(f"{_WORKS}:find_ours", {**where, "expression": "count == `777`"}),
        None,
        floor,
        rounds=rounds_at(count, 3),
    )
    yield Case(
        f"grep-native-{name}",
        f"grep a text that is nowhere in {count:,} native checkpoints / json.loads of each row",
        Work(f"{_WORKS}:grep_ours", {**where, "text": "nowhere at all"}),
        None,
        floor,
        rounds=rounds_at(count, 3),
    )


def _of_langgraph(size: int) -> Iterator[Case]:
    """2 kB states, in messages of LangChain's and a few plain values."""
    count = min(size, _MOST)
    where = {"path": str(data.linear(count)), "thread": "agent"}
    unpacked = Work(f"{_WORKS}:find_floor", where)
    yield Case(
        "find",
        f"find a number in {count:,} checkpoints / SqliteSaver.list and a look / unpackb of each row",
        Work(f"{_WORKS}:find_ours", {**where, "expression": "count == `777`"}),
        Work(f"{_WORKS}:find_peer", {**where, "key": "count"}),
        unpacked,
        {"ours/floor": 2},
        rounds=3,
    )
    yield Case(
        "find-messages",
        f"find a text in the messages of {count:,} checkpoints / unpackb of each row",
        Work(f"{_WORKS}:find_ours", {**where, "expression": "messages[-1].content == 'nothing'"}),
        None,
        unpacked,
        rounds=3,
    )
    yield Case(
        "grep",
        f"grep a text that is nowhere in {count:,} checkpoints / bytes in row",
        Work(f"{_WORKS}:grep_ours", {**where, "text": "nowhere at all"}),
        None,
        Work(f"{_WORKS}:grep_floor", {**where, "text": "nowhere at all"}),
        {"ours/floor": 1.2, "peak": 64},
        rounds=5,
    )
    yield Case(
        "grep-first",
        f"the first hit of a text in {count:,} checkpoints",
        Work(f"{_WORKS}:grep_ours", {**where, "text": "topic 3", "first": True}),
        rounds=9,
    )
    yield Case(
        "history",
        f"history of a path in {count:,} checkpoints that none has / unpackb of each row",
        Work(f"{_WORKS}:history_ours", {**where, "key": "nothing"}),
        None,
        unpacked,
        {"ours/floor": 2},
        rounds=3,
    )
