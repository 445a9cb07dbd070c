"""What has been said about a store already: a notice that was told today is not told again by every command.

Kept in the cache, as it can be thrown away. `doctor` tells all of them at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from stores.places import cache_folder

_AGAIN: Final = timedelta(days=1)


def unheard(store_id: str, notices: Iterable[str]) -> tuple[str, ...]:
    """Those that were not told for a day; told from now on. All of them where that cannot be kept."""
    return tuple(notice for notice in notices if _is_new(_place(store_id, notice)))


def _place(store_id: str, notice: str) -> Path:
    name = hashlib.sha256(f"{store_id}\n{notice}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return cache_folder() / "told" / name


def _is_new(place: Path) -> bool:
    with suppress(OSError):
        told = datetime.fromtimestamp(place.stat().st_mtime, UTC)
        if timedelta() <= datetime.now(UTC) - told < _AGAIN:
            return False
    with suppress(OSError):  # what cannot be noted is told again
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.touch()
    return True
