"""Checkpoint ids: UUIDv6, sortable as text, with the step in the clock sequence, as LangGraph makes them.

Owns making and reading them; refuses to guess anything from an id of another kind.
"""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIX_TICKS: Final = 0x01B21DD213814000  # ticks of 100 ns from 1582-10-15 to 1970-01-01
_MAX_TICKS: Final = (1 << 60) - 1
_STEP_BITS: Final = 0x3FFF
STEPS: Final = _STEP_BITS + 1 - 16  # as many as an id tells apart, those below 0 aside
_NEGATIVE_FROM: Final = 0x3FF0  # steps below 0 are few: -1 is an input, -2 a stub
_SHAPE: Final = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])([0-9a-f]{3})-([0-9a-f]{4})-[0-9a-f]{12}")


def new_id(step: int, after: str | None = None) -> str:
    """An id for a checkpoint of ``step`` that sorts after the id ``after``, even where the clock went back.

    Raises ValueError when no id can sort after it (an id of another kind with a high first letter).
    """
    ticks = time.time_ns() // 100 + _UNIX_TICKS
    if after is not None:
        earlier = _ticks(after)
        if earlier is not None and earlier >= ticks:
            ticks = earlier + 1
    if ticks > _MAX_TICKS:
        raise ValueError(f"no id can follow {after!r}")
    made = _format(ticks, step)
    if after is not None and made <= after:
        raise ValueError(f"no id can follow {after!r}")
    return made


def time_of(id: str) -> datetime | None:
    """When the id was made, in UTC, to the microsecond. None for an id of another kind."""
    micros = micros_of(id)
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def micros_of(id: str) -> int | None:
    """The same in microseconds since 1970."""
    match = _SHAPE.fullmatch(id)
    if match is None or match[3] != "6":
        return None
    return (int(match[1] + match[2] + match[4], 16) - _UNIX_TICKS) // 10


def step_of(id: str) -> int | None:
    """The step in the clock sequence (modulo 16,384). None for an id of another kind."""
    match = _SHAPE.fullmatch(id)
    if match is None or match[3] != "6":
        return None
    step = int(match[5], 16) & _STEP_BITS
    return step - _STEP_BITS - 1 if step >= _NEGATIVE_FROM else step


def is_ours(id: str) -> bool:
    """Whether the id is a UUIDv6 in its usual spelling."""
    match = _SHAPE.fullmatch(id)
    return match is not None and match[3] == "6"


def _ticks(id: str) -> int | None:
    match = _SHAPE.fullmatch(id)
    return None if match is None else int(match[1] + match[2] + match[4], 16)


def _format(ticks: int, step: int) -> str:
    text = f"{ticks:015x}"
    sequence = 0x8000 | (step & _STEP_BITS)
    return f"{text[:8]}-{text[8:12]}-6{text[12:]}-{sequence:04x}-{os.urandom(6).hex()}"
