"""What a state refers to outside of its store: ``{"$ref": url, "sha256": …}``, files always, the web when asked to.

Owns finding them and looking at files, in bounded memory; how the web is asked stands in `remote`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from stores.model import Value

WEB: Final = ("http:", "https:")
_SECONDS: Final = 60.0
"""How long all servers together have to answer."""


class Reference(NamedTuple):
    """``sha256`` is what it was when the state was written, None where the state does not say."""

    url: str
    sha256: str | None


def references(value: Value) -> Iterator[Reference]:
    """Those to files and to the web, each as often as it stands in the value."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            url, digest = item.get("$ref"), item.get("sha256")
            if isinstance(url, str) and url.startswith(("file:", *WEB)):
                yield Reference(url, digest if isinstance(digest, str) else None)
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)


def fault(state: Value, beside: Path | None, *, web: bool) -> str | None:
    """What is wrong with the first reference that does not hold, None when all do. ``beside`` is where relative files
    lie; with ``web`` servers are asked too, for the head of what is there, and for all of it to compare its SHA-256."""
    until = time.monotonic() + _SECONDS
    for found in dict.fromkeys(references(state)):
        if found.url.startswith("file:"):
            wrong = _file_fault(found, beside)
        elif not web:
            continue
        elif time.monotonic() > until:
            wrong = f"could not be looked at: the servers took more than {_SECONDS:.0f} s together"
        else:
            from tt_debug.remote import web_fault  # 30 ms, and hardly ever asked for

            wrong = web_fault(found.url, found.sha256)
        if wrong is not None:
            return f"the state refers to {found.url}, which {wrong}"
    return None


def _file_fault(found: Reference, beside: Path | None) -> str | None:
    path = Path(unquote(urlsplit(found.url).path))
    if not path.is_absolute() and beside is not None:
        path = beside / path
    try:
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest() if found.sha256 else None
    except OSError as error:
        return f"is gone: {error.strerror}"
    return None if digest == found.sha256 else "is not what it was"
