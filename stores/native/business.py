"""A node's own statements, executed in the transaction that commits its step: both or neither.

Owns the refusal of everything but a change of somebody else's tables. Each statement is an effect of the ledger, so
that a fork, or a step that is run again, does not execute it a second time.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from stores.effects import EffectCall, EffectStatus, meet
from stores.errors import Conflict, Invalid
from stores.native import effect_rows
from stores.native.database import Database, FileRows
from stores.native.tables import OURS
from stores.points import point
from stores.runs import StepCommit
from stores.sqlite_errors import primary_code

# What an authorizer is asked about; the table is the first argument but where it is the second.
_FORBIDDEN: Final = frozenset({sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT, sqlite3.SQLITE_ATTACH,
                               sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA})  # fmt: skip
_TABLE_SECOND: Final = frozenset({sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_DROP_INDEX,
                                  sqlite3.SQLITE_CREATE_TRIGGER, sqlite3.SQLITE_DROP_TRIGGER})  # fmt: skip
# No fault of the statement: what the disk refuses now it may take once there is room on it.
_DISK: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT})
_READING: Final = frozenset({sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION})


def execute_statements(db: Database, commit: StepCommit, thread: str) -> None:
    """Part of the step's transaction. Raises Invalid for a statement that is refused or fails, Conflict for one that
    another run has executed since."""
    for call in commit.statements:
        met = meet(effect_rows.of_slot(db, call.slot.key), call, None)
        if met.found is not None and met.found.status == EffectStatus.DONE:
            raise Conflict(f"{call.slot.name} was executed by another run while the step ran", hint="Run it again.")
        _execute(db, call)
        key = met.found.key if met.found is not None else met.key
        effect_rows.put(db, call, key, EffectStatus.DONE, thread=thread, run=(commit.run_id, commit.token))
        effect_rows.use(db, commit.run_id, call, key, called=True)
        point("native.statement-executed")


def _execute(db: Database, call: EffectCall) -> None:
    sql, parameters = call.request["sql"], call.request["params"]
    if not isinstance(db, FileRows):
        from stores.native.postgres_business import execute_statement

        execute_statement(db, sql, parameters, call.slot.node)
        return
    connection = db.connection
    connection.set_authorizer(_judge)
    try:
        connection.execute(sql, parameters).close()
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:  # a whole number past 63 bits
        if isinstance(error, sqlite3.Error) and primary_code(error) in _DISK:
            raise
        raise Invalid(
            f"the statement {sql!r} of {call.slot.node} failed: {error}",
            hint="ctx.tx takes one statement on tables of your own; the step was not committed.",
        ) from error
    finally:
        connection.set_authorizer(None)


def _judge(action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    table = second if action in _TABLE_SECOND else first
    if action in _FORBIDDEN or (action not in _READING and (table or "").lower() in OURS):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
