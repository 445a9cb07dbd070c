"""What a store tells about its rows for whoever thinks of freeing some: what needs what, and the bytes of each.

Owns the contracts; nothing here, nor in any adapter, deletes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol, runtime_checkable

from stores.model import Ref


class Room(NamedTuple):
    """Bytes that the rows of a thread take in the store, and those of them that no kept checkpoint needs."""

    total: int
    free: int


@runtime_checkable
class TellsNeeds(Protocol):
    """A store whose checkpoints do not each hold their whole state."""

    def needed(self, ref: Ref) -> tuple[Ref, ...]:
        """The earlier checkpoints of its line without whose rows the state of ``ref``, or what runs next from it,
        cannot be put together; nearest first. Raises NotFound."""
        ...


@runtime_checkable
class TellsRoom(Protocol):
    """A store that can say what its rows take, values stored once for several checkpoints included."""

    def room(self, thread: str, kept: Collection[Ref]) -> Room:
        """Of one thread; ``kept`` are those of its checkpoints that stay. Nothing is read of the values themselves."""
        ...


@runtime_checkable
class TellsProtected(Protocol):
    """A store in which threads can be protected from cleaning up."""

    def protected(self) -> frozenset[str]:
        """Their names."""
        ...
