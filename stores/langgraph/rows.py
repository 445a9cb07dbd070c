"""Rows of LangGraph's tables, and what a checkpoint row says about its step without its values being built.

Owns the (type, bytes) pair and which channels are state; refuses SQL, and refuses to know what runs next.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from stores.codec import msgpack
from stores.errors import Corrupt
from stores.model import Opaque, Tagged, Value

START: Final = "__start__"
END: Final = "__end__"
PREVIOUS: Final = "__previous__"
TASKS: Final = "__pregel_tasks"
NULL_TASK: Final = "00000000-0000-0000-0000-000000000000"

# langgraph 1.2 pregel/_task_status.py: channels that say what happened to a task rather than what it produced.
ERROR: Final = "__error__"
INTERRUPT: Final = "__interrupt__"
RESUME: Final = "__resume__"
RETURN: Final = "__return__"  # what a call inside a node's code gave back
CONTROL_WRITES: Final = frozenset({ERROR, "__error_source_node__", INTERRUPT, RESUME})

_CONTROL_NAMES: Final = frozenset({START, END, PREVIOUS, TASKS})
_CONTROL_PREFIXES: Final = ("branch:", "join:", "start:")
NEWEST_FORMAT: Final = 4  # langgraph 0.6 … 1.2, and LangGraph JS 1.x
# In versions_seen beside the nodes.
NOT_NODES: Final = frozenset({"__input__", "__interrupt__", "__snapshot_bumps__"})


class CheckpointRow(NamedTuple):
    """One row of ``checkpoints``, as stored; the thread is known from where it was asked for."""

    ns: str
    id: str
    parent: str | None
    type: str | None
    blob: bytes
    metadata: bytes | str | None


class WriteRow(NamedTuple):
    """One row of ``writes``; ``value`` is None where only the names were asked for."""

    task: str
    path: str
    idx: int
    channel: str
    type: str | None = None
    value: bytes | None = None

    def order(self) -> tuple[str, str, int]:
        """Its place among the writes of a step, as the runtime applies them."""
        return self.path, self.task, self.idx


@dataclass(frozen=True, slots=True)
class Outline:
    """What a checkpoint says about its step: enough for `stores.langgraph.next`, nothing of the state.

    ``available`` are the channels that hold a value, with their versions; ``seen`` is node → channel → version;
    ``sends`` are the nodes of the pending Sends in order; without ``has_sends`` a row older than format 4 leaves them
    to what its parent's tasks wrote. ``snapshot`` is set when a delta channel stands here in
    full. ``problem`` is why the rest is unknown, ``odd`` what is strange about a row that can be read.
    """

    v: int = 4
    created: datetime | None = None
    available: Mapping[str, Value] = field(default_factory=dict)
    channels: frozenset[str] = frozenset()
    seen: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    sends: tuple[str, ...] = ()
    has_sends: bool = True
    snapshot: bool = False
    problem: str | None = None
    odd: str | None = None


def decode_typed(kind: str | None, data: bytes | str | None, decoder: msgpack.Decoder) -> Value:
    """The value of a (type, bytes) pair. Raises Corrupt; what is not decoded on purpose becomes `Opaque`."""
    raw = data.encode() if isinstance(data, str) else (data or b"")
    if kind == "msgpack":
        return decoder.decode(raw)
    if kind == "json":
        return _loads(raw)
    if kind in ("null", "empty") or (kind is None and not raw):
        return None
    if kind in ("bytes", "bytearray"):
        return Opaque("bytes", raw)
    return Opaque(kind or "undecodable", raw)


def decode_value(kind: str | None, data: bytes | str | None, decoder: msgpack.Decoder) -> Value:
    """The same for a value among others: what cannot be read is an `Opaque` that keeps the bytes."""
    try:
        return decode_typed(kind, data, decoder)
    except Corrupt:
        return Opaque("undecodable", data.encode() if isinstance(data, str) else (data or b""))


def _loads(raw: bytes) -> Value:
    """JSON as Python's json.dumps writes it: NaN and lone surrogates are possible, so orjson cannot read it."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"not JSON: {error}") from error


def read_metadata(raw: bytes | str | None) -> tuple[dict[str, Value], str | None]:
    """A row's metadata, and what is wrong with it. NULL is an empty one."""
    if not raw:
        return {}, None
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        # Savers before 3.0 wrote msgpack under the same column for a while; it is not needed to list a row.
        return {}, "its metadata cannot be read"
    return (found, None) if isinstance(found, dict) else ({}, "its metadata is no object")


