"""Many whole rows of LangGraph's PostgreSQL tables at once, for questions of a whole history.

Owns how they are read, and passing over those whose bytes say no; what they hold is `stores.langgraph.scanning`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stores.langgraph.delta import needs_others
from stores.langgraph.postgres_tables import PostgresTables, versions_of
from stores.langgraph.rows import ERROR, INTERRUPT, CheckpointRow, as_bytes, is_control, loads, mapping
from stores.model import Ref
from stores.scanning import Holds

_TOGETHER: Final = 64
"""Rows that are read at once: values of a few kilobytes stand apart from each."""
_READABLE: Final = frozenset({"msgpack", "json", "null", "empty"})


class PostgresScanning(PostgresTables):
    """One snapshot of a schema, gone through."""

    def whole(self, refs: Sequence[Ref], holds: Holds | None = None) -> Iterator[tuple[Ref, CheckpointRow | None]]:
        """Whole rows, without those of which a value is not there; None for one that cannot hold what is looked for."""
        for at in range(0, len(refs), _TOGETHER):
            for ref, row in self._read(refs[at : at + _TOGETHER], whole=True).items():
                if not _lacks(row):
                    yield ref, None if holds is not None and _cannot(holds, row) else row

    def telling(self, refs: Sequence[Ref]) -> set[Ref]:
        """Those of these whose tasks failed or asked something."""
        return {ref for ref, row in self._written_at(refs) if row.channel in (ERROR, INTERRUPT)}


def _lacks(row: CheckpointRow) -> bool:
    """Whether a channel has a version and no value: it may be empty, or lost."""
    raw = as_bytes(row.blob)
    inline = mapping(mapping(loads(raw)).get("channel_values"))
    return any(name not in inline and name not in row.blobs and not is_control(name) for name in versions_of(raw))


def _cannot(holds: Holds, row: CheckpointRow) -> bool:
    """Whether the row cannot hold it, as far as bytes tell that stand as they are."""
    metadata = as_bytes(row.metadata)
    if needs_others(metadata) or any(blob.type not in _READABLE for blob in row.blobs.values()):
        return False
    return not any(map(holds, (as_bytes(row.blob), metadata, *(as_bytes(blob.data) for blob in row.blobs.values()))))
