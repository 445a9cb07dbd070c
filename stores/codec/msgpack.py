"""LangGraph's msgpack: its extension codes become `Tagged` or `Opaque` values, written back byte for byte.

Owns the extension codes (langgraph-checkpoint 4.x serde/jsonplus.py); refuses to import or call what they name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import ormsgpack

from stores.codec import loose
from stores.errors import Corrupt, Invalid
from stores.model import Opaque, Partial, Path, Tagged, Value
from stores.paths import format_path

CONSTRUCTOR_KW: Final = 2
NDARRAY: Final = 6
DELTA_SNAPSHOT: Final = 7
_CLASSES: Final = frozenset({0, 1, CONSTRUCTOR_KW, 3, 4, 5})

_READ: Final = ormsgpack.OPT_NON_STR_KEYS
# What ormsgpack would convert by itself (a tuple, a dataclass, an enum) reaches `default` instead and is refused there.
_WRITE: Final = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_MAX_EXT_DEPTH: Final = 100
_MAX_BYTES_DEPTH: Final = 400  # half of what Python recurses to
_MAX_DEPTH: Final = 250  # ormsgpack packs 255 levels and unpacks 1022
# The marker bytes of msgpack's bin family: a text without them holds no bytes, and needs no second walk.
_BIN_MARKERS: Final = (b"\xc4", b"\xc5", b"\xc6")


_Key: TypeAlias = tuple[int, bytes]
_Read: TypeAlias = Tagged | Opaque


class Decoder:
    """Decodes values of one store; equal extension payloads become the same object, so that stepping decodes what is
    new and diffs compare by identity. What it gives is shared, so nobody may change it.

    ``budget`` bounds the bytes remembered, which take four times as much room decoded; between threads that share a
    decoder the bound is approximate.
    """

    def __init__(self, budget: int = 24 * 1024 * 1024) -> None:
        self._known = _Known(budget)
        self._last: Sequence[tuple[_Key, _Read]] = ()

    def decode(self, raw: bytes) -> Value:
        """The value of one msgpack text. Raises Corrupt when it is none."""
        # The next checkpoint of a thread begins with the same messages. To compare them with those of the one before,
        # in order, takes a third of the time of looking each up, which has to hash all its bytes.
        before = iter(self._last)
        here: list[tuple[_Key, _Read]] = []

        def extension(code: int, raw: bytes) -> _Read:
            found = next(before, None)
            if found is None or found[0][1] != raw or found[0][0] != code:
                found = ((code, raw), self._remembered(code, raw, 0))
            here.append(found)
            return found[1]

        value = self._decode(raw, extension)
        if here:
            self._last = here
        return value

    def extension(self, code: int, raw: bytes) -> _Read:
        """The value of one extension, as `shallow` leaves it."""
        return self._remembered(code, raw, 0)

    def _decode(self, raw: bytes, hook: loose.Hook) -> Value:
        try:
            value = _unpacked(raw, hook)
            return _wrap_bytes(value) if any(marker in raw for marker in _BIN_MARKERS) else value
        except (ValueError, TypeError, RecursionError) as error:
            raise Corrupt(f"not msgpack: {error}") from error

    def _remembered(self, code: int, raw: bytes, depth: int) -> _Read:
        found = self._known.get((code, raw))
        if found is None:
            found = self._extension(code, raw, depth + 1)
            self._known.put((code, raw), found)
        return found

    def _extension(self, code: int, raw: bytes, depth: int) -> _Read:
        if code == NDARRAY:
            # An array of objects holds raw pointers: numpy must never see these bytes.
            return Opaque("ndarray", raw, (code,))
        if code != DELTA_SNAPSHOT and code not in _CLASSES:
            return Opaque(f"msgpack extension {code}", raw, (code,))
        try:
            within = partial(self._remembered, depth=depth)
            payload = self._decode(raw, within) if depth <= _MAX_EXT_DEPTH else None
        except Corrupt:
            return Opaque("undecodable", raw, (code,))
        if code == DELTA_SNAPSHOT:
            return Tagged("delta snapshot", payload, raw, (code,))
        if isinstance(payload, list) and _names_a_class(payload):
            module, name, value, *method = payload
            return Tagged(f"{module}.{name}", value, raw, (code, module, name, *method))
        return Opaque("undecodable", raw, (code,))


class _Known:
    """What was decoded, by its bytes, in two generations: when the younger one has filled half the budget, the older
    one is let go, so that what is still asked for stays."""

    def __init__(self, budget: int) -> None:
        self._half = self._room = budget // 2
        self._young: dict[_Key, _Read] = {}
        self._old: dict[_Key, _Read] = {}

    def get(self, key: _Key) -> _Read | None:
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: _Key, value: _Read) -> None:
        size = len(key[1])
        if size > self._half:
            return
        self._room -= size
        if self._room < 0:
            self._old, self._young, self._room = self._young, {}, self._half - size
        self._young[key] = value


class Extension(NamedTuple):
    """An extension that was left as it is."""

    code: int
    data: bytes


def _left(code: int, data: bytes) -> Extension:
    # Past the named tuple's own constructor: there are as many as messages in every row that is listed.
    return tuple.__new__(Extension, (code, data))


def shallow(raw: bytes) -> Value:
    """The value of one msgpack text with every extension left as an `Extension`.

    A twentieth of the time of a full decode where states are made of messages. Raises Corrupt.
    """
    try:
        return _unpacked(raw, _left)
    except (ValueError, TypeError, RecursionError) as error:
        raise Corrupt(f"not msgpack: {error}") from error


def extension_code(beginning: bytes) -> int | None:
    """The code of the extension that a msgpack text is, by its first six bytes; None when it is none."""
    marker = beginning[0] if beginning else 0
    at = 1 if 0xD4 <= marker <= 0xD8 else {0xC7: 2, 0xC8: 3, 0xC9: 5}.get(marker)
    return beginning[at] if at is not None and at < len(beginning) else None


def _unpacked(raw: bytes, hook: loose.Hook) -> Value:
    try:
        return ormsgpack.unpackb(raw, ext_hook=hook, option=_READ)
    except ValueError as error:
        if "UTF-8" not in str(error):
            raise
        return loose.unpack(raw, hook)


def _names_a_class(payload: list[Value]) -> bool:
    """Whether an extension's payload is ``[module, name, value]`` with or without a method."""
    names = (*payload[:2], *payload[3:])
    return len(payload) in (3, 4) and all(isinstance(name, str) for name in names)


