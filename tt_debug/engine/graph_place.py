"""Where the driver of a user's graph finds a store.

Owns which stores can be run on; refuses to start anything.
"""

from __future__ import annotations

from stores.protocol import Store
from stores.reopening import Reopened
from tt_debug.errors import UsageError


def place_of(store: Store) -> str:
    """A file's path, or a database's URL with its password, never to be shown; empty for a store of another kind."""
    return store.secret_url if isinstance(store, Reopened) else store.info.path or ""


def path_of(store: Store) -> str:
    """The same. Raises UsageError for a store of another kind."""
    found = place_of(store)
    if not found:
        raise UsageError(f"{store.info.url} is no file", hint="only SQLite and PostgreSQL stores can be run on")
    return found
