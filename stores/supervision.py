"""Who owns a run, what is held and asks for a person, and what is written down about it all.

Owns the values that watching over runs needs; what a store does with them is `stores.supervised`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from stores.model import Value


class Case:
    """Kinds of an inbox entry that asks for a decision about a run, not for an answer that goes into its state."""

    FAILED: Final = "failed"
    VERSION: Final = "version"
    CHECKSUM: Final = "checksum"
    RECOVERY_LIMIT: Final = "recovery_limit"


CANCEL: Final = "cancel"
DISMISS: Final = "dismiss"
"""Two decisions that every store knows: the run is cancelled; the case is closed and the run left as it is."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """That the run may be taken from an owner whose lease is not over: from the one of ``token``, and no later one.

    ``evidence`` says in words why: its process is gone, or somebody ordered it.
    """

    token: int
    evidence: str


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something worth remembering about a run or a thread. ``id`` grows with time."""

    id: int
    at: datetime
    kind: str
    run_id: str | None = None
    thread: str | None = None
    data: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where runs stop: ``place`` is before or after a node, error (of a node), or effect (before a call).

    ``node`` None is every node, ``name`` None every effect, ``thread`` None every thread; ``condition`` is JMESPath on
    the state there. ``hits`` counts the runs it has stopped.
    """

    id: str
    place: str
    node: str | None = None
    name: str | None = None
    condition: str | None = None
    thread: str | None = None
    hits: int = 0
    by: str | None = None
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class BreakpointHit:
    """That a run stops at breakpoints, and what is said of it. ``key`` is the place of the effect it stops before."""

    ids: tuple[str, ...]
    place: str
    node: str
    said: str
    key: str | None = None
