"""What a disk did, and what it may hold after the power went: all that was synced, of the rest what chance left.

Pure: deeds in, the files' bytes out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

SECTOR: Final = 512
"""Bytes that a disk writes whole or not at all; SQLite counts on no more."""

LOGS: Final = ("-wal", "-journal")


@dataclass(frozen=True, slots=True)
class Deed:
    """``kind``: write, truncate (``offset`` is the size), sync, delete (``durable``: its folder was synced) or mark.

    ``seen`` is how many bytes a file elsewhere had by then, which no power cut touches.
    """

    kind: str
    name: str
    offset: int = 0
    data: bytes = b""
    durable: bool = False
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run on a disk that refused some deeds: which, and how the run said that it ended."""

    number: int
    refused: tuple[str, ...]
    ended: str


@dataclass(slots=True)
class _File:
    safe: bytearray | None = None  # None: not there
    since: list[Deed] = field(default_factory=list)
    named: bool = False  # the folder that names it was synced since it was made

    def sync(self) -> None:
        self.safe = self.after(1.0, random.Random(0)) or bytearray()
        self.since = []

    def forget_old(self) -> None:
        """Its folder was synced: what was deleted is gone."""
        _, deleted, new = self._generations()
        if deleted:
            self.safe, self.since = None, new

    def after(self, kept: float, dice: random.Random) -> bytearray | None:
        """What is there when of what was done since the last sync each part is kept with that chance."""
        old, deleted, new = self._generations()
        if deleted and dice.random() < kept:
            return _done(None, new, kept, dice)
        return _done(self.safe, old, kept, dice)

    def _generations(self) -> tuple[list[Deed], bool, list[Deed]]:
        """What was done to the file as it was, whether that was deleted, what was done to one made in its place."""
        kinds = [deed.kind for deed in self.since]
        if "delete" not in kinds:
            return self.since, False, []
        last = len(kinds) - 1 - kinds[::-1].index("delete")
        return self.since[: kinds.index("delete")], True, self.since[last + 1 :]


def _done(data: bytearray | None, deeds: Sequence[Deed], kept: float, dice: random.Random) -> bytearray | None:
    data = None if data is None else bytearray(data)
    for deed in deeds:
        if deed.kind == "write":
            for start in range(0, len(deed.data), SECTOR):
                if dice.random() < kept:
                    data = _written(data, deed.offset + start, deed.data[start : start + SECTOR])
        elif dice.random() < kept:
            data = _written(data, 0, b"")[: deed.offset]
    return data


def image(deeds: Sequence[Deed], cut: int, dice: random.Random) -> dict[str, bytes]:
    """The files after a power cut before the deed number ``cut``.

    Of the writes that nobody waited for, each sector is there or is not, in any order; how many is up to the dice too.
    SQLite syncs the folder with the first sync of a log that it has made; every deletion before is certain by then.
    """
    files: dict[str, _File] = {}
    for deed in deeds[:cut]:
        if deed.kind == "mark":
            continue
        file = files.setdefault(deed.name, _File())
        if deed.kind == "sync":
            file.sync()
        else:
            file.since.append(deed)
            file.named = file.named and deed.kind != "delete"
        logged = deed.name.endswith(LOGS)
        if deed.durable or (deed.kind == "sync" and logged and not file.named):
            file.named = not deed.durable
            for other in files.values():
                other.forget_old()
    kept = dice.choice((0.0, 1.0, dice.random()))
    found = {name: file.after(kept, dice) for name, file in files.items()}
    return {name: bytes(data) for name, data in found.items() if data is not None}


def _written(data: bytearray | None, offset: int, part: bytes) -> bytearray:
    data = bytearray() if data is None else data
    data.extend(bytes(max(0, offset + len(part) - len(data))))
    data[offset : offset + len(part)] = part
    return data
