"""What a checkpoint row says about its step without its values being built: channels, versions, pending Sends.

Owns which channels hold something a node may wait for; refuses to know what runs next: `stores.langgraph.next`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

from stores.codec import msgpack
from stores.codec.aes import is_sealed
from stores.errors import Corrupt
from stores.langgraph.rows import (
    TASKS,
    Blob,
    CheckpointRow,
    as_bytes,
    decode_value,
    is_control,
    loads,
    mapping,
    read_time,
    with_blobs,
)
from stores.model import MISSING, Opaque, Tagged, Value

NEWEST_FORMAT: Final = 4  # langgraph 0.6 … 1.2, and LangGraph JS 1.x
# In versions_seen beside the nodes.
NOT_NODES: Final = frozenset({"__input__", "__interrupt__", "__snapshot_bumps__"})


_SEALED: Final = "encrypted, and there is no key that opens it"
_WHOLE_NUMBERS: Final = frozenset({int, bool})
_TEXTS: Final = frozenset({str})
_DICTS: Final = frozenset({dict})
_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})


class Outline(NamedTuple):
    """What a checkpoint says about its step: enough for `stores.langgraph.next`, nothing of the state.

    ``available`` are the channels that hold a value, with their versions; ``seen`` is node → channel → version;
    ``is_js`` is set where LangGraph JS counts versions; ``sends`` are the nodes of the pending Sends in order;
    without ``has_sends`` a row older than format 4 leaves them to what its parent's tasks wrote. ``snapshot`` is set
    when a delta channel stands here in full. ``problem`` is why the rest is unknown, ``odd`` what is strange about a
    row that can be read.
    """

    v: int = 4
    created: datetime | None = None
    available: Mapping[str, Value] = _NOTHING
    channels: frozenset[str] = frozenset()
    seen: Mapping[str, Mapping[str, Value]] = _NOTHING
    is_js: bool = False
    sends: tuple[str, ...] = ()
    has_sends: bool = True
    snapshot: bool = False
    problem: str | None = None
    odd: str | None = None

    def knows(self, other: Outline) -> bool:
        """Whether every channel and every edge that ``other`` tells of is told of here."""
        if other.channels is not self.channels and not other.channels <= self.channels:
            return False
        for node, channels in other.seen.items():
            own = self.seen.get(node)
            if own is None or not channels.keys() <= own.keys():
                return False
        return True


def outline_of(row: CheckpointRow) -> Outline:
    """What the row says about its step; a row that cannot be read has only a ``problem``."""
    if row.blob is None:
        return Outline(problem="its content is lost")
    try:
        if row.type == "msgpack":
            content = msgpack.shallow(as_bytes(row.blob))
        elif row.type == "json":
            content = loads(as_bytes(row.blob))
        else:
            return Outline(problem=f"{_form(row.type)}: its state and next nodes cannot be read")
    except Corrupt as error:
        return Outline(problem=f"cannot be decoded: {error}")
    if row.blobs:
        content = with_blobs(content, row, _shallow_blob)
    if not _is_checkpoint(content):
        return Outline(problem="its content is not a checkpoint")
    found = _outline(content)
    inside = content.get("id")
    if inside != row.id:
        return found._replace(odd=f"it holds the content of checkpoint {inside}")
    if row.blobs and (
        closed := [name for name, blob in row.blobs.items() if is_control(name) and is_sealed(blob.type)]
    ):
        return found._replace(
            odd=f"its channel {closed[0]} is {_SEALED}: its next nodes may be others than those shown"
        )
    if found.v > NEWEST_FORMAT:
        later = f"its format is version {found.v}, later than any that tt-debug knows: it may be misread"
        return found._replace(odd=later)
    return found


def _is_checkpoint(content: Value) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("channel_versions"), dict):
        return False
    return isinstance(content.get("channel_values", {}), dict)


def _shallow_blob(blob: Blob) -> Value:
    """A channel's value without the classes in it; a part of one where its beginning tells enough."""
    if blob.cut:
        code = msgpack.extension_code(as_bytes(blob.data)) if blob.type == "msgpack" else None
        return msgpack.Extension(code, b"") if code is not None else Opaque("cut", b"")
    try:
        if blob.type == "msgpack":
            return msgpack.shallow(as_bytes(blob.data))
        return decode_value(blob.type, blob.data, msgpack.Decoder())
    except Corrupt:
        return Opaque("undecodable", as_bytes(blob.data))


def _form(kind: str | None) -> str:
    """How a row is stored that is not decoded."""
    if not kind:
        return "stored without a type"
    if is_sealed(kind):
        return _SEALED
    if kind == "pickle":
        return "stored as a pickle, which is never opened, as that can run code"
    return f"stored by another serializer than LangGraph's, as {kind}"


