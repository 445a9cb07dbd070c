"""Asking servers on the web whether something is there, and is what it was.

Owns bounded time and memory: the head of a thing, and all of it only where that is small and a SHA-256 is known.
"""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from typing import Final

_SECONDS: Final = 10.0
"""How long a server has to answer."""
_FETCHED: Final = 16 << 20
"""Bytes up to which a thing is fetched to compare its SHA-256."""
_NO_HEAD: Final = (405, 501)


def web_fault(url: str, sha256: str | None) -> str | None:
    """What is wrong with it, None when it is there and, as far as that was looked at, is what it was."""
    try:
        size = _asked(url, "HEAD")
        if not sha256 or (size is not None and size > _FETCHED):
            return None
        return _content_fault(url, sha256)
    except urllib.error.HTTPError as error:
        return f"is gone: the server says {error.code} {error.reason}"
    except (OSError, http.client.HTTPException, ValueError) as error:  # URLError and timeouts are OSErrors
        return f"cannot be reached: {getattr(error, 'reason', None) or error}"


def _asked(url: str, method: str) -> int | None:
    """The size that the server tells, in bytes. Some servers know no HEAD: all of it is asked for, and not read."""
    request = urllib.request.Request(url, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            told = answer.headers.get("Content-Length")
            return int(told) if told is not None and told.isdecimal() else None
    except urllib.error.HTTPError as error:
        if method != "HEAD" or error.code not in _NO_HEAD:
            raise
        return _asked(url, "GET")


def _content_fault(url: str, sha256: str) -> str | None:
    digest, left, until = hashlib.sha256(), _FETCHED, time.monotonic() + _SECONDS
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
        while part := answer.read(1 << 16):
            digest.update(part)
            left -= len(part)
            if left < 0 or time.monotonic() > until:
                return None  # more than is fetched for this: that it is there is known
    return None if digest.hexdigest() == sha256 else "is not what it was"
