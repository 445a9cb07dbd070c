"""The threads of a listing in the order that was asked for, and how many forks each has. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from stores.model import Status, ThreadInfo

ORDERS: Final = ("last write", "name", "steps", "status")
URGENT: Final = (Status.FAILED, Status.CRASHED, Status.WAITING, Status.HELD, Status.RUNNING)
"""What comes first in the order of status."""


def forks_of(threads: Iterable[ThreadInfo]) -> Counter[str]:
    """How many threads were forked from each."""
    return Counter(info.forked_from.thread for info in threads if info.forked_from is not None)


def ordered(threads: list[ThreadInfo], order: str) -> list[ThreadInfo]:
    """By ``order``; the listing itself comes newest write first, and ties keep that."""
    if order == "name":
        return sorted(threads, key=lambda info: info.thread.casefold())
    if order == "steps":
        return sorted(threads, key=lambda info: -(info.checkpoints or 0))
    if order == "status":
        return sorted(threads, key=lambda info: URGENT.index(info.status) if info.status in URGENT else len(URGENT))
    return threads