def _outline(content: Mapping[str, Value]) -> Outline:
    versions = _named(content["channel_versions"])
    values = _named(content.get("channel_values"))
    pending = content.get("pending_sends") or values.get(TASKS)
    v = content["v"] if isinstance(content.get("v"), int) else 4
    names = _names(tuple(versions), tuple(values))
    available = _available(values, versions, names, v)
    seen = _seen(content.get("versions_seen"))
    is_js = not _WHOLE_NUMBERS.isdisjoint(map(type, versions.values()))
    sends = tuple(map(send_node, pending)) if isinstance(pending, list) else ()
    has_sends = "pending_sends" in content
    snapshot = msgpack.Extension in map(type, values.values()) and any(map(_is_snapshot, values.values()))
    # By place: by name takes twice the time.
    return Outline(v, read_time(content.get("ts")), available, names.all, seen, is_js, sends, has_sends, snapshot)


class _Names(NamedTuple):
    """What the names of a row's channels tell: ``uncertain`` are those that may hold a value and wake nobody."""

    all: frozenset[str]
    uncertain: tuple[str, ...]


@lru_cache(maxsize=256)  # a thread has few sets of them, and its rows thus the same objects
def _names(versions: tuple[str, ...], values: tuple[str, ...]) -> _Names:
    return _Names(
        frozenset(versions).union(values), tuple(name for name in values if name.startswith(("join:", "branch:to:")))
    )


def _available(
    values: Mapping[str, Value], versions: Mapping[str, Value], names: _Names, v: int
) -> Mapping[str, Value]:
    """The channels that a node waiting on them may run by (langgraph 1.2 channels/*.py, ``is_available``)."""
    if not names.uncertain and v >= 3:
        return {name: versions.get(name) for name in values}
    absent = {name for name in names.uncertain if not _is_available(name, values[name])}
    return {
        name: versions.get(name)
        for name, value in values.items()
        # Before format 3 an empty channel: edges are named by their source and hold its name.
        if name not in absent and (value is not None or v >= 3)
    }


def _seen(stored: Value) -> Mapping[str, Mapping[str, Value]]:
    """Node → channel → version."""
    found = _named(stored)
    inner = found.values()
    if not (_DICTS.issuperset(map(type, inner)) and _TEXTS.issuperset(map(type, chain.from_iterable(inner)))):
        found = {node: _named(channels) for node, channels in found.items()}
    if NOT_NODES.isdisjoint(found):
        return found
    return {node: channels for node, channels in found.items() if node not in NOT_NODES}


def _is_snapshot(value: Value) -> bool:
    return isinstance(value, msgpack.Extension) and value.code == msgpack.DELTA_SNAPSHOT


def _named(value: Value) -> Mapping[str, Value]:
    """A mapping's entries with a name; damaged parts count as absent."""
    found = mapping(value)
    if _TEXTS.issuperset(map(type, found)):
        return found
    return {name: item for name, item in found.items() if isinstance(name, str)}


def _plain(value: Value) -> Value:
    """A shallowly decoded value in full, one level of class removed."""
    if isinstance(value, msgpack.Extension):
        value = msgpack.Decoder().extension(*value)
    return value.value if isinstance(value, Tagged) else value


def _is_available(name: str, value: Value) -> bool:
    """Whether an uncertain channel wakes who waits on it."""
    if _is_deferred(value):
        return bool(value[1])
    return not name.startswith("join:") or _have_all_come(name.split(":", 2)[1], value)


def _have_all_come(wanted: str, stored: Value) -> bool:
    """Whether all nodes that a join waits for, whose names stand in its own, have come."""
    if isinstance(stored, msgpack.Extension):
        return _have_all_come_in(wanted, *stored)
    return _are_all(wanted, _plain(stored))


@lru_cache(maxsize=256)  # few sets of nodes are seen again and again
def _have_all_come_in(wanted: str, code: int, data: bytes) -> bool:
    return _are_all(wanted, _plain(msgpack.Extension(code, data)))


def _are_all(wanted: str, arrived: Value) -> bool:
    # Names may hold a "+", so the joined text is compared, whatever the order of arrival.
    return isinstance(arrived, list) and sorted("+".join(map(str, arrived))) == sorted(wanted)


def _is_deferred(value: Value) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[1], bool)


def send_node(send: Value) -> str:
    """The node that a Send is for, "?" where it does not say."""
    plain = _plain(send)
    if isinstance(plain, dict):  # LangGraph JS, and lc:2 JSON
        return str(plain.get("node") or mapping(plain.get("kwargs")).get("node") or "?")
    return str(plain[0]) if isinstance(plain, list) and plain else "?"


def send_given(send: Value) -> Value:
    """What a Send hands its node, MISSING where it does not say."""
    plain = _plain(send)
    if isinstance(plain, dict):
        fields = mapping(plain.get("kwargs")) or plain
        return next((fields[name] for name in ("arg", "args") if name in fields), MISSING)
    return plain[1] if isinstance(plain, list) and len(plain) > 1 else MISSING
