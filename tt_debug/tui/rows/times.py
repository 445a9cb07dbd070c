"""How long a step took, as far as two times tell, and durations as short as a column needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.model import Header, Ref

BY_HAND: Final = frozenset({"input", "update", "edit", "fork", "answer"})
"""Sources a person writes: the time before and after one is a person's, not a step's."""


def step_seconds(header: Header, headers: Mapping[Ref, Header]) -> float | None:
    """Seconds between a checkpoint and its parent; None where they are not one step's."""
    parent = headers.get(header.parent) if header.parent else None
    if parent is None or header.created is None or parent.created is None or header.source in BY_HAND:
        return None
    if parent.source in BY_HAND and parent.source != "input":
        return None
    if parent.ref.thread != header.ref.thread:
        # A fork's first row: between the two lies the time until somebody forked.
        return None
    return (header.created - parent.created).total_seconds()


def delta_text(seconds: float) -> str:
    """A step's duration with its sign: "+174ms", "+2.1s", "+3m12", "+2h05", "+4d"."""
    sign = "-" if seconds < 0 else "+"
    seconds = abs(seconds)
    if seconds < 0.9995:
        return f"{sign}{seconds * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{sign}{seconds:.1f}s"
    minutes = round(seconds / 60) if seconds >= 3600 else int(seconds // 60)
    if seconds < 3600:
        return f"{sign}{minutes}m{int(seconds % 60):02}"
    if seconds < 86_400 * 2:
        return f"{sign}{minutes // 60}h{minutes % 60:02}"
    return f"{sign}{seconds / 86_400:.0f}d"


def clock_text(seconds: float) -> str:
    """Elapsed time as a clock: "00:42", "1:02:03"."""
    whole = int(max(0.0, seconds))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes:02}:{secs:02}"
