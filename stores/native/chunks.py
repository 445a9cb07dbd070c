"""The table of chunks: parts of large states under the hash of their text, binary values under their SHA-256.

Owns their rows: compressed, checked when they are read, never written twice. Refuses to know what they hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from stores.errors import Invalid
from stores.native.asking import parts
from stores.native.trees import HASH_BYTES
from stores.points import point

if TYPE_CHECKING:
    from stores.native.database import Statements

_ROWS: Final = (64, 32, 16, 8, 4, 2, 1)
LARGEST: Final = 900_000_000
"""Bytes of one chunk: SQLite keeps up to a billion, PostgreSQL up to a gibibyte, and both need some for themselves."""


def fetched(db: Statements, hashes: Collection[bytes]) -> dict[bytes, bytes | str]:
    """The content of each, or in a few words why there is none: "is gone", "is damaged"."""
    from zstandard import ZstdDecompressor, ZstdError  # 9 ms

    found: dict[bytes, bytes | str] = dict.fromkeys(hashes, "is gone")
    unpacked, digest = ZstdDecompressor().decompress, hashlib.sha256
    for asked in parts(list(hashes)):
        rows = db.execute(f"SELECT hash, data FROM chunks WHERE hash IN ({', '.join('?' * len(asked))})", asked)
        for hash, data in rows:
            try:
                content = unpacked(data)
            except (ZstdError, MemoryError, TypeError):
                content = b""
            is_it = digest(content).digest()[: len(hash)] == hash and len(hash) >= HASH_BYTES
            found[hash] = content if is_it else "is damaged"
    return found


def missing(db: Statements, hashes: Collection[bytes]) -> set[bytes]:
    """Those of which there is no row."""
    left = set(hashes)
    for asked in parts(list(hashes)):
        rows = db.execute(f"SELECT hash FROM chunks WHERE hash IN ({', '.join('?' * len(asked))})", asked)
        left.difference_update(row[0] for row in rows)
    return left


def insert(db: Statements, contents: Mapping[bytes, bytes]) -> None:
    """Rows for what has none. Raises Invalid for one that no database takes."""
    if not contents:
        return
    from zstandard import ZstdCompressor  # 9 ms

    packed = ZstdCompressor().compress
    todo, at = list(contents.items()), 0
    for size in _ROWS:
        while len(todo) - at >= size:
            values: list[bytes] = []
            for hash, content in todo[at : at + size]:
                if len(content) > LARGEST:
                    raise Invalid(
                        f"a single value of {len(content):,} bytes is more than a store takes ({LARGEST:,})",
                        hint="Keep it in a file, and a reference to it in the state.",
                    )
                values += (hash, packed(content))
            marks = ", ".join(["(?, ?)"] * size)
            db.execute(f"INSERT OR IGNORE INTO chunks (hash, data) VALUES {marks}", values)
            at += size
            point("native.chunks-inserted")
