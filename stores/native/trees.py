"""The notation of a large state: a Merkle tree of chunks, each known by the hash of its text.

Owns the words that whoever cuts a state (`tree_cutting`) and whoever reads it (`tree_reading`) must agree on; refuses
to know where chunks lie. A chunk's text is JSON:

- a leaf, "j" + its hash: a value as it is, or a run of items as the list or the object that they make;
- a node, "n" + its hash: ``{"list": levels}`` or ``{"dict": levels}`` for a container, an array for a run of others.

The last of a container's levels are its newest items: ``[value]`` or a leaf's or node's name, in a dict after the key.
The levels before it are runs that are closed, the largest first, ``name/items``. Where a run ends is decided by
what its items hold, not by where they stand, so that equal parts of two lists are equal chunks after an insertion.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from stores.codec import json
from stores.model import Value

MARK: Final = "tt-debug/tree-1"
"""Begins the array that stands for such a state in its row: a state itself is always an object."""

_TREE: Final = '["tt-debug/tree-'

INLINE: Final = 16 * 1024
"""Bytes of JSON up to which a state stands in its row as it is."""
CONTAINER: Final = 1024
"""Bytes from which on a container in another is a chunk of its own,"""
LEAF: Final = 4096
"""and up to which it is one chunk; a text is a chunk of its own from here on."""
RUN: Final = 2048
"""Bytes that a run of small items comes to on average,"""
LONGEST: Final = 4 * RUN
"""and at most, whatever its items hold."""
NAME: Final = RUN // 5
"""Bytes that the name of a chunk counts for in a run: four or five to a run on average. Each append writes the names at
a list's end anew: of a chat that grows by 1 kB a step, 1,000 steps take 1.38 times their bytes, and 1.77 with 32."""
PAIR: Final = RUN // 64
"""Bytes that a key of a dict counts for, whatever it holds: sixty-four to a run on average, less than thirty-two are
never cut."""
DEEPEST: Final = 32
"""Containers inside each other that are taken apart; what lies deeper is one leaf."""

HASH_BYTES: Final = 20
NAME_LENGTH: Final = 1 + 2 * HASH_BYTES


class Run(NamedTuple):
    """A closed run: its name, how many items of the container it holds, and how many entries it is made of."""

    name: str
    items: int
    entries: int


class Held(NamedTuple):
    """A part of a tree as it is held in memory. ``value`` is shared by all that hold the same chunk: never changed.

    ``runs`` are the closed runs inside it, by height, the lowest first; ``names`` the chunks it names itself, of a
    dict by key, ``entries`` how many entries it is made of. ``cost`` is about its bytes.
    """

    value: Value
    cost: int
    entries: int = 0
    runs: tuple[tuple[Run, ...], ...] = ()
    inner: Mapping[str, str] = MappingProxyType({})
    names: frozenset[str] = frozenset()


def hash_of(text: bytes) -> bytes:
    """What a chunk is known by."""
    return hashlib.sha256(text).digest()[:HASH_BYTES]


def name_of(kind: str, text: bytes) -> str:
    return kind + hash_of(text).hex()


def hash_in(name: str) -> bytes:
    return bytes.fromhex(name[1:])


def is_tree(state: str) -> bool:
    """Whether the text of a state's row stands for a tree."""
    return state.startswith(_TREE)


def same(one: Value, other: Value) -> bool:
    """Whether two values are the same to the letter. What ``==`` mixes up (1 and True), their texts tell apart, and
    what the texts mix up (a tuple and a list), ``==`` does."""
    try:
        if one != other:
            return False
        if type(one) is not list or type(other) is not list:
            return json.quick(one) == json.quick(other)
        parts = (slice(at, at + json.PART) for at in range(0, len(one), json.PART))
        return all(json.quick(one[part]) == json.quick(other[part]) for part in parts)
    except TypeError:
        return False
