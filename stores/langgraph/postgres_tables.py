"""The SQL over LangGraph's PostgreSQL tables: `Tables` on one snapshot.

Owns how rows are found, always by the primary keys: no question reads a whole table. Refuses meaning, and columns:
those are `stores.langgraph.postgres_columns`'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from stores.codec.aes import Seal, is_sealed
from stores.errors import Corrupt
from stores.langgraph import postgres_room
from stores.langgraph.collisions import Versions
from stores.langgraph.delta import COUNTERS
from stores.langgraph.postgres_columns import Columns
from stores.langgraph.postgres_listing import addresses, listing, since, spaces, thread_row
from stores.langgraph.rows import (
    MISSING_BLOB,
    Blob,
    CheckpointRow,
    WriteRow,
    as_bytes,
    is_control,
    loads,
    mapping,
    read_metadata,
)
from stores.langgraph.skeleton import Key, Skeleton, joined
from stores.langgraph.tables import Place, ThreadRow
from stores.model import Ref
from stores.postgres import Database, many_rows

_EVERY: Final = 2**31 - 1
_ALL: Final = "unnest(%s::text[], %s::text[], %s::text[])"
# Before langgraph 0.5 pending Sends are read from what the parent's tasks wrote, whatever the row says.
_CONTENT: Final = "CASE WHEN c.checkpoint -> 'v' < '4' THEN c.checkpoint - 'pending_sends' ELSE c.checkpoint END"
_LARGE: Final = 4096
"""Bytes of a row above which a header leaves out the long values in it."""
_ENOUGH: Final = 64
"""Bytes of a value that are read for a header: the runtime's own are short, of others only the kind counts."""
_NO_LONG_VALUES: Final = f"""
    jsonb_set({{0}}, '{{{{channel_values}}}}', (SELECT coalesce(jsonb_object_agg(v.key,
        CASE WHEN pg_column_size(v.value) > {_ENOUGH} THEN '""' ELSE v.value END), '{{{{}}}}')
        FROM jsonb_each(c.checkpoint -> 'channel_values') v))
"""

Address = tuple[str, str, str, str]
"""Thread, namespace, channel, version: what a value that is stored apart is found by."""


