"""Files that are written for the user: new ones only, and whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from stores.errors import Conflict, Unreachable


def write_new(path: Path, text: str) -> None:
    """Write a text file that is not there yet. Raises Conflict where it is, Unreachable where it cannot be written."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.link(unfinished, path)  # unlike a rename, it never takes the place of a file that came meanwhile
    except FileExistsError as error:
        raise Conflict(f"{path} exists", hint="choose another name") from error
    except OSError as error:
        raise Unreachable(f"{path} cannot be written: {error.strerror}", hint="choose another place") from error
    finally:
        unfinished.unlink(missing_ok=True)