def _wrap_bytes(value: Value, depth: int = 0) -> Value:
    """The same value, every bytes object an `Opaque`; parts without any are shared. ValueError where too deep."""
    if depth > _MAX_BYTES_DEPTH:
        raise ValueError(f"bytes nested deeper than {_MAX_BYTES_DEPTH} levels")
    if type(value) is bytes:
        return Opaque("bytes", value)
    if type(value) is list:
        items = [_wrap_bytes(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if type(value) is dict:
        pairs = {key: _wrap_bytes(item, depth + 1) for key, item in value.items()}
        return pairs if any(pairs[key] is not item for key, item in value.items()) else value
    return value


def encode(value: Value, path: Path = ()) -> bytes:
    """The msgpack text of a value; an untouched `Tagged` is written back as it was stored.

    Raises Invalid, naming the place below ``path``, for what msgpack cannot hold.
    """
    try:
        return ormsgpack.packb(value, default=_encode_special, option=_WRITE)
    except (TypeError, ValueError) as error:
        raise _refusal(value, path, str(error)) from error


def delta_snapshot(value: Value, path: Path = ()) -> Tagged:
    """The value as LangGraph stores the whole of a delta channel."""
    return Tagged("delta snapshot", value, encode(value, path), (DELTA_SNAPSHOT,))


def _encode_special(value: Any) -> Any:
    if isinstance(value, Tagged):
        return ormsgpack.Ext(value.tag[0], _tagged_payload(value))
    if isinstance(value, Opaque) and value.kind == "bytes":
        return value.data
    if isinstance(value, Opaque) and len(value.tag) == 1:
        return ormsgpack.Ext(value.tag[0], value.data)
    raise TypeError(type(value).__name__)


def _tagged_payload(value: Tagged) -> bytes:
    if value.raw is not None:
        return value.raw
    if value.tag == (DELTA_SNAPSHOT,):
        return encode(value.value)
    _, module, name, *method = value.tag
    return encode([module, name, value.value, *method])


def _refusal(value: Value, path: Path, why: str) -> Invalid:
    """The error for the first value, in reading order, that msgpack cannot hold."""
    found = _first_fault(value, path, 0)
    where, reason = found if found is not None else (path, why)
    return Invalid(f"cannot store {format_path(where) or 'the value'} as msgpack: {reason}")


def _first_fault(value: Value, path: Path, depth: int) -> tuple[Path, str] | None:
    if depth > _MAX_DEPTH:
        return path, f"nested deeper than {_MAX_DEPTH} levels"
    if isinstance(value, Tagged):
        return None if value.raw is not None else _first_fault(value.value, path, depth + 1)
    if type(value) is dict:
        for key, item in value.items():
            reason = _fault_of_scalar(key)
            fault = (path, f"a key: {reason}") if reason else _first_fault(item, (*path, key), depth + 1)
            if fault is not None:
                return fault
        return None
    if type(value) is list:
        inner = (_first_fault(item, (*path, index), depth + 1) for index, item in enumerate(value))
        return next((fault for fault in inner if fault is not None), None)
    reason = _fault_of_scalar(value)
    return None if reason is None else (path, reason)


def _fault_of_scalar(value: Value) -> str | None:
    kind = type(value)
    if value is None or kind in (bool, float, bytes):
        return None
    if kind is int:
        return None if -(2**63) <= value < 2**64 else "the integer needs more than 64 bits"
    if kind is str:
        try:
            value.encode()
        except UnicodeEncodeError:
            return "the text holds half a surrogate pair"
        return None
    if isinstance(value, Partial):
        return "the value is known only in part"
    if isinstance(value, Opaque):
        return None if value.kind == "bytes" or len(value.tag) == 1 else f"{value.kind} bytes are not a value"
    return f"a value of type {kind.__module__}.{kind.__qualname__} has no msgpack form"
