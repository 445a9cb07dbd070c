"""The questions for the threads of a PostgreSQL store: newest write first, and copies, without visiting their rows;
and for the addresses of one thread.

Owns these questions; refuses to ask them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stores.langgraph.postgres_columns import Columns
from stores.langgraph.skeleton import Key
from stores.langgraph.tables import Place, ThreadRow

# The number of the transaction that stored a row, all 64 bits of it: a row shows the lower 32.
_WRITTEN: Final = "(s.next - ((s.next - {0}.xmin::text::bigint) & 4294967295))"


_EACH: Final = """n(thread_id) AS (
            (SELECT c.thread_id FROM {source} c ORDER BY c.thread_id LIMIT 1) UNION ALL
            SELECT (SELECT c.thread_id FROM {source} c WHERE c.thread_id > n.thread_id
                    ORDER BY c.thread_id LIMIT 1) FROM n WHERE n.thread_id IS NOT NULL),
        s(next) AS (SELECT txid_snapshot_xmax(txid_current_snapshot()))"""


def families(columns: Columns) -> str:
    """The question for (first id, threads): those that begin with the same root checkpoint, in the order stored."""
    source, id = columns.checkpoints, columns.id
    return f"""
        WITH RECURSIVE {_EACH.format(source=source)}
        SELECT r.id, array_agg(n.thread_id ORDER BY {_WRITTEN.format("r")}, n.thread_id COLLATE "C")
        FROM n CROSS JOIN s CROSS JOIN LATERAL (
            SELECT {id} AS id, c.xmin FROM {source} c WHERE c.thread_id = n.thread_id AND c.checkpoint_ns = ''
            ORDER BY c.checkpoint_id LIMIT 1) r
        WHERE n.thread_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1"""


def listing(columns: Columns, after: Place | None, limit: int) -> tuple[str, *tuple[object, ...]]:
    """The question with its parameters, for (thread, newest id, written).

    Each thread is found from the one before it in the primary key's index, and its newest row in the root graph by
    the same index: two look-ups a thread, however many checkpoints it has. Threads without any there come by another.
    """
    source, id = columns.checkpoints, columns.id
    newest = f"SELECT {id} AS id, c.xmin FROM {source} c WHERE c.thread_id = n.thread_id"
    order = f"ORDER BY c.checkpoint_ns DESC{'' if columns.is_shallow else ', c.checkpoint_id DESC'} LIMIT 1"
    further = '(l.written, l.id COLLATE "C", l.thread_id COLLATE "C") < (%s, %s, %s)' if after else "true"
    question = f"""
        WITH RECURSIVE {_EACH.format(source=source)},
        l AS (
            SELECT n.thread_id, coalesce(r.id, o.id) AS id,
                   coalesce({_WRITTEN.format("r")}, {_WRITTEN.format("o")}) AS written
            FROM n CROSS JOIN s
            LEFT JOIN LATERAL ({newest} AND c.checkpoint_ns = '' {order}) r ON true
            LEFT JOIN LATERAL ({newest} AND r.id IS NULL {order}) o ON true
            WHERE n.thread_id IS NOT NULL)
        SELECT l.thread_id, l.id, l.written FROM l WHERE {further}
        ORDER BY l.written DESC, l.id COLLATE "C" DESC, l.thread_id COLLATE "C" DESC LIMIT %s"""
    return (question, *(after or ()), limit)


def spaces(columns: Columns) -> str:
    """The question for (thread, namespace, count, newest id) of some threads."""
    return (
        f"SELECT c.thread_id, c.checkpoint_ns, count(*), max({columns.id}) FROM {columns.checkpoints} c "
        f"WHERE c.thread_id = ANY(%s) GROUP BY 1, 2"
    )


def thread_row(thread: str, written: int, counted: Sequence[tuple[str, int, str]]) -> ThreadRow:
    """A thread by the answers, without its name, to `spaces`."""
    head = next((newest for ns, _, newest in counted if ns == ""), None)
    # The namespace by which a thread is listed, so that its place in the listing stays the same.
    newest = Key(head, "") if head is not None else max(Key(id, ns) for ns, _, id in counted)
    latest = max(id for _, _, id in counted)
    return ThreadRow(thread, sum(count for _, count, _ in counted), newest, head, written, latest)


def addresses(columns: Columns) -> str:
    """The question for (namespace, id, parent) of a thread, in no order: the server would sort by its locale, and to
    put arrays together takes it four times as long as to send the rows."""
    return (
        f"SELECT c.checkpoint_ns, {columns.id}, coalesce({columns.parent}, '') "
        f"FROM {columns.checkpoints} c WHERE c.thread_id = %s"
    )


def since(columns: Columns) -> str:
    """The question for (id, parent) of the checkpoints of a thread's namespace with greater ids."""
    return (
        f"SELECT {columns.id}, coalesce({columns.parent}, '') FROM {columns.checkpoints} c "
        f'WHERE c.thread_id = %s AND c.checkpoint_ns = %s AND {columns.id} COLLATE "C" > %s'
    )
