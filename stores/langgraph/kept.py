"""The addresses of long threads of a file, kept from one opening to the next in our own cache folder.

Owns when they can be believed: only of a file that nobody has written to since, by what lies on the disk and the rows
that were stored last. Nothing of names or states is kept. What cannot be read, or written, is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stores.langgraph.skeleton import Column, Skeleton
from stores.places import cache_folder

if TYPE_CHECKING:
    from stores.langgraph.sqlite_tables import SqliteTables

SHORTEST: Final = 5_000
"""Shorter threads are read as fast as what is kept of them."""
LONGEST: Final = 1_000_000
MOST: Final = 16
"""Threads that are kept, those that were kept last: 41 bytes a checkpoint."""
QUIET_NS: Final = 2 * 10**9
"""How long a file must have been left alone: two writes at once may give it the same time of change."""
_FORM: Final = f"tt-debug addresses 1 {sys.byteorder}".encode()


def skeleton(path: Path, opened: tuple[int, int] | None, tables: SqliteTables, thread: str) -> Skeleton:
    """As `SqliteTables.skeleton`, from what was kept where that still holds. ``opened`` are device and inode of the
    file that ``tables`` are of: another one may stand at the path by now."""
    kept = cache_folder() / "addresses" / _name(path, thread)
    files = _files(path)
    if files[0] is None or (files[0].st_dev, files[0].st_ino) != opened:
        return tables.skeleton(thread)
    seen = _seen(files, tables, thread)
    column = _recalled(kept, seen)
    if column is not None:
        return Skeleton([column])
    quiet = _are_quiet(files)  # before it is read: what is read may have been begun before the last write
    read = tables.skeleton(thread)
    if quiet and _is_long(read) and _seen(_files(path), tables, thread) == seen:
        with contextlib.suppress(OSError):
            _keep(kept, seen, read.columns[""])
    return read


def _is_long(read: Skeleton) -> bool:
    """Whether it is worth its place: a thread with subgraphs is not, as their headers are read at once."""
    return len(read.columns) == 1 and "" in read.columns and SHORTEST <= len(read) <= LONGEST


def _name(path: Path, thread: str) -> str:
    name = os.fsencode(path.resolve()) + b"\0" + thread.encode("utf-8", "surrogatepass")
    return hashlib.sha256(name).hexdigest()[:32]


def _files(path: Path) -> list[os.stat_result | None]:
    place = path.resolve()
    return [_stat(f"{place}{suffix}") for suffix in ("", "-wal", "-journal")]


def _stat(path: str) -> os.stat_result | None:
    """None where there is nothing; whoever looks at a file may leave an empty log beside it."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found if found.st_size else None


def _seen(files: Sequence[os.stat_result | None], tables: SqliteTables, thread: str) -> bytes:
    """What tells whether a file was written to: the first line of what is kept."""
    stamps = [one and [one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns] for one in files]
    return b"%s %s\n" % (_FORM, json.dumps([*stamps, tables.progress(), tables.head(thread, "")]).encode())


def _are_quiet(files: Sequence[os.stat_result | None]) -> bool:
    now = time.time_ns()
    return all(one is None or now - max(one.st_mtime_ns, one.st_ctime_ns) >= QUIET_NS for one in files)


def _keep(kept: Path, seen: bytes, column: Column) -> None:
    """Written beside its place and moved there whole."""
    from tempfile import mkstemp  # 3 ms, and most threads are short

    ids = "\n".join(column.ids)
    if not ids.isascii() or ids.count("\n") + 1 != len(column.ids):
        return
    facts = json.dumps([len(column.ids), column.sorts, list(column.missing.items())])
    content = b"\n".join((facts.encode(), column.parents.tobytes() + ids.encode()))
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, unfinished = mkstemp(dir=kept.parent)
    try:
        with open(handle, "wb") as file:
            file.writelines((seen, b"%08x\n" % zlib.crc32(content), content))
        os.replace(unfinished, kept)
    finally:
        Path(unfinished).unlink(missing_ok=True)
    for old in sorted(kept.parent.iterdir(), key=lambda one: one.stat().st_mtime_ns)[:-MOST]:
        old.unlink(missing_ok=True)


def _recalled(kept: Path, seen: bytes) -> Column | None:
    """None where nothing is kept, or of another file than is seen now, or damaged."""
    try:
        with kept.open("rb") as file:
            if file.readline() != seen:
                return None
            check, content = file.readline(), file.read()
    except OSError:
        return None
    if check != b"%08x\n" % zlib.crc32(content):
        return None
    facts, _, columns = content.partition(b"\n")
    count, sorts, missing = json.loads(facts)
    parents = array("i")
    size = count * parents.itemsize
    parents.frombytes(columns[:size])
    return Column("", columns[size:].decode().split("\n"), parents, dict(map(tuple, missing)), sorts)
