"""The states of a native store: plain JSON in their rows, or the root of a tree of chunks there.

Owns what of them is held in memory, bounded in bytes and shared by everybody who reads the store: equal parts of two
states are one object, which nobody may change. Refuses to know any table but that of chunks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stores import blobs
from stores.blobs import Blob
from stores.codec import json
from stores.errors import Corrupt, Invalid, StoreError
from stores.model import Opaque, Value
from stores.native import chunks
from stores.native.tree_cutting import Cutting
from stores.native.tree_reading import Place, Reading, malformed, placed, top_of
from stores.native.trees import INLINE, Held, hash_in, is_tree
from stores.paths import format_path

if TYPE_CHECKING:
    from stores.native.database import Statements

HELD: Final = 64 << 20
"""Bytes of JSON, about, that are held in memory."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A state about to be inserted: the text for its row, its size as JSON, and the chunks that must be there."""

    text: str
    size: int
    chunks: Mapping[bytes, bytes]
    blobs: Mapping[str, Opaque]


class States:
    """What is held in memory of one store's states; safe to use from any thread."""

    def __init__(self, read_blob: Callable[[str], bytes], most: int = HELD) -> None:
        """``read_blob`` gives the bytes under a SHA-256; a state that holds such refers to it."""
        self._read_blob = read_blob
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._bytes = 0

    def read(self, db: Statements, text: str, size: int) -> dict[str, Value]:
        """The state of a row. Raises Corrupt, saying of which part, for one that cannot be put together."""
        if not is_tree(text):
            return self._inline(text)
        held = self._of(text)
        if held is None:
            reading = Reading(self._of_these, lambda names: texts_of(db, names), self._shown)
            held = reading.root(text, size)
            self._keep(reading.made)
        state = held.value
        assert isinstance(state, dict)
        return state

    def read_many(
        self, db: Statements, rows: Sequence[tuple[str, int]], only: Collection[str] | None = None
    ) -> list[dict[str, Value]]:
        """The states of many rows, as `read` gives each; of those that are trees the keys ``only`` are enough.

        Of two rows with the same text, one after the other, it is the same object."""
        trees = [(number, row) for number, row in enumerate(rows) if is_tree(row[0])]
        reading = Reading(self._of_these, lambda names: texts_of(db, names), self._shown)
        read = reading.roots([row for _, row in trees], only)
        self._keep(reading.made)
        whole = {number: state for (number, _), state in zip(trees, read, strict=True)}
        states: list[dict[str, Value]] = []
        before = None
        for number, (text, _) in enumerate(rows):
            if text != before:
                state = whole[number] if number in whole else self._inline(text)
            states.append(state)
            before = text
        return states

    def cut(self, state: Mapping[str, Value], given: Mapping[str, Opaque], before: str | None) -> Stored:
        """A state to be stored, whose parent's row holds ``before``. Raises Invalid for what JSON would change."""
        plain, found = dict(state), dict(given)
        if before is None and (text := _short(plain)) is not None:
            return Stored(text.decode(), len(text), {}, found)
        try:
            sizes = _sizes(plain)
        except TypeError:
            plain, own = blobs.taken_out(plain)
            found |= own
            json.dumps(plain)
            sizes = _sizes(plain)
        size = json.size_with(sizes)
        if size <= INLINE:
            return Stored(json.dumps(plain).decode(), size, {}, found)
        cutting = Cutting(self._of, self._shown)
        try:
            row = cutting.root(plain, sizes, before)
        except Invalid:
            json.dumps(plain)  # names the place
            raise
        self._keep(cutting.made)
        return Stored(row, size, cutting.chunks, found)

    def _inline(self, text: str) -> dict[str, Value]:
        raw = text.encode("utf-8", "surrogatepass")
        state = self._shown(raw, json.loads(raw))
        if not isinstance(state, dict):
            raise Corrupt("no object")
        return state

    def _shown(self, text: bytes, value: Value) -> Value:
        return blobs.put_back(value, self._blob) if blobs.may_refer(text) else value

    def _blob(self, digest: str, size: int) -> Blob:
        return Blob(digest, size, self._read_blob)

    def _of(self, name: str) -> Held | None:
        with self._lock:
            held = self._held.get(name)
            if held is not None:
                self._held.move_to_end(name)
            return held

    def _of_these(self, names: Collection[str]) -> dict[str, Held]:
        with self._lock:
            found = {name: held for name in names if (held := self._held.get(name)) is not None}
            for name in found:
                self._held.move_to_end(name)
            return found

    def _keep(self, made: Mapping[str, Held]) -> None:
        with self._lock:
            for name, held in made.items():
                before = self._held.pop(name, None)
                self._held[name] = held
                self._bytes += held.cost - (before.cost if before is not None else 0)
            while self._bytes > self._most and len(self._held) > 1:
                self._bytes -= self._held.popitem(last=False)[1].cost


