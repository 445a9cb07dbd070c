"""How a run stands, in words; apart from the records of `stores.runs`, whose import costs 8 ms, for what only looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.model import Status


class RunStatus:
    """The state machine of a run. `stores.model.Status` is what a listing shows for it."""

    PENDING: Final = "pending"
    RUNNING: Final = "running"
    WAITING: Final = "waiting_human"
    PAUSED: Final = "paused"
    COMPLETED: Final = "completed"
    FAILED: Final = "failed"
    CANCELLED: Final = "cancelled"
    CRASHED: Final = "crashed"

    ACTIVE: Final = frozenset({PENDING, RUNNING, WAITING, PAUSED, CRASHED})
    TERMINAL: Final = frozenset({COMPLETED, CANCELLED})


_SHOWN: Final[Mapping[str, str]] = {RunStatus.WAITING: Status.WAITING, RunStatus.COMPLETED: Status.DONE}


def shown(status: str) -> str:
    """A run's status in the words of `stores.model.Status`, as listings and events name it."""
    return _SHOWN.get(status, status)
