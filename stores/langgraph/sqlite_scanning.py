"""Many whole rows of LangGraph's SQLite tables at once, for questions of a whole history.

Owns how they are read, and passing over those whose bytes say no; what they hold is `stores.langgraph.scanning`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from stores.langgraph.delta import needs_others
from stores.langgraph.rows import ERROR, INTERRUPT, CheckpointRow, as_bytes
from stores.langgraph.sqlite_tables import SqliteTables
from stores.model import Ref
from stores.scanning import Holds

Stored: TypeAlias = tuple[Any, ...]
"""The parent, type, checkpoint and metadata of a row as they are stored."""

_BUNDLE: Final = 1 << 20  # bytes
_BEGINNINGS: Final = {
    "msgpack": frozenset(bytes([marker]) for marker in (*range(0x80, 0x90), 0xDE, 0xDF)),
    "json": frozenset((b"{",)),
}
"""How a row's content begins in either form."""


class SqliteScanning(SqliteTables):
    """One snapshot of a file, gone through."""

    __slots__ = ()

    def whole(self, refs: Sequence[Ref], holds: Holds | None = None) -> Iterator[tuple[Ref, CheckpointRow | None]]:
        """Whole rows; None for one whose bytes, as they stand, cannot hold what is looked for."""
        what = f"{self.parent}, {self.type}, checkpoint, {self.metadata}"
        for rows in _bundles(self._near(refs, what)):
            # Asked of all together first: most of the time the answer is no, and a question a row costs as much again.
            cannot = holds is not None and _cannot(holds, rows)
            for ref, row in rows:
                yield (
                    ref,
                    None
                    if cannot or (holds is not None and _cannot(holds, [(ref, row)]))
                    else self._row(ref.ns, ref.id, *row),
                )

    def telling(self, refs: Sequence[Ref]) -> set[Ref]:
        """Those of these whose tasks failed or asked something."""
        if not self.has_writes:
            return set()
        return {ref for ref, _ in self._each(refs, "writes", "1", f"channel IN ('{ERROR}', '{INTERRUPT}')")}

    def _near(self, refs: Sequence[Ref], what: str) -> Iterator[tuple[Ref, Stored]]:
        """What is asked of the rows at these addresses. Where they stand close together in one thread all between them
        are gone through, in half the time that it takes to find each."""
        (thread, ns, _), wanted = refs[0] if refs else Ref("", "", ""), {ref.id: ref for ref in refs}
        where = f"FROM checkpoints WHERE thread_id = ? AND {self.ns} = ? AND {self.id} BETWEEN ? AND ?"
        ends = (thread, ns, min(wanted, default=""), max(wanted, default=""))
        if any(ref.thread != thread or ref.ns != ns for ref in refs) or (
            self.db.execute(f"SELECT count(*) {where}", ends).fetchone()[0] > 2 * len(refs)
        ):
            yield from self._each(refs, "checkpoints", what)
            return
        for row in self.db.execute(f"SELECT {self.id}, {what} {where}", ends):
            if (ref := wanted.get(row[0])) is not None:
                yield ref, row[1:]


def _bundles(rows: Iterable[tuple[Ref, Stored]]) -> Iterator[list[tuple[Ref, Stored]]]:
    """Rows in lists of about a megabyte."""
    bundle: list[tuple[Ref, Stored]] = []
    room = _BUNDLE
    for ref, row in rows:
        bundle.append((ref, row))
        room -= len(row[2]) if isinstance(row[2], bytes) else 0
        if room <= 0:
            yield bundle
            bundle, room = [], _BUNDLE
    yield bundle


def _cannot(holds: Holds, rows: Sequence[tuple[Ref, Stored]]) -> bool:
    """Whether none of these rows can hold it, as far as bytes tell that stand as they are and look like what they are
    to be: of others it is said that they cannot be read."""
    if not all(type(row[2]) is bytes and row[2][:1] in _BEGINNINGS.get(row[1], ()) for _, row in rows):
        return False
    raw = b"\n".join([part for _, row in rows for part in (row[2], as_bytes(row[3]))])
    return not (holds(raw) or needs_others(raw))