def _short(state: Mapping[str, Value]) -> bytes | None:
    """The text of a state that stands in its row as it is; None for a longer one, or one that is not all JSON."""
    try:
        text = json.quick(state)
    except TypeError:
        return None
    if len(text) > INLINE:
        return None
    json.checked(text, state)
    return text


def _sizes(state: Mapping[str, Value]) -> dict[str, int]:
    """Bytes of each value as JSON. Raises TypeError."""
    if not all(type(key) is str for key in state):
        raise TypeError("a key is no text")
    return {key: json.size(value) for key, value in state.items()}


def keep(db: Statements, stored: Stored, *, given_only: bool = False) -> None:
    """Insert what a state refers to and is not there yet: one question, and rows for what is new.

    Raises Invalid for a binary value that is nowhere, unless ``given_only``.
    """
    named_blobs = blobs.written(stored.text.encode()).union(*map(blobs.written, stored.chunks.values()))
    if not stored.chunks and not named_blobs:
        return
    wanted = [*stored.chunks, *map(bytes.fromhex, named_blobs)]
    absent = chunks.missing(db, wanted)
    new = {hash: text for hash, text in stored.chunks.items() if hash in absent}
    for digest in sorted(named_blobs):
        if bytes.fromhex(digest) not in absent:
            continue
        blob = stored.blobs.get(digest)
        if blob is not None:
            new[bytes.fromhex(digest)] = blob.data
        elif not given_only:
            raise Invalid(
                f"the state refers to a binary value {digest} that is not in this store",
                hint="Return the bytes themselves: they are stored, and a reference stands for them.",
            )
    chunks.insert(db, new)


def keep_binaries(db: Statements, value: Value, given: Mapping[str, Opaque] | None = None) -> Value:
    """The value with references for its binary values, whose bytes are inserted where they are not there; those that it
    refers to already are looked for in ``given``."""
    plain, found = blobs.taken_out(value)
    found |= given or {}
    wanted = {digest: found[digest] for _, digest in blobs.references(plain) if digest in found}
    if wanted:
        absent = chunks.missing(db, [bytes.fromhex(digest) for digest in wanted])
        chunks.insert(db, {hash: wanted[hash.hex()].data for hash in absent})
    return plain


def broken(db: Statements, text: str, seen: set[str]) -> str | None:
    """What is wrong with what a state's row refers to, None when all of it is there and as it was written.

    ``seen`` are names that have been found sound before, and is added to.
    """
    wanted: dict[str, Place] = {}
    digests = {digest: Place(()) for digest in blobs.written(text.encode("utf-8", "surrogatepass"))}
    try:
        if is_tree(text):
            top = top_of(json.loads(text))
            wanted = {top: Place(())} if isinstance(top, str) else dict(placed(top, Place(())))
        while wanted := {name: place for name, place in wanted.items() if name not in seen}:
            following: dict[str, Place] = {}
            for name, content in texts_of(db, wanted).items():
                if isinstance(content, str):
                    return f"chunk {name[1:13]} of {wanted[name]} {content}"
                seen.add(name)
                digests |= dict.fromkeys(blobs.written(content), wanted[name])
                if name[0] == "n":
                    following.update(placed(json.loads(content), wanted[name]))
            wanted = following
    except (StoreError, LookupError, TypeError, ValueError, AttributeError) as error:
        return f"its state is {error if isinstance(error, Corrupt) else malformed(error)}"
    return _broken_blob(db, text, {digest: place for digest, place in digests.items() if digest not in seen}, seen)


def _broken_blob(db: Statements, text: str, digests: Mapping[str, Place], seen: set[str]) -> str | None:
    for digest, place in digests.items():
        (found,) = chunks.fetched(db, [bytes.fromhex(digest)]).values()
        if isinstance(found, str):
            where = str(place)
            if not is_tree(text):
                where = next(format_path(path) for path, it in blobs.references(json.loads(text)) if it == digest)
            return f"the binary value {digest} of {where} {found}"
        seen.add(digest)
    return None


def texts_of(db: Statements, names: Collection[str]) -> dict[str, bytes | str]:
    """The texts of chunks by name; of one that cannot be had why not, as a str."""
    hashes = {name: hash_in(name) for name in names}
    found = chunks.fetched(db, set(hashes.values()))
    return {name: found[hash] for name, hash in hashes.items()}
