"""Rows of LangGraph's tables, and the values in them.

Owns the (type, bytes) pair and which channels are state; refuses SQL, and what a row says about its step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from stores.codec import msgpack
from stores.errors import Corrupt
from stores.model import Opaque, Value

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

MISSING_BLOB: Final = "missing"
"""The type of a value stored apart that is not there."""

_CONTROL_NAMES: Final = frozenset({START, END, PREVIOUS, TASKS})
_CONTROL_PREFIXES: Final = ("branch:", "join:", "start:")
_JSON: Final = json.JSONDecoder()


class Blob(NamedTuple):
    """A channel's value where it is stored apart from its checkpoint: a (type, bytes) pair under a version.

    ``sealed`` marks one that is stored encrypted and stands here opened; ``cut`` one of which only a beginning was
    read, ``size`` is the length of all of it.
    """

    version: str
    type: str
    data: bytes | None
    size: int = 0
    sealed: bool = False
    cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it says that the channel has no value; savers up to 2.0.24 stored that."""
        return self.type == "empty"


class CheckpointRow(NamedTuple):
    """One row of ``checkpoints``; the thread is known from where it was asked for.

    ``sealed`` marks one that is stored encrypted and stands here opened. ``blobs`` are the channels' values that are
    stored apart; they win over those in the row. ``size`` is in bytes, with theirs. ``apart`` tells a row of a
    database that stores values so.
    """

    ns: str
    id: str
    parent: str | None
    type: str | None
    blob: bytes | None
    metadata: bytes | str | None
    sealed: bool = False
    blobs: Mapping[str, Blob] = MappingProxyType({})
    size: int = 0
    apart: bool = False


class WriteRow(NamedTuple):
    """One row of ``writes``; ``value`` is None where only the names were asked for."""

    task: str
    path: str
    idx: int
    channel: str
    type: str | None = None
    value: bytes | None = None


WRITE_ORDER: Final = attrgetter("path", "task", "idx")
"""The place of a `WriteRow` among those of a step, as the runtime applies them."""


def decode_typed(kind: str | None, data: bytes | str | None, decoder: msgpack.Decoder) -> Value:
    """The value of a (type, bytes) pair. Raises Corrupt; what is not decoded on purpose becomes `Opaque`."""
    raw = as_bytes(data)
    if kind == "msgpack":
        return decoder.decode(raw)
    if kind == "json":
        return loads(raw)
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
        return Opaque("undecodable", as_bytes(data))


def content_of(row: CheckpointRow, decoder: msgpack.Decoder) -> Value:
    """The row decoded, with the values that are stored apart; what cannot be read is an `Opaque`."""
    content = decode_value(row.type, row.blob, decoder)
    return with_blobs(content, row, lambda blob: decode_value(blob.type, blob.data, decoder))


def with_blobs(content: Value, row: CheckpointRow, read: Callable[[Blob], Value]) -> Value:
    """A row's content with the values in it that are stored apart."""
    if not row.blobs or not isinstance(content, dict):
        return content
    apart = {name: read(blob) for name, blob in row.blobs.items() if not blob.is_empty}
    return {**content, "channel_values": {**mapping(content.get("channel_values")), **apart}}


def loads(raw: bytes) -> Value:
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
        # Every saver writes UTF-8: `json.loads` would try which encoding it is, which takes longer than reading it.
        text = as_bytes(raw).decode("utf-8", "surrogatepass")
        found, end = _JSON.raw_decode(text) if text[0] == "{" else (None, 0)
        if end != len(text):
            found = _JSON.decode(text)  # with blanks around it, or what is wrong
    except (ValueError, RecursionError):
        # Savers before 3.0 wrote msgpack under the same column for a while; it is not needed to list a row.
        return {}, "its metadata cannot be read"
    return (found, None) if isinstance(found, dict) else ({}, "its metadata is no object")


def as_bytes(stored: bytes | str | float | None) -> bytes:
    """A stored value's bytes; another writer may have stored text or a number where bytes belong."""
    if isinstance(stored, bytes):
        return stored
    # Readers keep bytes that are no UTF-8 as half surrogates: here they become the same bytes again.
    return b"" if stored is None else str(stored).encode("utf-8", "surrogateescape")


def as_text(stored: object) -> str:
    """A stored name's text, where another writer may have stored bytes, a number or nothing."""
    if isinstance(stored, str):
        return stored if stored.isascii() else as_bytes(stored).decode("utf-8", "replace")
    return stored.decode("utf-8", "replace") if isinstance(stored, bytes) else "" if stored is None else str(stored)


def mapping(value: Value) -> Mapping[str, Value]:
    """The value if it is a mapping, else an empty one: damaged parts count as absent."""
    return value if isinstance(value, dict) else {}


def read_time(text: Value) -> datetime | None:
    """A checkpoint's ``ts`` in UTC, None when it is no time."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if isinstance(text, str) else None
    except ValueError:
        return None


def is_control(name: str) -> bool:
    """Whether a channel is the runtime's own and not state."""
    return isinstance(name, str) and (name in _CONTROL_NAMES or name.startswith(_CONTROL_PREFIXES))


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