class PostgresTables:
    """One snapshot of a schema. Rows that `read_many` brought are kept as long as it lasts."""

    def __init__(self, db: Database, columns: Columns, seal: Seal | None = None) -> None:
        self.db = db
        self.columns = columns
        self.seal = seal
        self._stamps: dict[Ref, int | None] = {}
        self._outlined: dict[Ref, CheckpointRow] = {}
        self._written: dict[Ref, list[WriteRow]] = {}

    @property
    def is_writable(self) -> bool:
        """Whether rows can be written as the saver that made the tables reads them."""
        return self.columns.is_writable

    @property
    def is_first(self) -> bool:
        """Never: langgraph 0.1 had no PostgreSQL saver."""
        return False

    def rows(self, question: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The answer to one question."""
        return self.db.execute(question.encode(), parameters).fetchall()

    # --- threads

    def threads(self, after: Place | None, limit: int) -> list[ThreadRow]:
        """As `Tables.threads`: each thread is found from the one before it in the index, its rows are not visited."""
        listed = self.rows(*listing(self.columns, after, limit))
        counted: dict[str, list[tuple[str, int, str]]] = {}
        for thread, ns, count, newest in self.rows(spaces(self.columns), [thread for thread, *_ in listed]):
            counted.setdefault(thread, []).append((ns, count, newest))
        return [thread_row(thread, written, counted[thread]) for thread, _, written in listed]

    def threads_at(self) -> list[ThreadRow]:
        """As `Tables.threads_at`."""
        return self.threads(None, _EVERY)

    def newest(self, limit: int) -> list[tuple[str, Key]]:
        """As `Tables.newest`, of the threads that were written last."""
        listed = [thread for thread, *_ in self.rows(*listing(self.columns, None, limit))]
        place = {thread: index for index, thread in enumerate(listed)}
        found = sorted(self.rows(spaces(self.columns), listed), key=lambda row: (place[row[0]], row[1]))
        return [(thread, Key(id, ns)) for thread, ns, _, id in found][:limit]

    def progress(self) -> int:
        """How many rows were stored, as the server's statistics count them."""
        question = "SELECT n_tup_ins + n_tup_upd FROM pg_catalog.pg_stat_all_tables WHERE relid = %s::regclass"
        found = self.rows(question, self.columns.checkpoints.replace("%%", "%"))
        return found[0][0] or 0 if found else 0

    def moment(self) -> None:
        """As `Tables.moment`: the counters of a server move with whatever is done in any of its tables."""

    def count(self, thread: str) -> tuple[int, str | None]:
        """As `Tables.count`."""
        question = f"SELECT count(*), max({self.columns.id}) FROM {self.columns.checkpoints} c WHERE c.thread_id = %s"
        ((count, newest),) = self.rows(question, thread)
        return count, newest

    def head(self, thread: str, ns: str) -> str | None:
        """As `Tables.head`."""
        id, source = self.columns.id, self.columns.checkpoints
        question = f"SELECT max({id}) FROM {source} c WHERE c.thread_id = %s AND c.checkpoint_ns = %s"
        newest: str | None = self.rows(question, thread, ns)[0][0]
        return newest

    def skeleton(self, thread: str) -> Skeleton:
        """As `Tables.skeleton`."""
        rows = many_rows(self.db, addresses(self.columns), thread)
        return joined(*zip(*rows, strict=True)) if rows else joined((), (), ())

    def since(self, thread: str, last: Key) -> list[tuple[str, str]]:
        """As `Tables.since`."""
        return sorted(self.rows(since(self.columns), thread, last.ns, last.id))

    # --- checkpoints

    def read_many(
        self, refs: Iterable[Ref], known: Callable[[Ref], int | None]
    ) -> Iterator[tuple[Ref, int, CheckpointRow]]:
        """As `Tables.read_many`, in four questions however many they are."""
        wanted = [ref for ref in dict.fromkeys(refs) if ref not in self._stamps]
        if not wanted:
            return
        self._stamps |= dict.fromkeys(wanted) | self._stamped(wanted)
        stamps = {ref: stamp for ref in wanted if (stamp := self._stamps[ref]) is not None}
        unknown = [ref for ref, stamp in stamps.items() if known(ref) != stamp]
        if unknown:
            self._outlined |= self._read(unknown, whole=False)
        self._written |= {ref: [] for ref in wanted}
        for ref, row in self._written_at(wanted):
            self._written[ref].append(row)
        yield from ((ref, stamps[ref], self._outlined[ref]) for ref in unknown if ref in self._outlined)

    def stamp(self, thread: str, key: Key) -> int | None:
        """The transaction that stored the row: the savers may store one again in its place."""
        ref = Ref(thread, key.ns, key.id)
        if ref not in self._stamps:
            self._stamps[ref] = self._stamped([ref]).get(ref)
        return self._stamps[ref]

    def _stamped(self, refs: Sequence[Ref]) -> dict[Ref, int]:
        found = self.rows(self._each(refs, "c.xmin::text::bigint"), *_arrays(refs))
        return {Ref(*row[:3]): row[3] for row in found}

    def outlined(self, thread: str, key: Key) -> CheckpointRow | None:
        """As `Tables.outlined`: of values that are stored apart only what tells their kind."""
        ref = Ref(thread, key.ns, key.id)
        if ref not in self._outlined:
            self._outlined |= self._read([ref], whole=False)
        return self._outlined.get(ref)

    def checkpoint(self, thread: str, key: Key) -> CheckpointRow | None:
        """One whole row; a value that should be there and is not counts as `MISSING_BLOB`."""
        ref = Ref(thread, key.ns, key.id)
        row = self._read([ref], whole=True).get(ref)
        if row is None:
            return None
        lost = {name: Blob(version, MISSING_BLOB, b"") for name, version in self._lost(ref, row)}
        return row._replace(blobs={**row.blobs, **lost})

    def _each(self, refs: Sequence[Ref], what: str) -> str:
        """The question for these rows, one by one: joined as a whole, the planner may read all of the table."""
        own = "true" if self.columns.is_shallow else "c.checkpoint_id = k.id"
        return (
            f"SELECT k.thread, k.ns, k.id, r.* FROM {_ALL} AS k(thread, ns, id) CROSS JOIN LATERAL (SELECT {what} "
            f"FROM {self.columns.checkpoints} c WHERE c.thread_id = k.thread AND c.checkpoint_ns = k.ns AND {own} "
            f"OFFSET 0) r"
        )

    def _read(self, refs: Sequence[Ref], *, whole: bool) -> dict[Ref, CheckpointRow]:
        content = _CONTENT
        if not whole:
            is_large = f"pg_column_size(c.checkpoint) > {_LARGE} AND jsonb_typeof(c.checkpoint -> 'channel_values')"
            content = f"CASE WHEN {is_large} = 'object' THEN {_NO_LONG_VALUES.format(_CONTENT)} ELSE {_CONTENT} END"
        what = (
            f"{self.columns.parent} AS parent, ({content})::text AS content, c.metadata::text AS metadata, "
            f"pg_column_size(c.checkpoint) AS size"
        )
        found = {Ref(*row[:3]): row[3:] for row in self.rows(self._each(refs, what), *_arrays(refs))}
        versions = {ref: versions_of(content) for ref, (_, content, *_) in found.items()}
        wanted = {(ref.thread, ref.ns, name, one) for ref, own in versions.items() for name, one in own.items()}
        blobs = self._blobs(wanted, whole=whole)
        rows = {}
        for ref, (parent, content, metadata, size) in found.items():
            keys = {name: (ref.thread, ref.ns, name, version) for name, version in versions[ref].items()}
            own = {name: blobs[key] for name, key in keys.items() if key in blobs}
            total = size + sum(blob.size for blob in own.values())
            raw = as_bytes(content)
            rows[ref] = CheckpointRow(
                ref.ns, ref.id, parent or None, "json", raw, metadata, blobs=own, size=total, apart=True
            )
        return rows

    def _blobs(self, wanted: Iterable[Address], *, whole: bool) -> dict[Address, Blob]:
        """The values that are stored apart; for a header those of other channels than the runtime's own in part."""
        keys = list(wanted)
        if not keys:
            return {}
        is_short = (
            f"octet_length(b.blob) <= {_ENOUGH} OR b.channel ~ '^(branch:|join:|start:|__)' OR b.type LIKE '%%+%%'"
        )
        data = "b.blob" if whole else f"CASE WHEN {is_short} THEN b.blob ELSE substring(b.blob FOR 6) END"
        same = "true" if self.columns.version == "''" else "b.version = k.version"
        question = (
            f"SELECT k.thread, k.ns, k.channel, k.version, r.* FROM {_ALL[:-1]}, %s::text[]) "
            f"AS k(thread, ns, channel, version) CROSS JOIN LATERAL (SELECT b.type, {data} AS data, "
            f"octet_length(b.blob) AS size FROM {self.columns.blobs} b WHERE b.thread_id = k.thread "
            f"AND b.checkpoint_ns = k.ns AND b.channel = k.channel AND {same} OFFSET 0) r"
        )
        found = self.rows(question, *([key[part] for key in keys] for part in range(4)))
        return {
            (thread, ns, channel, version): self._blob(version, *rest) for thread, ns, channel, version, *rest in found
        }

    def _blob(self, version: str, kind: str, data: bytes | None, size: int | None) -> Blob:
        cut = data is not None and len(data) != size
        opened, inside = (kind, data) if cut else self._opened(kind, data)
        return Blob(version, opened, inside, size or 0, opened != kind, cut)

    def _opened(self, kind: str, data: bytes | None) -> tuple[str, bytes | None]:
        """A (type, bytes) pair without its encryption; as it is when there is no key, or the wrong one."""
        if self.seal is None or data is None or not is_sealed(kind):
            return kind, data
        try:
            return self.seal.open(kind, data)
        except Corrupt:
            return kind, data

    def _lost(self, ref: Ref, row: CheckpointRow) -> list[tuple[str, str]]:
        """The channels whose value is not stored although it must have been, with their versions.

        Savers up to 2.0.24 stored of every version something, if only that it is empty. Later ones store nothing for
        an empty channel: there, one that the step before wrote to, and that is stored at other times, lost its value.
        """
        content = mapping(loads(row.blob or b""))
        inline = mapping(content.get("channel_values"))
        absent = {
            name: version
            for name, version in versions_of(row.blob or b"").items()
            if name not in inline and name not in row.blobs and not is_control(name)
        }
        if not absent or self.columns.is_shallow:
            return []
        if isinstance(content.get("v"), int) and content["v"] < 4:
            return list(absent.items())
        metadata, _ = read_metadata(row.metadata)
        deltas = mapping(metadata.get(COUNTERS))
        return [pair for pair in absent.items() if pair[0] not in deltas and self._was(ref, *pair)]

    def _was(self, ref: Ref, name: str, version: str) -> bool:
        """Whether a value was stored under this version, by what else is there."""
        if self.columns.writes is None:
            return False
        question = f"""
            SELECT 1 FROM (
                SELECT c.parent_checkpoint_id FROM {self.columns.checkpoints} c WHERE c.thread_id = %s
                AND c.checkpoint_ns = %s AND c.checkpoint -> 'channel_versions' ->> %s = %s
                ORDER BY c.checkpoint_id LIMIT 1) AS first
            WHERE EXISTS (SELECT 1 FROM {self.columns.writes} w WHERE w.thread_id = %s AND w.checkpoint_ns = %s
                AND w.checkpoint_id = first.parent_checkpoint_id AND w.channel = %s)
            AND EXISTS (SELECT 1 FROM {self.columns.blobs} b WHERE b.thread_id = %s AND b.checkpoint_ns = %s
                AND b.channel = %s)"""
        place = (ref.thread, ref.ns, name)
        return bool(self.rows(question, *place, version, *place, *place))

    # --- writes

    def writes(self, thread: str, key: Key, *, values: bool = False) -> list[WriteRow]:
        """As `Tables.writes`."""
        ref = Ref(thread, key.ns, key.id)
        if values:
            return [row for _, row in self._written_at([ref], every=True)]
        if ref not in self._written:
            self._written[ref] = [row for _, row in self._written_at([ref])]
        return [row._replace(type=None, value=None) for row in self._written[ref]]

    def writes_to(self, thread: str, key: Key, channel: str) -> list[WriteRow]:
        """As `Tables.writes_to`."""
        ref = Ref(thread, key.ns, key.id)
        if ref not in self._written:
            self._written[ref] = [row for _, row in self._written_at([ref])]
        return [row for row in self._written[ref] if row.channel == channel]

    def _written_at(self, refs: Sequence[Ref], *, every: bool = False) -> Iterable[tuple[Ref, WriteRow]]:
        """The writes of some checkpoints' supersteps; the values of all, or of pending Sends alone."""
        if self.columns.writes is None:
            return
        wanted = "true" if every else "w.channel = '__pregel_tasks'"
        question = (
            f"SELECT k.thread, k.ns, k.id, r.* FROM {_ALL} AS k(thread, ns, id) CROSS JOIN LATERAL (SELECT w.task_id, "
            f"{self.columns.write_path} AS path, w.idx, w.channel, CASE WHEN {wanted} THEN w.type END AS type, "
            f"CASE WHEN {wanted} THEN w.blob END AS blob FROM {self.columns.writes} w WHERE w.thread_id = k.thread "
            f"AND w.checkpoint_ns = k.ns AND w.checkpoint_id = k.id OFFSET 0) r"
        )
        for thread, ns, id, task, path, idx, channel, kind, blob in self.rows(question, *_arrays(refs)):
            kind, blob = self._opened(kind, blob) if kind is not None else (None, blob)
            value = b"" if every and blob is None else blob
            yield Ref(thread, ns, id), WriteRow(task, path or "", idx, channel, kind, value)

    def counted_versions(self, thread: str) -> Versions:
        """As `Tables.counted_versions`; of a channel that the runtime itself reads, a version is a value too."""
        question = (
            f"SELECT c.checkpoint_ns, {self.columns.id}, jsonb_build_object('channel_versions', "
            f"c.checkpoint -> 'channel_versions')::text FROM {self.columns.checkpoints} c WHERE c.thread_id = %s"
        )
        return {Key(id, ns): versions_of(versions) for ns, id, versions in self.rows(question, thread)}

    room = postgres_room.room

    def task_owner(self, thread: str, ns: str, task: str) -> str | None:
        """As `Tables.task_owner`."""
        if self.columns.writes is None:
            return None
        question = (
            f"SELECT w.checkpoint_id FROM {self.columns.writes} w WHERE w.thread_id = %s AND w.checkpoint_ns = %s "
            f"AND w.task_id = %s LIMIT 1"
        )
        found = self.rows(question, thread, ns, task)
        return found[0][0] if found else None


def versions_of(content: str | bytes) -> Mapping[str, str]:
    """Channel → version of a checkpoint's JSON, as the text under which a value is stored; {} for a damaged one."""
    try:
        found = mapping(mapping(loads(as_bytes(content))).get("channel_versions"))
    except Corrupt:
        return {}
    return {name: version if isinstance(version, str) else str(version) for name, version in found.items()}


def _arrays(refs: Sequence[Ref]) -> tuple[list[str], list[str], list[str]]:
    return [ref.thread for ref in refs], [ref.ns for ref in refs], [ref.id for ref in refs]
