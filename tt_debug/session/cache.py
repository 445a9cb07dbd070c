"""Decoded checkpoints, the latest used kept, bounded in bytes of their stored form."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from stores.model import Checkpoint, Ref

UNKNOWN_SIZE = 64 * 1024  # what a checkpoint counts for where the store does not tell its size


class CheckpointCache:
    """Thread-safe. A checkpoint larger than the whole bound is not kept."""

    def __init__(self, limit: int = 64 * 1024 * 1024) -> None:
        """``limit`` is in bytes."""
        self._limit = limit
        self._held = 0
        self._entries: OrderedDict[Ref, Checkpoint] = OrderedDict()
        self._lock = Lock()

    def get(self, ref: Ref) -> Checkpoint | None:
        """The checkpoint, which then counts as just used."""
        with self._lock:
            found = self._entries.get(ref)
            if found is not None:
                self._entries.move_to_end(ref)
            return found

    def put(self, checkpoint: Checkpoint) -> None:
        """Keep it, and drop the longest unused ones past the bound."""
        with self._lock:
            self._drop(checkpoint.header.ref)
            size = _size(checkpoint)
            if size > self._limit:
                return
            self._entries[checkpoint.header.ref] = checkpoint
            self._held += size
            while self._held > self._limit:
                self._drop(next(iter(self._entries)))

    def _drop(self, ref: Ref) -> None:
        gone = self._entries.pop(ref, None)
        if gone is not None:
            self._held -= _size(gone)


def _size(checkpoint: Checkpoint) -> int:
    return checkpoint.header.size or UNKNOWN_SIZE
