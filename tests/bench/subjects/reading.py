"""Graphs and lists of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench import data, postgres_data
from tests.bench.harness import MILLION, Case, Work

_LISTING: Final = "tests.bench.works.listing"


def cases(size: int) -> Iterator[Case]:
    """Everything that is read without running anything."""
    for count, name in data.sizes(size):
        yield _graph(count, name)
    for count, name in data.sizes(size):
        if count >= 10_000:
            yield _graph_again(count, name)
    for count, name in data.sizes(min(size, 100_000)):
        yield _postgres(count, name)
    yield from _chat()
    yield _threads(min(1500, size // 10))


def _graph(count: int, name: str) -> Case:
    where = {"path": str(data.linear(count)), "thread": "agent"}
    # get_state_history takes 15 kB and a quarter of a millisecond a checkpoint: of a million, 15 GB and four minutes.
    peer = Work(f"{_LISTING}:graph_peer", where) if count < MILLION else None
    return Case(
        f"graph-{name}",
        f"graph of a thread of {name} checkpoints / get_state_history / SELECT id, parent",
        Work(f"{_LISTING}:graph_ours", where),
        peer,
        Work(f"{_LISTING}:graph_floor", where),
        {"ours/floor": 1.6, "peer/ours": 50, "peak": 48 * max(1, count // 100_000)},
    )


def _graph_again(count: int, name: str) -> Case:
    where = {"path": str(data.linear(count)), "thread": "agent"}
    return Case(
        f"graph-again-{name}",
        f"the same of a thread of {name} checkpoints that was opened before / SELECT id, parent",
        Work(f"{_LISTING}:graph_ours", {**where, "again": True}),
        None,
        Work(f"{_LISTING}:graph_floor", where),
        {"ours/floor": 0.06},
    )


def _postgres(count: int, name: str) -> Case:
    def where() -> dict[str, str]:
        return {"path": postgres_data.linear(count), "thread": "agent"}

    return Case(
        f"graph-postgres-{name}",
        f"graph of a thread of {name} checkpoints in PostgreSQL / get_state_history / SELECT id, parent",
        Work(f"{_LISTING}:graph_ours", where),
        Work(f"{_LISTING}:graph_peer_postgres", where),
        Work(f"{_LISTING}:graph_floor_postgres", where),
        {"ours/floor": 1.3, "peer/ours": 100},
        rounds=3,
    )


def _chat() -> Iterator[Case]:
    where = {"path": str(data.talk(1_000)), "thread": "talk"}
    yield Case(
        "graph-chat",
        "graph of a chat of 1,000 growing checkpoints / get_state_history / SELECT id, parent",
        Work(f"{_LISTING}:graph_ours", where),
        Work(f"{_LISTING}:graph_peer", where),
        Work(f"{_LISTING}:graph_floor", where),
        {"peer/ours": 1_500},
        rounds=3,
    )


def _threads(count: int) -> Case:
    where = {"path": str(data.crowd(count, 130))}
    return Case(
        "threads",
        f"list of {count:,} threads with {count * 130:,} checkpoints / loose index scan",
        Work(f"{_LISTING}:threads_ours", where),
        None,
        Work(f"{_LISTING}:threads_floor", where),
        {"ours/floor": 2},
    )
