"""PostgreSQL's errors in our words: what happened, where, which right is missing, and what to do next.

Owns the translation, in this one place, by SQLSTATE and never by a message (they are translated and change);
refuses to open anything.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from stores.errors import Busy, Conflict, Corrupt, Invalid, NotFound, ReadOnly, StoreError, Unreachable, Unsupported
from stores.postgres_address import Address, driver
from stores.rereading import Again

if TYPE_CHECKING:
    import psycopg

# The server was shut down, or the connection is no more (class 08).
_GONE: Final = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
_LOST_WRITING: Final = "Look at the thread, then do it again."
_TOO_MANY: Final = "53300"
_DENIED: Final = re.compile(r"denied for (\w+) (.+)")
_RIGHTS: Final = {"schema": "USAGE", "database": "CONNECT", "sequence": "USAGE", "function": "EXECUTE"}
_TOO_LARGE: Final = frozenset({"54000", "54001", "54011", "54023"})


class Lost(Again, Unreachable):
    """The connection broke while a question was asked; a new one may well answer it."""


class Interrupted(Busy):
    """The question was ended from another thread: nobody waits for its answer any more."""


@contextlib.contextmanager
def translated(address: Address, *, writing: bool = False) -> Iterator[None]:
    """Turn psycopg's errors into ours, here and nowhere else."""
    psycopg = driver()
    try:
        yield
    except psycopg.InterfaceError:
        raise  # the driver was used wrongly: a bug of ours
    except UnicodeEncodeError as error:
        if writing:
            raise Invalid(f"PostgreSQL cannot store {error.object!r}: it is not valid text") from error
        raise NotFound(f"{error.object!r} is not valid text, so nothing has that name") from error
    except psycopg.Error as error:
        raise translation(error, address, writing=writing) from error


def is_gone(error: psycopg.Error, db: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Whether the connection is lost, and not only the statement."""
    state = error.sqlstate or ""
    return db.closed or state in _GONE or state.startswith("08")


def cannot_connect(error: psycopg.Error, address: Address) -> StoreError:
    """Why no connection could be made. To be raised without its cause: the driver's frames hold the password."""
    lines = address.masked(str(error)).strip().splitlines()
    why = "; ".join(line.strip() for line in lines if not line.startswith("\t")) or "no reason given"
    why = re.sub(r"^connection failed: ", "", why)
    if error.sqlstate == _TOO_MANY:
        return Busy(f"{address.shown} has no connection free: {why}", hint="Close other programs, or try again.")
    return Unreachable(
        f"{address.shown} cannot be reached: {why}",
        hint="Check that the server runs, the URL, PG* variables and the password (PGPASSWORD, ~/.pgpass).",
    )


def translation(error: psycopg.Error, address: Address, *, writing: bool = False) -> StoreError:
    """One error in our words."""
    state, where = error.sqlstate or "", address.shown
    said = address.masked(error.diag.message_primary or str(error).strip() or type(error).__name__)
    match state:
        case "42501":
            return _not_allowed(said, where, writing=writing)
        case "25006":
            return ReadOnly(f"{where} takes no writes: {said}", hint="Connect to the primary, not to a standby.")
        case "55P03" | "40P01":
            return Busy(f"{where} is locked by another session: {said}", hint="Wait for it to finish, or end it.")
        case "57014":
            return Busy(f"{where} took too long to answer: {said}", hint="Ask for less, or try when it is less busy.")
        case "22021" | "22P05" | "22P02" | "22003" if writing:
            return Invalid(f"PostgreSQL cannot store a value: {said}", hint="Change the value; nothing was written.")
        case "XX001" | "XX002":
            return Corrupt(f"{where} is damaged: {said}", hint="Restore a backup.")
        case _ if state in _TOO_LARGE:
            return Invalid(f"a value is larger than PostgreSQL can hold: {said}")
    if not state and isinstance(error, driver().OperationalError):
        state = "08006"  # the connection broke, and nobody was left to send a state
    return _by_class(state, said, where, writing=writing)


def _by_class(state: str, said: str, where: str, *, writing: bool) -> StoreError:
    match state[:2]:
        case "40":
            return Busy(f"{where}: another session was first: {said}", hint="Try again; nothing was written.")
        case "23":
            return Conflict(f"{where} refused the write: {said}")
        case "53":
            return Unreachable(f"{where} has no room left: {said}", hint="Nothing was written; look at the server.")
        case "57" | "08" | "58" | "25":
            return Unreachable(f"{where} went away: {said}", hint=_LOST_WRITING if writing else "Try again.")
        case "" if writing:
            # Refused by the driver itself, before it was sent.
            return Invalid(f"PostgreSQL cannot store a value: {said}", hint="Change the value; nothing was written.")
        case "":
            return NotFound(f"{where} cannot hold what was asked for: {said}")
    return Unsupported(f"{where} is not what this adapter reads: {said}")


def _not_allowed(said: str, where: str, *, writing: bool) -> StoreError:
    """The missing right as a GRANT would name it. The server says which thing it is about only in its message."""
    found = _DENIED.search(said)
    kind, name = (found[1], found[2]) if found else ("table", "…")
    right = _RIGHTS.get(kind, "SELECT, INSERT, UPDATE" if writing else "SELECT")
    what = f"{kind} {name}" if kind in _RIGHTS else name
    error = ReadOnly if writing else Unreachable
    return error(f"{where}: {said}", hint=f"Its owner lets you in with: GRANT {right} ON {what} TO your role.")
