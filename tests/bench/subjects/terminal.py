"""What a person waits for: the first rows after a command, and the frame after a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench import data
from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works.terminal"
_PEER_ROWS: Final = 1_000


def cases(size: int) -> Iterator[Case]:
    """At each length of a thread; the peers hold a thousand rows."""
    for count, name in data.sizes(size):
        path = {"path": str(data.linear(count))}
        yield Case(
            f"first-rows-{name}",
            f"first rows of a file with {name} checkpoints / the least Textual app",
            Work(f"{_WORKS}:first_paint", path),
            None,
            Work(f"{_WORKS}:first_paint_floor"),
            {"ours/floor": 1.15},
        )
        yield Case(f"open-{name}", f"Enter to the rows of {name} checkpoints", Work(f"{_WORKS}:opening", path))
        yield _keys("down", name, path, "options", 2.5)
        yield _keys("page", name, path, "table", 5)


def _keys(key: str, name: str, path: dict[str, str], peer: str, least: float) -> Case:
    page = key == "page"
    return Case(
        f"{key}-{name}",
        f"{key} in a graph of {name} checkpoints, p95 / {peer} of {_PEER_ROWS:,}",
        Work(f"{_WORKS}:keys_ours", {**path, "page": page}),
        Work(f"{_WORKS}:keys_peer", {"widget": peer, "count": _PEER_ROWS, "page": page}),
        None,
        {"peer/ours": least},
        rounds=3,
    )
