"""Workflow definitions in the native tables: kept under their hash, one body a version."""

from __future__ import annotations

from typing import Final

from stores.errors import Conflict, NotFound
from stores.native.base import NativeBase
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.rereading import rereading
from stores.runs import Definition

_DEFINITION: Final = "SELECT hash, workflow_id, version, body, origin FROM definitions"


class NativeDefinitions(NativeBase):
    """The definitions part of `stores.protocol.RunStore`."""

    def put_definition(self, definition: Definition) -> None:
        """Keep it; known already: only where it came from is brought up to date."""
        with self._writing() as db:
            keep_definition(db, definition)

    @rereading
    def definition(self, hash: str) -> Definition:
        """Raises NotFound."""
        with self._reading() as db:
            row = db.execute(f"{_DEFINITION} WHERE hash = ?", (hash,)).fetchone()
        if row is None:
            raise NotFound(f"no workflow definition {hash}", hint="Run the workflow's file once to register it.")
        return Definition(*row)

    @rereading
    def registered(self, workflow_id: str, version: str) -> Definition | None:
        """None when nothing of that version has run here."""
        with self._reading() as db:
            row = db.execute(f"{_DEFINITION} WHERE workflow_id = ? AND version = ?", (workflow_id, version)).fetchone()
        return None if row is None else Definition(*row)


def keep_definition(db: Database, definition: Definition) -> None:
    """Raises Conflict when the same workflow and version has another body."""
    known = db.execute(
        "SELECT hash FROM definitions WHERE workflow_id = ? AND version = ?",
        (definition.workflow_id, definition.version),
    ).fetchone()
    if known is not None and known[0] != definition.hash:
        raise Conflict(
            f"{definition.workflow_id} {definition.version} is registered with another body",
            hint="Give the changed workflow another version.",
        )
    db.execute(
        "INSERT INTO definitions (hash, workflow_id, version, body, origin, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (hash) DO UPDATE SET origin = coalesce(excluded.origin, definitions.origin)",
        (
            definition.hash, definition.workflow_id, definition.version, definition.body, definition.origin,
            micros_now(db),
        ),
    )  # fmt: skip
