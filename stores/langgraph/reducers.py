"""The reducers of delta channels that stored rows can prove: lists joined, and messages merged by id.

Owns applying them to values as decoded (langgraph 1.2 channels/delta.py, pregel/_messages.py), and telling which of
them a snapshot bears out; refuses any other reducer, which lives in the user's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stores.codec import msgpack
from stores.errors import Invalid
from stores.model import MISSING, Tagged, Value

JOINED: Final = "lists joined"
MERGED: Final = "messages merged by id"
_OVERWRITE: Final = "__overwrite__"
_MESSAGES: Final = "langchain_core.messages."
_REMOVE_ALL: Final = "__remove_all__"


class Unfit(Exception):
    """The values are not what this reducer works on."""


def since_overwrite(seed: Value, writes: Sequence[Value]) -> tuple[Value, list[Value]]:
    """What is left to reduce after the last ``Overwrite``, and on what; MISSING where that starts empty."""
    base, start = seed, 0
    for index, write in enumerate(writes):
        whole = _overwritten(write)
        if whole is not MISSING:
            base, start = (MISSING if whole is None else whole), index + 1
    return base, list(writes[start:])


def reduce(how: str, base: Value, writes: Sequence[Value]) -> Value:
    """The channel's value by the reducer named. Raises Unfit."""
    return _REDUCERS[how](base, writes)


def agreeing(base: Value, writes: Sequence[Value], value: Value) -> frozenset[str]:
    """The reducers that make this value of these writes, byte for byte."""
    return frozenset(how for how in _REDUCERS if _makes(how, base, writes, value))


def _makes(how: str, base: Value, writes: Sequence[Value], value: Value) -> bool:
    try:
        return msgpack.encode(reduce(how, base, writes)) == msgpack.encode(value)
    except (Unfit, Invalid):
        return False


def _overwritten(write: Value) -> Value:
    """What an ``Overwrite`` sets, MISSING for any other write (langgraph 1.2 channels/binop.py, ``_get_overwrite``)."""
    if isinstance(write, Tagged) and write.type_name == "langgraph.types.Overwrite":
        return write.value.get("value") if isinstance(write.value, dict) else MISSING
    if isinstance(write, dict):
        if len(write) == 1 and _OVERWRITE in write:
            return write[_OVERWRITE]
        if write.get("type") == _OVERWRITE and "value" in write:
            return write["value"]
    return MISSING


def _join(base: Value, writes: Sequence[Value]) -> Value:
    parts = [[] if base is MISSING else base, *writes]
    if not all(isinstance(part, list) for part in parts):
        raise Unfit
    return [item for part in parts for item in part]


def _merge(base: Value, writes: Sequence[Value]) -> Value:
    """As ``_messages_delta_reducer``: the last of an id stands at the place of the first."""
    stored = [] if base is MISSING else base
    if not isinstance(stored, list):
        raise Unfit
    written = [one for write in writes for one in (write if isinstance(write, list) else [write])]
    fields = [_message(one) for one in (*stored, *written)]
    cleared = [index for index, one in enumerate(written) if _is_removal(one) and _message(one)["id"] == _REMOVE_ALL]
    if cleared:
        stored, written = [], written[cleared[-1] + 1 :]
    if not fields:
        raise Unfit  # nothing says that these are messages
    return list(_by_id(stored, written))


def _by_id(stored: Sequence[Tagged], written: Sequence[Tagged]) -> list[Tagged]:
    places = {id: place for place, one in enumerate(stored) if (id := _message(one).get("id")) is not None}
    result: list[Tagged | None] = list(stored)
    for one in written:
        id = _message(one).get("id")
        if id is None:
            result.append(one)
        elif _is_removal(one):
            if id in places:
                result[places.pop(id)] = None
        elif id in places:
            result[places[id]] = one
        else:
            places[id] = len(result)
            result.append(one)
    return [one for one in result if one is not None]


def _message(value: Value) -> Mapping[str, Value]:
    """The fields of a stored message; a chunk, or what is yet to become a message, is not one."""
    if isinstance(value, Tagged) and value.type_name.startswith(_MESSAGES) and isinstance(value.value, dict):
        id = value.value.get("id")
        if not value.type_name.endswith("Chunk") and (id is None or isinstance(id, str)):
            return value.value
    raise Unfit


def _is_removal(message: Tagged) -> bool:
    return message.type_name.endswith(".RemoveMessage")


_REDUCERS: Final[Mapping[str, Callable[[Value, Sequence[Value]], Value]]] = {MERGED: _merge, JOINED: _join}
