"""The native store in an SQLite file.

Owns what such a store says of itself; what it does is `stores.native.history`, how its file is opened `base`.
"""

from __future__ import annotations

from pathlib import Path

from stores.model import StoreInfo
from stores.native.base import NativeFile, create_file
from stores.native.history import CAPABILITIES, NativeHistory


class NativeStore(NativeHistory, NativeFile):
    """One native file. ``read_only`` refuses every write; reading never writes either way."""

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        return StoreInfo(
            url=str(self._path),
            kind="native",
            store_id=self._store_id,
            capabilities=CAPABILITIES,
            read_only=self._read_only,
            path=str(self._path),
        )


def create_native(path: str | Path) -> None:
    """Make an empty native store, or bring an older one up to date.

    Raises Unsupported for a file in which another program's tables live, Unreachable where none can be made.
    """
    create_file(Path(path))
