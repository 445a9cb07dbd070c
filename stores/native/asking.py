"""Questions that name many rows: in parts of a few lengths, so that few statements have to be prepared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

LENGTHS: Final = (1, 8, 64, 512)


def parts(names: Sequence[T]) -> Iterator[list[T]]:
    """All of them; what a part is short of one of these lengths is filled up with its last name."""
    for start in range(0, len(names), LENGTHS[-1]):
        part = list(names[start : start + LENGTHS[-1]])
        length = next(size for size in LENGTHS if size >= len(part))
        yield part + part[-1:] * (length - len(part))
