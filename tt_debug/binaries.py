"""The binary values of a run: bytes for nodes, references in the state that the engine passes on.

Owns the bytes that nodes have given until a commit has stored them, and a bounded number of those read; refuses to
know where a store keeps them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from stores import blobs
from stores.blobs import Blob
from stores.codec import json as codec
from stores.errors import NotFound
from stores.model import Opaque, Value

_HELD: Final = 64 << 20
"""Bytes of binary values that are held, so that a line of nodes reads each of them once."""


def _nowhere(digest: str) -> bytes:
    raise NotFound(f"the binary value {digest} is not there")


class Binaries:
    """``read`` gives what the store has under a SHA-256; it raises StoreError."""

    def __init__(self, read: Callable[[str], bytes] = _nowhere) -> None:
        self._read = read
        self.given: dict[str, Opaque] = {}
        """What nodes gave and no commit has stored yet, by SHA-256."""
        self._held: OrderedDict[str, bytes] = OrderedDict()

    def text(self, state: Mapping[str, Value]) -> bytes:
        """A state as JSON, with references for its binary values. Raises Invalid."""
        return codec.dumps(self.taken(dict(state)))

    def taken(self, value: Value) -> Value:
        """A value with references for its binary values, whose bytes are kept."""
        plain, found = blobs.taken_out(value)
        if found:
            self.given = self.given | {digest: each for digest, each in found.items() if not isinstance(each, Blob)}
        return plain

    def handed(self, text: bytes) -> Any:
        """The value of a state's text for a node, with the bytes themselves. Raises StoreError for what is gone."""
        value = codec.loads_own(text)
        return self.bytes_in(value) if blobs.may_refer(text) else value

    def bytes_in(self, value: Value) -> Value:
        """A value as JSON has it, which is changed in place, with the bytes themselves. Raises StoreError."""
        return blobs.put_back(value, self._bytes)

    def of(self, state: bytes) -> dict[str, Opaque]:
        """What a state to be stored refers to; its bytes are read where the store turns out not to have them."""
        return {digest: self.given.get(digest) or Blob(digest, 0, self._read) for digest in blobs.written(state)}

    def stored(self) -> None:
        """What nodes gave is in the store by now."""
        for digest, each in self.given.items():
            self._hold(digest, each.data)
        self.given = {}

    def _bytes(self, digest: str, _size: int) -> bytes:
        given = self.given.get(digest)
        if given is not None:
            return given.data
        return self._hold(digest, self._held[digest] if digest in self._held else self._read(digest))

    def _hold(self, digest: str, content: bytes) -> bytes:
        self._held[digest] = content
        self._held.move_to_end(digest)
        while sum(map(len, self._held.values())) > _HELD and len(self._held) > 1:
            self._held.popitem(last=False)
        return content
