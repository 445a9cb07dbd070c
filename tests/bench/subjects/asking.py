"""Questions asked of the whole history: when a condition held, where a text stands, who wrote a value."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.harness import Case


def cases(size: int) -> Iterator[Case]:
    """None yet."""
    yield from ()
