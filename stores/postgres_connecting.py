"""One connection to a PostgreSQL server: how it is made, and how its values come.

Owns a connection's own settings, all of them libpq's or the session's at its start; what is asked on it is
`stores.postgres`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from stores.errors import Busy, Unreachable
from stores.postgres_address import Address, driver
from stores.postgres_errors import cannot_connect

if TYPE_CHECKING:
    import psycopg

Database: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

APPLICATION: Final = "tt-debug"
CONNECT_SECONDS: Final = 10
RETURN_SECONDS: Final = 15.0
"""How long a server that was there may take to come back."""
PAUSE: Final = 0.1
LOCK_SECONDS: Final = 5.0
WAITING: Final = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
"""How long a statement waits for another session's lock, for the length of a transaction."""
# A server or a network that died without a word is noticed after about a minute.
_ALIVE: Final = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}


def connect(address: Address, *, reading: bool) -> Database:
    """One connection in autocommit mode. Raises Unreachable, Busy where the server has none free."""
    psycopg = driver()
    settings = {
        "application_name": APPLICATION,
        "connect_timeout": str(CONNECT_SECONDS),
        **_ALIVE,
        **address.parameters,
        "client_encoding": "UTF8",
    }
    given = settings.get("options", "")
    only_reading = {**settings, "options": f"{given} -c default_transaction_read_only=on".strip()}
    try:
        db: Database = psycopg.connect(
            **(only_reading if reading else settings), autocommit=True, prepare_threshold=None
        )
    except psycopg.Error as error:
        if not reading or "startup parameter" not in str(error):
            raise cannot_connect(error, address) from None
        # A pooler that passes no options on. Every question is asked in a READ ONLY transaction all the same.
        return connect(address, reading=False)
    _read_as_stored(db)
    return db


def back_by() -> float:
    """The monotonic time until which a server that was lost just now is waited for."""
    return time.monotonic() + RETURN_SECONDS


def connect_patiently(address: Address, give_up: float, *, reading: bool) -> Database:
    """As `connect`, for a server that was there a moment ago: one that restarts is waited for until ``give_up``."""
    while True:
        try:
            return connect(address, reading=reading)
        except (Busy, Unreachable):
            if time.monotonic() >= give_up:
                raise
        time.sleep(PAUSE)


def _read_as_stored(db: Database) -> None:
    """JSON comes as its text, for a decoder that changes nothing; text that is no UTF-8 keeps its bytes."""
    from psycopg.adapt import Loader

    class Text(Loader):
        def load(self, data: bytes | bytearray | memoryview) -> str:
            return bytes(data).decode("utf-8", "surrogateescape")

    for name in ("json", "jsonb"):
        db.adapters.register_loader(name, Text)
    if db.info.parameter_status("server_encoding") == "SQL_ASCII":
        db.execute("SET client_encoding TO 'SQL_ASCII'")  # in any other the server refuses such text
        for name in ("text", "varchar", "bpchar", "name"):
            db.adapters.register_loader(name, Text)
