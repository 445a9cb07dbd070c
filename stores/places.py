"""Where the debugger keeps what it knows for itself: never beside a store that is not ours.

All follow the XDG Base Directory Specification; ``TT_DEBUG_HOME`` moves state, cache and configuration together.
"""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Lineage, recorded answers, locks. Not created here: whoever writes there makes it."""
    return _folder("XDG_STATE_HOME", ".local/state", "state")


def runs_path(store_id: str) -> Path:
    """Where the runs on the threads of a store that is not ours are kept. Not made here."""
    return state_folder() / f"{store_id}-runs.sqlite"


def cache_folder() -> Path:
    """What can be thrown away without harm. Not created here."""
    return _folder("XDG_CACHE_HOME", ".cache", "cache")


def config_folder() -> Path:
    """What the user has set. Only read."""
    return _folder("XDG_CONFIG_HOME", ".config", "config")


def _folder(variable: str, fallback: str, name: str) -> Path:
    home = os.environ.get("TT_DEBUG_HOME")
    if home:
        return Path(home) / name
    base = os.environ.get(variable)
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / fallback
    return root / "tt-debug"
