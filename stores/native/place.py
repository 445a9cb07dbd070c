"""Where a native file was when its runs were last run: a copy of it must not go on with them unasked.

Told by the file's number on its file system and the machine's id, both of which a copy does not take along; not by the
host's name or device numbers, which change when a container or a machine starts anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stores.native.database import Database
from stores.native.rows import from_text, to_text

_MACHINE: Final = Path("/etc/machine-id")


def keep_place(db: Database, path: str | None, *, anew: bool = False) -> None:
    """Write down where the file is; where that is written down already only ``anew``. Nothing for one on a server."""
    if path is not None:
        then = "UPDATE SET value = excluded.value" if anew else "NOTHING"
        db.execute(
            f"INSERT INTO meta (key, value) VALUES ('place', ?) ON CONFLICT (key) DO {then}",
            (to_text(_place(path), "place"),),
        )


def copied_from(db: Database, path: str | None) -> str | None:
    """The path of the file that this one is a copy of, or was moved from; None where it is the one that runs ran in."""
    row = db.execute("SELECT value FROM meta WHERE key = 'place'").fetchone()
    if path is None or row is None:
        return None
    known = from_text(row[0])
    return None if known["is"] == _place(path)["is"] else str(known["path"])


def _place(path: str) -> dict[str, str]:
    try:
        machine = _MACHINE.read_text().strip()
    except OSError:
        machine = ""
    return {"is": f"{Path(path).stat().st_ino}@{machine}", "path": path}