def outline(row: CheckpointRow) -> Outline:
    """What the row says about its step; a row that cannot be read has only a ``problem``."""
    try:
        if row.type == "msgpack":
            content = msgpack.shallow(_bytes(row.blob))
        elif row.type == "json":
            content = _loads(_bytes(row.blob))
        else:
            form = f"as {row.type}" if row.type else "without a type"
            return Outline(problem=f"stored {form}: its state and next nodes cannot be read")
    except Corrupt as error:
        return Outline(problem=f"cannot be decoded: {error}")
    parts = [content.get(name) for name in ("channel_values", "channel_versions")] if isinstance(content, dict) else []
    if not parts or not all(isinstance(part, dict) for part in parts):
        return Outline(problem="its content is not a checkpoint")
    found = _outline(content)
    inside = content.get("id")
    if inside != row.id:
        return replace(found, odd=f"it holds the content of checkpoint {inside}")
    if found.v > NEWEST_FORMAT:
        later = f"its format is version {found.v}, later than any that tt-debug knows: it may be misread"
        return replace(found, odd=later)
    return found


def _outline(content: Mapping[str, Value]) -> Outline:
    versions = content["channel_versions"]
    values = mapping(content.get("channel_values"))
    seen = {node: channels for node, channels in mapping(content.get("versions_seen")).items() if node not in NOT_NODES}
    pending = content.get("pending_sends") or values.get(TASKS)
    v = content["v"] if isinstance(content.get("v"), int) else 4
    return Outline(
        v=v,
        created=read_time(content.get("ts")),
        available={name: versions.get(name) for name, value in values.items() if _is_available(name, value, v)},
        channels=frozenset(versions) | frozenset(values),
        seen={node: mapping(channels) for node, channels in seen.items()},
        sends=tuple(map(send_node, pending)) if isinstance(pending, list) else (),
        has_sends="pending_sends" in content,
        snapshot=any(isinstance(one, Opaque) and one.tag == (msgpack.DELTA_SNAPSHOT,) for one in values.values()),
    )


def mapping(value: Value) -> Mapping[str, Value]:
    """The value if it is a mapping, else an empty one: damaged parts count as absent."""
    return value if isinstance(value, dict) else {}


def read_time(text: Value) -> datetime | None:
    """A checkpoint's ``ts`` in UTC, None when it is no time."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if isinstance(text, str) else None
    except ValueError:
        return None


def _bytes(blob: bytes | str | None) -> bytes:
    return blob.encode() if isinstance(blob, str) else (blob or b"")


def _plain(value: Value) -> Value:
    """A shallowly decoded value in full, one level of class removed."""
    if isinstance(value, Opaque) and value.kind == "extension":
        value = msgpack.Decoder().extension(value.tag[0], value.data)
    return value.value if isinstance(value, Tagged) else value


def _is_available(name: str, value: Value, v: int) -> bool:
    """Whether a node waiting on this channel may run (langgraph 1.2 channels/*.py, ``is_available``)."""
    if value is None and v < 3:
        return False  # an empty channel: edges are named by their source and hold its name
    if name.startswith("join:"):
        if _is_deferred(value):
            return bool(value[1])
        arrived = _plain(value)
        wanted = name.split(":", 2)[1]
        # Names may hold a "+", so the joined text is compared, whatever the order of arrival.
        return isinstance(arrived, list) and sorted("+".join(map(str, arrived))) == sorted(wanted)
    if name.startswith("branch:to:") and _is_deferred(value):
        return bool(value[1])
    return True


def _is_deferred(value: Value) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[1], bool)


def send_node(send: Value) -> str:
    """The node that a Send is for, "?" where it does not say."""
    plain = _plain(send)
    if isinstance(plain, dict):  # LangGraph JS, and lc:2 JSON
        return str(plain.get("node") or mapping(plain.get("kwargs")).get("node") or "?")
    return str(plain[0]) if isinstance(plain, list) and plain else "?"


def is_control(name: str) -> bool:
    """Whether a channel is the runtime's own and not state."""
    return name in _CONTROL_NAMES or name.startswith(_CONTROL_PREFIXES)


def split_channels(values: Mapping[str, Value], seen: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]]:
    """The state, and the runtime's own channels.

    A workflow of the functional API has no state channels: its state is what it returned last.
    """
    state: dict[str, Value] = {}
    own: dict[str, Value] = {}
    for name, value in values.items():
        # Up to langgraph 0.2 an edge was a channel named like its source node and holding that name.
        (own if is_control(name) or (name in seen and value == name) else state)[name] = value
    if not state and END in own:
        returned = own[END]
        state = dict(returned) if isinstance(returned, dict) else {END: returned}
    return state, own
