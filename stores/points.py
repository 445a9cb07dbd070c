"""Named write points, so that a test can kill or stop a real process between any two writes.

``point`` does nothing unless one of the variables below is set; it owns no other switch.
"""

from __future__ import annotations

import os
import signal
from typing import Final

_LISTING: Final = "TT_DEBUG_POINTS"
_SIGNALS: Final = {"TT_DEBUG_KILL_AT": signal.SIGKILL, "TT_DEBUG_STOP_AT": signal.SIGSTOP}
# Looked at once: a step passes ten points, and asking the environment at each would cost a tenth of it.
_IS_WATCHED: Final = any(name in os.environ for name in (_LISTING, *_SIGNALS))


def point(name: str) -> None:
    """Pass the write point ``name``.

    ``TT_DEBUG_POINTS=file`` appends every passed name to a file. ``TT_DEBUG_KILL_AT=name`` kills this process
    with SIGKILL there, ``TT_DEBUG_STOP_AT=name`` stops it with SIGSTOP; ``name#3`` does so at the third pass, counted
    in the file of ``TT_DEBUG_POINTS``.
    """
    if not _IS_WATCHED:
        return
    listing = os.environ.get(_LISTING)
    targets = [(variable, os.environ[variable]) for variable in _SIGNALS if variable in os.environ]
    if listing is None and not targets:
        return
    passed = _note(listing, name) if listing else 1
    for variable, target in targets:
        wanted, _, count = target.partition("#")
        if wanted == name and passed == int(count or passed):
            os.kill(os.getpid(), _SIGNALS[variable])


def _note(listing: str, name: str) -> int:
    """Append the name and say how often it stands there now."""
    with open(listing, "a+", encoding="utf-8") as file:
        file.write(name + "\n")
        file.flush()
        file.seek(0)
        return file.read().splitlines().count(name)
