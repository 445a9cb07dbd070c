"""Named write points, so that a test can kill a real process between any two writes.

``point`` does nothing unless ``TT_DEBUG_POINTS`` or ``TT_DEBUG_KILL_AT`` is set; it owns no other switch.
"""

from __future__ import annotations

import os
import signal


def point(name: str) -> None:
    """Pass the write point ``name``.

    ``TT_DEBUG_POINTS=file`` appends every passed name to a file. ``TT_DEBUG_KILL_AT=name`` kills this process
    with SIGKILL there; ``name#3`` does so at the third pass, counted in the file of ``TT_DEBUG_POINTS``.
    """
    listing, target = os.environ.get("TT_DEBUG_POINTS"), os.environ.get("TT_DEBUG_KILL_AT")
    if listing is None and target is None:
        return
    passed = _note(listing, name) if listing else 1
    wanted, _, count = (target or "").partition("#")
    if wanted == name and passed == int(count or passed):
        os.kill(os.getpid(), signal.SIGKILL)


def _note(listing: str, name: str) -> int:
    """Append the name and say how often it stands there now."""
    with open(listing, "a+", encoding="utf-8") as file:
        file.write(name + "\n")
        file.flush()
        file.seek(0)
        return file.read().splitlines().count(name)
