"""The states of many rows at once, where a row holds all of its own: `stores.scanning` over LangGraph's tables.

Owns telling which rows that are; what a state is stands in `stores.langgraph.rows`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stores.codec.msgpack import Decoder, shallow
from stores.errors import Corrupt
from stores.langgraph import delta, rows, tasks
from stores.langgraph.outline import NOT_NODES
from stores.langgraph.rows import CheckpointRow, as_bytes, mapping
from stores.langgraph.thread import FIELDS
from stores.model import Ref, Value
from stores.scanning import Answer, Holds, Scanned, Unscanned

_READABLE: Final = ("msgpack", "json")
_ATOMS: Final = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked: the rows that ``holds`` says may hold it, and ``only`` these keys of a state."""

    holds: Holds | None = None
    only: frozenset[str] | None = None


def scan(
    refs: Sequence[Ref],
    found: Iterable[tuple[Ref, CheckpointRow | None]],
    told: Collection[Ref],
    decoder: Decoder,
    wanted: Wanted,
) -> list[Answer]:
    """As `stores.scanning.Scans.scan`; ``found`` are the whole rows, None for one that cannot hold it; ``told`` those
    whose tasks failed or asked."""
    answers = {ref: _answer(row, decoder, wanted) for ref, row in found if ref not in told}
    return [answers.get(ref, Unscanned.ALONE) for ref in refs]


def widened(holds: Holds | None) -> Holds | None:
    """What has to be asked of bytes where writers are told of too: a name of ours for one need not stand in them."""
    if holds is not None and any(holds(name.encode()) for name in tasks.OWN_NAMES):
        return _always
    return holds


def _always(raw: bytes) -> bool:
    return True


def _answer(row: CheckpointRow | None, decoder: Decoder, wanted: Wanted) -> Answer:
    if row is None:
        return Unscanned.PASSED
    if row.type not in _READABLE or delta.needs_others(as_bytes(row.metadata)):
        return Unscanned.ALONE
    holds = wanted.holds
    if holds is None and wanted.only is not None and (few := _few(row, wanted.only)) is not None:
        return Scanned(few, {}, ())
    content = rows.content_of(row, decoder)
    if not _is_whole(content):
        return Unscanned.ALONE
    state = _state(content, mapping(content.get("channel_values")))
    if holds is None:
        return Scanned(state, {}, ())
    meta, _ = rows.read_metadata(row.metadata)
    writers = {str(name) for name in (*mapping(content.get("versions_seen")), *mapping(meta.get("writes")))}
    return Scanned(
        state, {name: value for name, value in meta.items() if name not in FIELDS}, writers.union(tasks.OWN_NAMES)
    )


def _is_whole(content: Value) -> bool:
    """Whether a row's content is a checkpoint: what is not has its problem told by `load`."""
    return (
        isinstance(content, dict)
        and isinstance(content.get("channel_versions"), dict)
        and isinstance(content.get("channel_values", {}), dict)
    )


def _state(content: Mapping[str, Value], values: Mapping[str, Value]) -> dict[str, Value]:
    seen = mapping(content.get("versions_seen"))
    whole = {name: delta.whole(value) for name, value in values.items()}
    return rows.split_channels(whole, {node: item for node, item in seen.items() if node not in NOT_NODES})[0]


def _few(row: CheckpointRow, only: Collection[str]) -> dict[str, Value] | None:
    """Some keys of a state whose values are atoms: without opening the messages beside them. None for any others."""
    if row.type != "msgpack" or row.blobs:
        return None
    try:
        content = shallow(as_bytes(row.blob))
    except Corrupt:
        return None
    if not _is_whole(content):
        return None
    values = mapping(content.get("channel_values"))
    few = {name: values[name] for name in only if name in values}
    # Without END, whether a channel is state is told by itself alone.
    if rows.END in values or not all(type(value) in _ATOMS for value in few.values()):
        return None
    return _state(content, few)
