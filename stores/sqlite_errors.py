"""sqlite3's errors in our words: what happened, to which file, and what to do next.

Owns the translation, in this one place; refuses to open anything.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stores.errors import Busy, Conflict, Corrupt, Invalid, NotFound, ReadOnly, StoreError, Unreachable, Unsupported

RESTORE: Final = "Try `sqlite3 FILE .recover`, or restore a backup."
NOT_A_STORE: Final = "Give the path of an SQLite file that holds checkpoints."


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn sqlite3's errors into ours, here and nowhere else."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # the module was used wrongly: a bug of ours
    except UnicodeEncodeError as error:
        raise NotFound(f"{error.object!r} is not valid text, so nothing in {path} has that name") from error
    except UnicodeDecodeError as error:
        # sqlite3 decodes SQLite's own message, which quotes the damaged bytes; values are decoded by us.
        raise Damaged(f"{path} is damaged: {error.object[:100]!r}", hint=RESTORE) from error
    except sqlite3.Error as error:
        raise _translate(error, path) from error


class Damaged(Corrupt):
    """SQLite itself cannot go on reading the file."""


def _translate(error: sqlite3.Error, path: Path) -> StoreError:
    code = primary_code(error)
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Busy(f"{path} is locked by another process", hint="Wait for it to finish, or end it.")
        case sqlite3.SQLITE_NOTADB:
            return Corrupt(f"{path} is not an SQLite database", hint=NOT_A_STORE)
        case sqlite3.SQLITE_CORRUPT:
            return Damaged(f"{path} is damaged: {error}", hint=RESTORE)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return ReadOnly(f"{path} may not be written: {error}", hint="Make the file and its folder writable.")
        case sqlite3.SQLITE_FULL:
            return Unreachable(f"{path}: no space left on the disk", hint="Free some space; nothing was written.")
        case sqlite3.SQLITE_CONSTRAINT:
            return Conflict(f"{path} refused the write: {error}")
        case sqlite3.SQLITE_TOOBIG:
            return Invalid(f"a value is larger than SQLite can hold: {error}")
        case sqlite3.SQLITE_IOERR:
            return Unreachable(f"{path} cannot be read or written: {error}", hint="Check the disk and its space.")
        case sqlite3.SQLITE_CANTOPEN:
            return Unreachable(f"{path} cannot be opened: {error}", hint="Check the disk and the folder's permissions.")
        case _:
            return Unsupported(f"{path} is not what this adapter reads: {error}")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken at this place; other places may still be read."""
    return primary_code(error) == sqlite3.SQLITE_CORRUPT


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its detail, which extended codes carry above the low byte.

    Python's own errors have none and count as SQLITE_ERROR.
    """
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
