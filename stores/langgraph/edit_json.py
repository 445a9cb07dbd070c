"""A checkpoint row of JSON with edited channels: as LangGraph JS and the first savers write it, and as PostgreSQL does.

Owns what every such row has in common; refuses msgpack rows (`stores.langgraph.edit`), and to say where PostgreSQL
puts a value (`stores.langgraph.edit_apart`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from stores.codec import json as strict_json
from stores.codec.msgpack import Decoder
from stores.errors import Corrupt, Invalid, Unsupported
from stores.langgraph import rows
from stores.langgraph.birth import Birth, new_metadata, next_version, wanted_channels
from stores.langgraph.edit_apart import Apart, check_inline
from stores.langgraph.rows import END, PREVIOUS, Blob, CheckpointRow
from stores.model import MISSING, Change, Path, Value
from stores.paths import format_path

_SAFE = 2**53 - 1
"""The largest whole number that JavaScript reads as it is written."""


def edited_json(
    base: CheckpointRow, state: Mapping[str, Value], changes: Sequence[Change], birth: Birth, decoder: Decoder
) -> CheckpointRow:
    """The base's row under a new id, with ``changes`` applied to ``state``, which is the base's own."""
    content = rows.loads(rows.as_bytes(base.blob))
    if not isinstance(content, dict) or not isinstance(content.get("channel_versions"), dict):
        raise Corrupt(f"checkpoint {base.id} holds no versions of its channels: it cannot be edited")
    version = next_version(list(content["channel_versions"].values()), birth.floor)
    values = dict(rows.mapping(content.get("channel_values")))
    stored = values.keys() | {name for name, blob in base.blobs.items() if not blob.is_empty}
    wanted = wanted_channels(stored, state, changes)
    edit = Apart(base, values, state, content.get("v", 4), str(version), decoder) if base.apart else None
    inline = Inline(values, state, is_js=isinstance(version, int))
    form = edit or inline
    for name, value in wanted.items():
        # What a workflow of the functional API returned is also what its next call is given.
        for channel in (END, PREVIOUS) if name == END and form.is_same(END, PREVIOUS) else (name,):
            form.put(channel, value)
    content |= {"id": birth.id, "ts": datetime.now(UTC).isoformat(), "channel_values": values}
    versions = content["channel_versions"] | dict.fromkeys(form.edited, version)
    # A channel with a version and no value would be put together again from earlier steps.
    removed = {name for name, value in wanted.items() if value is MISSING}
    content["channel_versions"] = {name: one for name, one in versions.items() if name not in removed}
    if isinstance(content.get("updated_channels"), list):
        # The runtime looks only at nodes that these channels wake: without the base's own, nothing would run.
        content["updated_channels"] = sorted({*content["updated_channels"], *form.edited})
    metadata = new_metadata(base, birth, form.edited)
    if base.apart:
        check_inline(dict(birth.meta), ("metadata",))
    return base._replace(
        id=birth.id,
        parent=birth.parent,
        blob=_dumps(content),
        # As the base has it: LangGraph JS stores text, Python bytes.
        metadata=metadata.decode() if isinstance(base.metadata, str) else metadata,
        blobs=form.blobs,
    )


def _dumps(content: Mapping[str, Value]) -> bytes:
    try:
        return json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair that stood there before
        return json.dumps(content).encode()


class Inline:
    """The channels of a row that holds all values itself. ``edited`` are those that get a new version."""

    def __init__(self, values: dict[str, Value], state: Mapping[str, Value], *, is_js: bool) -> None:
        self._values, self._state, self._is_js = values, state, is_js
        self.edited: set[str] = set()
        self.blobs: dict[str, Blob] = {}

    def is_same(self, one: str, other: str) -> bool:
        """Whether two channels hold the same."""
        return other in self._values and self._values[other] == self._values.get(one)

    def put(self, name: str, value: Value) -> None:
        """Give a channel another value, MISSING for none. Raises Invalid, with the path, where it cannot be stored."""
        if name not in self._values and name in self._state:
            raise Unsupported(f"{name} is rebuilt from earlier steps: in a row of JSON it cannot be edited")
        if value is MISSING:
            self._values.pop(name, None)
        else:
            strict_json.dumps(value, (name,))
            if self._is_js:
                _check_numbers(value, (name,))
            self._values[name] = value
        self.edited.add(name)


def _check_numbers(value: Value, path: Path) -> None:
    """Raises Invalid for a whole number that LangGraph JS would round when it reads it."""
    if isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_numbers(item, (*path, step))
    elif type(value) is int and abs(value) > _SAFE:
        raise Invalid(f"cannot store {format_path(path)}: JavaScript would round a number past 2⁵³")
