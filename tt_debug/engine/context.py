"""What a node gets beside the state: who it is, and the few calls it may make.

Owns `Context` and `DELETE`; refuses to give a node the store, the run's records or the process.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar, Final


class _Delete:
    """As a value in a node's result: this key goes away."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "DELETE"

    def __copy__(self) -> _Delete:
        return self

    def __deepcopy__(self, _memo: object) -> _Delete:
        return self


DELETE: Final = _Delete()


@dataclass(frozen=True, slots=True)
class Context:
    """One attempt at one node. ``visit`` counts how often the thread came to this node, ``attempt`` the tries now."""

    DELETE: ClassVar[_Delete] = DELETE

    run_id: str
    thread: str
    node: str
    visit: int
    attempt: int
    say: Callable[[str], None] = field(repr=False)

    def log(self, text: object) -> None:
        """Keep a line with this attempt, and show it to whoever watches the run."""
        self.say(str(text))

    def now(self) -> datetime:
        """The time in UTC. Store it as ``ctx.now().isoformat()``."""
        return datetime.now(UTC)

    def uuid(self) -> str:
        """A new random UUID as text."""
        return str(uuid.uuid4())

    def random(self) -> float:
        """A number from 0 up to, not including, 1."""
        return random.random()
