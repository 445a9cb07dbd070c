"""A chat that grows by a message a step in our own store: what it takes, what a step costs, and reading it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works.storing"
_STEPS: Final = 1_000
_FEW: Final = 10
_ROUND: Final = 0.05


def cases(size: int) -> Iterator[Case]:
    """All up to a thousand steps."""
    count = min(size, _STEPS)
    options = {"count": count}
    yield Case(
        "store-bytes",
        f"bytes of {count:,} states of a growing chat of incompressible text / bytes of its messages",
        Work(f"{_WORKS}:bytes_ours", options),
        floor=Work(f"{_WORKS}:bytes_floor", options),
        targets={"ours/floor": 1.4},
        rounds=1,
    )
    yield Case(
        "store-file",
        f"the file of {count:,} steps of a growing chat / LangGraph's / bytes of its messages",
        Work(f"{_WORKS}:file_ours", options),
        Work(f"{_WORKS}:file_peer", options),
        Work(f"{_WORKS}:unique", options),
        {"peer/ours": 150},
        rounds=1,
    )
    yield Case(
        "store-step",
        f"a step at {count:,} messages, durable / SqliteSaver.put / a step at {_FEW}",
        Work(f"{_WORKS}:step_ours", options),
        Work(f"{_WORKS}:step_peer", options),
        Work(f"{_WORKS}:step_ours", {"count": _FEW}),
        {"ours/floor": 1.3, "peer/ours": 10},
        rounds=15,
    )
    yield Case(
        "store-read",
        f"read a state of {count:,} messages, cold / SqliteSaver.get_tuple / the same as JSON in its row",
        Work(f"{_WORKS}:read_ours", options),
        Work(f"{_WORKS}:read_peer", options),
        Work(f"{_WORKS}:read_floor", options),
        {"ours/floor": 2},
        seconds=_ROUND,
    )
    yield Case(
        "store-next",
        f"read the next state of {count:,} messages / as JSON in its row",
        Work(f"{_WORKS}:next_ours", options),
        floor=Work(f"{_WORKS}:read_floor", options),
        targets={"ours/floor": 0.2},
        seconds=_ROUND,
    )
