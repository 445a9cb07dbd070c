"""What changed between two states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works.differing"
_MESSAGES: Final = 1_000
_ROUND: Final = 0.05
_FLOOR: Final = {"ours/floor": 2.0}
_ALL: Final = {"ours/floor": 2.0, "peer/ours": 400.0}
_KINDS: Final = {
    "none": "equal copies",
    "all": "each of them other: two changes a message",
    "leaf": "beside one other leaf in 5 MB",
    "shared": "one appended, the others the same objects",
}


def cases(size: int) -> Iterator[Case]:
    """The kinds of changes; how long a thread is does not matter to them."""
    count = min(size, _MESSAGES)
    for kind, targets in (
        ("append", _ALL),
        ("edit", _ALL),
        ("insert", _ALL),
        ("none", _FLOOR),
        ("all", {}),
        ("leaf", _FLOOR),
        ("shared", {"ours/floor": 0.1}),
    ):
        yield _diff(kind, count, targets)


def _diff(kind: str, count: int, targets: Mapping[str, float]) -> Case:
    options = {"kind": kind, "count": count}
    return Case(
        f"diff-{kind}",
        f"diff of {count:,} messages, {_KINDS.get(kind, kind)} / deepdiff / orjson.dumps of both",
        Work(f"{_WORKS}:diff_ours", options),
        Work(f"{_WORKS}:diff_peer", options) if kind in ("append", "edit", "insert", "all") else None,
        Work(f"{_WORKS}:diff_floor", options),
        targets,
        seconds=_ROUND,
    )
