"""Edited channels where values are stored apart from their row, under a version (PostgreSQL).

Owns which value goes where: null, true, false, numbers and texts into the row, everything else apart, as savers since
2.0.25 do. Refuses what PostgreSQL cannot hold, before anything is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from stores.codec import json as strict_json
from stores.codec import msgpack
from stores.codec.aes import is_sealed
from stores.codec.msgpack import Decoder
from stores.errors import Invalid, Unsupported
from stores.langgraph import delta, rows
from stores.langgraph.rows import Blob, CheckpointRow
from stores.model import MISSING, Path, Value
from stores.paths import format_path

_FORMATS: Final = ("msgpack", "json")


class Apart:
    """The channels of one row. ``edited`` are those that get a new version, ``blobs`` what is stored under it."""

    def __init__(
        self,
        base: CheckpointRow,
        values: dict[str, Value],
        state: Mapping[str, Value],
        v: Value,
        version: str,
        decoder: Decoder,
    ) -> None:
        self._base, self._values, self._state = base, values, state
        self._version, self._decoder = version, decoder
        kinds = {blob.type for blob in base.blobs.values()}
        # Savers before 2.0.25 say of an empty channel that it is, and read no value from the row.
        self._may_inline = isinstance(v, int) and v >= 4 and "empty" not in kinds
        self._inlines = self._may_inline and bool(values)
        self._format = "json" if "json" in kinds and "msgpack" not in kinds else "msgpack"
        self.edited: set[str] = set()
        self.blobs: dict[str, Blob] = {}

    def is_same(self, one: str, other: str) -> bool:
        """Whether two channels hold the same."""
        found, against = self._base.blobs.get(one), self._base.blobs.get(other)
        if found is None or against is None:
            return found is against and other in self._values and self._values[other] == self._values.get(one)
        return (found.type, found.data) == (against.type, against.data)

    def put(self, name: str, value: Value) -> None:
        """Give a channel another value, MISSING for none. Raises Invalid, with the path, where it cannot be stored."""
        stored = self._base.blobs.get(name)
        if stored is not None and is_sealed(stored.type):
            raise Unsupported(f"{name} is encrypted, and there is no key that opens it: it cannot be edited")
        if value is MISSING:
            self._values.pop(name, None)
            self._set(name, None)
            return
        known = rows.decode_value(stored.type, stored.data, self._decoder) if stored is not None else MISSING
        is_absent = (stored is None or stored.is_empty) and name not in self._values
        if delta.is_snapshot(known) or (is_absent and name in self._state):
            # Known only in part before the edit, the channel now gets its whole value, as the runtime snapshots it:
            # apart, and in the row a mark that it is there.
            self._set(name, ("msgpack", msgpack.encode(msgpack.delta_snapshot(value, (name,)))))
            self._values[name] = True
        elif value is None or isinstance(value, str | int | float):
            self._put_scalar(name, value, stored)
        else:
            self._put_apart(name, value, stored)

    def _put_scalar(self, name: str, value: Value, stored: Blob | None) -> None:
        if self._may_inline:
            # The savers put it into the row with the next step at the latest.
            check_inline(value, (name,))
        if not self._inlines or not _reads_back(value):
            self._put_apart(name, value, stored)
        elif stored is not None or name not in self._values or not _is_equal(self._values[name], value):
            self._values[name] = value
            self._set(name, None)

    def _put_apart(self, name: str, value: Value, stored: Blob | None) -> None:
        kind = stored.type if stored is not None and stored.type in _FORMATS else self._format
        encode = strict_json.dumps if kind == "json" else msgpack.encode
        pair = kind, encode(value, (name,))
        if stored is not None and stored.type == "msgpack":
            self._check_whole(name, stored)
            if pair == (stored.type, stored.data):
                return
        self._values.pop(name, None)
        self._set(name, pair)

    def _check_whole(self, name: str, stored: Blob) -> None:
        raw = rows.as_bytes(stored.data)
        if msgpack.encode(self._decoder.decode(raw), (name,)) != raw:
            lost = "its stored bytes hold what would be lost (equal keys, or spare bytes)"
            raise Invalid(f"cannot edit {name}: {lost}")

    def _set(self, name: str, pair: tuple[str, bytes] | None) -> None:
        self.edited.add(name)
        if pair is not None:
            is_sealed_here = any(blob.sealed for blob in self._base.blobs.values())
            kind, data = pair
            self.blobs[name] = Blob(self._version, kind, data, len(data), is_sealed_here)


def check_inline(value: Value, path: Path) -> None:
    """Raises Invalid, with the path, for what PostgreSQL's jsonb refuses."""
    if isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(step, str):
                check_inline(step, path)
            check_inline(item, (*path, step))
        return
    reason = None
    if isinstance(value, str) and "\0" in value:
        reason = "the text holds U+0000"
    elif isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        reason = "the text holds half a surrogate pair"
    elif isinstance(value, float) and not math.isfinite(value):
        reason = f"{value} is not a JSON number"
    if reason is not None:
        raise Invalid(f"cannot store {format_path(path)} in a row of PostgreSQL: {reason}")


def _reads_back(value: Value) -> bool:
    """Whether jsonb gives a number back as it is: a float without a fraction or of many digits becomes an integer."""
    if not isinstance(value, float):
        return True
    text = repr(value)
    return "e+" not in text and text != "-0.0"


def _is_equal(one: Value, other: Value) -> bool:
    return type(one) is type(other) and bool(one == other)
