"""A checkpoint row with edited channels, made from its base's bytes.

Owns which bytes of msgpack change: the edited channels, their versions, id and time; everything else is spliced in
as it stands. Rows of JSON are `stores.langgraph.edit_json`'s; those of other serializers are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from stores.codec import msgpack, splice
from stores.codec.msgpack import Decoder
from stores.codec.splice import Entry
from stores.errors import Invalid, Unsupported
from stores.langgraph import delta
from stores.langgraph.birth import Birth, new_metadata, next_version, wanted_channels
from stores.langgraph.edit_json import edited_json
from stores.langgraph.rows import END, PREVIOUS, CheckpointRow
from stores.model import MISSING, Change, Value


def edited_row(
    base: CheckpointRow, state: Mapping[str, Value], changes: Sequence[Change], birth: Birth, decoder: Decoder
) -> CheckpointRow:
    """The base's row under a new id, with ``changes`` applied to ``state``, which is the base's own."""
    if base.type == "json" and base.blob is not None:
        return edited_json(base, state, changes, birth, decoder)
    if base.type != "msgpack" or base.blob is None:
        raise Unsupported(
            f"checkpoint {base.id} is stored as {base.type}: it can be copied, not edited",
            hint="Fork it to a new thread without changes.",
        )
    parts = {part.key: part for part in splice.split_map(base.blob)}
    held = parts.get("channel_values")  # early releases left it out of a checkpoint without values
    channels = {part.key: part for part in splice.split_map(held.raw)} if held else {}
    edited = _edited_channels(channels, state, changes, decoder) if changes else {}
    versions = {part.key: part for part in splice.split_map(parts["channel_versions"].raw)}
    # The highest version of all channels, plus one: with the time's random suffix it is nobody else's.
    version = msgpack.encode(next_version([decoder.decode(part.raw) for part in versions.values()]))
    made = {
        "id": msgpack.encode(birth.id),
        "ts": msgpack.encode(datetime.now(UTC).isoformat()),
        "channel_values": splice.join_map(_merged(channels, edited)),
        # A channel with a version and no value would be put together again from earlier steps.
        "channel_versions": splice.join_map(
            _merged(versions, {name: None if raw is None else version for name, raw in edited.items()})
        ),
    }
    updated = decoder.decode(parts["updated_channels"].raw) if "updated_channels" in parts else None
    if isinstance(updated, list):
        # The runtime looks only at nodes that these channels wake: without the base's own, nothing would run.
        made["updated_channels"] = msgpack.encode(sorted({*updated, *edited}))
    blob = splice.join_map(_merged(parts, made))
    return CheckpointRow(
        base.ns, birth.id, birth.parent, base.type, blob, new_metadata(base, birth, edited), base.sealed
    )


def _merged(parts: Mapping[str, Entry], made: Mapping[str, bytes | None]) -> list[Entry]:
    """The pairs of a map with some values replaced, added, or (None) taken out."""
    found = {**{name: part.raw for name, part in parts.items()}, **made}
    return [
        Entry(name, parts[name].key_raw, raw) if name in parts else splice.entry(name, raw)
        for name, raw in found.items()
        if raw is not None
    ]


def _edited_channels(
    channels: Mapping[str, Entry], state: Mapping[str, Value], changes: Sequence[Change], decoder: Decoder
) -> dict[str, bytes | None]:
    """The channels that the changes reach, with their new bytes; None for one that was removed."""
    wanted = wanted_channels(channels, state, changes)
    if END in wanted:
        return _edited_return(channels, wanted[END], decoder)
    edited = {name: _encoded(name, value, channels.get(name), state, decoder) for name, value in wanted.items()}
    return {name: raw for name, raw in edited.items() if name not in channels or raw != channels[name].raw}


def _encoded(
    name: str, value: Value, stored: Entry | None, state: Mapping[str, Value], decoder: Decoder
) -> bytes | None:
    """A channel's new bytes, in the form that the old ones have."""
    if value is MISSING:
        return None
    before = _decoded(name, stored, decoder) if stored is not None else MISSING
    if delta.is_snapshot(before) or (stored is None and name in state):
        # Known only in part before the edit, the channel now gets its whole value, as the runtime snapshots it.
        return msgpack.encode(msgpack.delta_snapshot(value, (name,)))
    return msgpack.encode(value, (name,))


def _decoded(name: str, stored: Entry, decoder: Decoder) -> Value:
    """The stored value of a channel about to be edited; refused where its neighbours within would be lost."""
    value = decoder.decode(stored.raw)
    if msgpack.encode(value, (name,)) != stored.raw:
        raise Invalid(f"cannot edit {name}: its stored bytes hold what would be lost (equal keys, or spare bytes)")
    return value


def _edited_return(channels: Mapping[str, Entry], after: Value, decoder: Decoder) -> dict[str, bytes | None]:
    """The last result of a workflow of the functional API, and with it what its next call is given as previous."""
    _decoded(END, channels[END], decoder)
    raw = msgpack.encode(after)
    if raw == channels[END].raw:
        return {}
    same = PREVIOUS in channels and channels[PREVIOUS].raw == channels[END].raw
    return {END: raw, PREVIOUS: raw} if same else {END: raw}
