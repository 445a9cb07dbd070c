"""What the interface remembers from one time to the next: the theme, that the tour was taken, whether tips are shown.

Lies in a file of our own in the state folder, which is written when something is chosen, and by nothing else. What
cannot be read or kept counts for this time only: nobody has lost anything by it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from stores.places import state_folder


class Remembered(NamedTuple):
    """``theme`` is Textual's name of one, None for the usual; ``toured``: the tour was taken or ended."""

    theme: str | None = None
    toured: bool = False
    tips: bool = True


class Memory:
    """Remembers in a file, or with ``path`` None only as long as it lives."""

    def __init__(self, path: Path | None = None, now: Remembered | None = None) -> None:
        self._path = path
        self.now = now or Remembered()

    @classmethod
    def kept(cls) -> Memory:
        """With what was remembered the last time."""
        path = state_folder() / "interface.json"
        return cls(path, _read(path))

    def theme(self, name: str) -> None:
        """Remember a theme."""
        self._put(self.now._replace(theme=name))

    def toured(self) -> None:
        """Remember that the tour is not to be taken again unasked."""
        self._put(self.now._replace(toured=True))

    def tips(self, shown: bool) -> None:
        """Remember whether tips are shown."""
        self._put(self.now._replace(tips=shown))

    def _put(self, now: Remembered) -> None:
        if now == self.now:
            return
        self.now = now
        if self._path is None:
            return
        unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(now._asdict()), encoding="utf-8")
            unfinished.replace(self._path)
        except OSError:
            return  # a full or read-only disk: it counts for this time


def _read(path: Path) -> Remembered:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Remembered()
    if not isinstance(found, dict):
        return Remembered()
    theme = found.get("theme")
    return Remembered(
        theme if isinstance(theme, str) else None, found.get("toured") is True, found.get("tips") is not False
    )
