"""What `make bench` measures, and what each ratio should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench import data
from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works"
_SIZES: Final = {1_000: "1k", 10_000: "10k", 100_000: "100k", 1_000_000: "1M"}


def cases(size: int) -> Iterator[Case]:
    """Everything, up to ``size`` checkpoints a thread."""
    for count, name in _SIZES.items():
        if count <= size:
            yield _graph(count, name)
    yield from _stepping()
    yield _threads(min(1500, size // 10))
    for kind in ("append", "edit", "insert", "none", "all"):
        yield _diff(kind, 1_000)
    yield from _commands(size)


def _graph(count: int, name: str) -> Case:
    where = {"path": str(data.linear(count)), "thread": "agent"}
    return Case(
        f"graph-{name}",
        f"graph of a thread of {name} checkpoints / SqliteSaver.list / SELECT id, parent",
        Work(f"{_WORKS}.listing:graph_ours", where),
        Work(f"{_WORKS}.listing:graph_peer", where),
        Work(f"{_WORKS}.listing:graph_floor", where),
        {"ours/floor": 1.6, "peer/ours": 50},
    )


def _stepping() -> Iterator[Case]:
    where = {"path": str(data.chat(1_000)), "thread": "chat"}
    yield Case(
        "graph-chat",
        "graph of a chat of 1,000 growing checkpoints / SqliteSaver.list / SELECT id, parent",
        Work(f"{_WORKS}.listing:graph_ours", where),
        Work(f"{_WORKS}.listing:graph_peer", where),
        Work(f"{_WORKS}.listing:graph_floor", where),
        {"peer/ours": 1_500},
        rounds=3,
    )
    yield Case(
        "step",
        "next checkpoint and its diff in that chat / LangGraph and deepdiff / SELECT of both rows",
        Work(f"{_WORKS}.stepping:step_ours", where),
        Work(f"{_WORKS}.stepping:step_peer", where),
        Work(f"{_WORKS}.stepping:step_floor", where),
        {"ours/floor": 1.5, "peer/ours": 500},
        rounds=15,
    )


def _threads(count: int) -> Case:
    where = {"path": str(data.crowd(count, 130))}
    return Case(
        "threads",
        f"list of {count:,} threads with {count * 130:,} checkpoints / loose index scan",
        Work(f"{_WORKS}.listing:threads_ours", where),
        None,
        Work(f"{_WORKS}.listing:threads_floor", where),
        {"ours/floor": 2},
    )


def _diff(kind: str, count: int) -> Case:
    options = {"kind": kind, "count": count}
    return Case(
        f"diff-{kind}",
        f"diff of {count:,} messages, {kind} / deepdiff / orjson.dumps of both",
        Work(f"{_WORKS}.differing:diff_ours", options),
        Work(f"{_WORKS}.differing:diff_peer", options) if kind not in ("none", "all") else None,
        Work(f"{_WORKS}.differing:diff_floor", options),
        {"ours/floor": 2, "peer/ours": 400},
    )


def _commands(size: int) -> Iterator[Case]:
    nothing = Work(f"{_WORKS}.starting:process", {"argv": ["{python}", "-c", "pass"]})
    small = str(data.linear(1_000))
    for id, argv, most in (
        ("help", ["--help"], 3.5),
        ("threads-command", ["threads", small], 8),
        ("log-command", ["log", small, "agent", "--limit", "50"], 8),
    ):
        ours = Work(f"{_WORKS}.starting:process", {"argv": ["{python}", "-m", "tt_debug", *argv]})
        shown = " ".join(Path(part).name if part == small else part for part in argv)
        yield Case(id, f"tt-debug {shown} / python -c pass", ours, None, nothing, {"ours/floor": most}, rounds=9)
