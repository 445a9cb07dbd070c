"""The lock of a run on a PostgreSQL server: the session's own, freed by the server when its process dies.

Owns the key and the session, which is no transaction pooler's: such a lock needs a connection straight to the server.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import Final, Self

from stores.errors import Unreachable
from stores.postgres_address import Address, driver
from stores.postgres_connecting import Database, connect

# A holder whose machine vanished is noticed after a minute, and no server ends the session for being idle.
_SESSION: Final = (
    "SELECT set_config(name, value, false) FROM (VALUES ('tcp_keepalives_idle', '30'),"
    " ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3'), ('idle_session_timeout', '0'))"
    " AS wanted (name, value)"
    " WHERE name IN (SELECT s.name FROM pg_settings s)"
)
_HELD: Final = (
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (classid::bigint << 32 | objid::bigint) = %s"
)


class PostgresRunLock:
    """An advisory lock that lives as long as its connection."""

    def __init__(self, address: Address, store_id: str, run_id: str) -> None:
        self._address = address
        self._key = key_of(store_id, run_id)
        self._db: Database | None = None

    def acquire(self) -> bool:
        """Take it without waiting; False when a living process has it. Raises Unreachable."""
        db = connect(self._address, reading=False)
        try:
            db.execute(_SESSION)
            row = db.execute("SELECT pg_try_advisory_lock(%s)", (self._key,)).fetchone()
        except driver().Error as error:
            db.close()
            raise Unreachable(
                f"the lock of the run cannot be kept at {self._address.shown}", hint="Try again."
            ) from error
        if row is None or not row[0]:
            db.close()
            return False
        self._db = db
        return True

    def release(self) -> None:
        """Give it back. Without effect when it is not held."""
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(driver().Error):
                db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def key_of(store_id: str, run_id: str) -> int:
    """The lock's number: 64 bits, as PostgreSQL counts them."""
    name = f"tt-debug run\n{store_id}\n{run_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big", signed=True)


def is_locked(db: Database, store_id: str, run_id: str) -> bool:
    """Whether a session holds it now."""
    return db.execute(_HELD, (key_of(store_id, run_id),)).fetchone() is not None
