"""A node's own statements on PostgreSQL, in the transaction that commits its step.

Owns the refusal of what would end that transaction or change our tables; as `stores.native.business` does for a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from stores.errors import Invalid
from stores.model import Value
from stores.native.database import Database
from stores.native.dialect import PostgresRows
from stores.postgres_address import driver

if TYPE_CHECKING:
    import psycopg

_COMMENT: Final = re.compile(r"\s+|--[^\n]*\n?|/\*.*?\*/", re.DOTALL)
_FORBIDDEN: Final = re.compile(
    r"(abort|begin|commit|copy|discard|end|listen|lock|prepare|release|reset|rollback|savepoint|set|start)\b",
    re.IGNORECASE,
)
_OURS: Final = "ctx.tx takes one statement on tables of your own; the step was not committed."
# What every change of a table leaves behind: rows counted within this transaction, and its own row in the catalog.
_TOUCHED: Final = """
SELECT coalesce(sum(s.n_tup_ins + s.n_tup_upd + s.n_tup_del), 0), string_agg(c.oid || '.' || c.xmin, ',' ORDER BY c.oid)
FROM pg_class c LEFT JOIN pg_stat_xact_user_tables s ON s.relid = c.oid
WHERE c.relnamespace = quote_ident(current_schema())::regnamespace
"""


def execute_statement(db: Database, sql: str, parameters: Sequence[Value], node: str) -> None:
    """One statement, as the role's own search path finds its tables; marks are ``?``, as in a file.

    Raises Invalid for one that fails by its own fault, is more than one, would end the transaction, or changes a table
    of ours.
    """
    assert isinstance(db, PostgresRows)
    if _FORBIDDEN.match(sql, _start_of(sql)):
        raise Invalid(f"the statement {sql!r} of {node} is refused", hint=_OURS)
    before = db.execute(_TOUCHED).fetchone()
    (ours,) = db.execute("SELECT current_setting('search_path')").fetchall()[0]
    db.execute("SET LOCAL search_path TO DEFAULT")
    try:
        db.execute_alone(sql, parameters)
    except driver().Error as error:
        if _is_of_the_moment(error):
            raise
        raise Invalid(f"the statement {sql!r} of {node} failed: {error}", hint=_OURS) from error
    db.execute("SELECT set_config('search_path', ?, true)", (ours,))
    if db.execute(_TOUCHED).fetchone() != before:
        raise Invalid(f"the statement {sql!r} of {node} changes tables of the store", hint=_OURS)


def _is_of_the_moment(error: psycopg.Error) -> bool:
    """Whether it is no fault of the statement: somebody's lock, a lost connection, a server without room."""
    psycopg, state = driver(), error.sqlstate or ""
    # As operational counts, too, a statement that meets things in a state it is not made for.
    return isinstance(error, psycopg.OperationalError) and (state[:2] != "55" or state == "55P03")


def _start_of(sql: str) -> int:
    """Where its first word stands, behind comments."""
    at = 0
    while found := _COMMENT.match(sql, at):
        at = found.end()
    return at
