"""The part of the application that notices when another file stands where an open store's was.

Owns when that is looked for; screens say so in their title until the user reads again. A server's store has no file.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from textual import events, on
from textual.message import Message

from stores.model import StoreInfo
from tt_debug.tui.messages import Failed, ThreadsRead
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.outages import Outages

if TYPE_CHECKING:
    from tt_debug.session.session import Session

Mark: TypeAlias = tuple[int, int] | None
"""Which file it is: device and inode; None where there is none."""

REPLACED: Final = "FILE REPLACED"
_LOOKING: Final = "file of store "


def mark_of(info: StoreInfo) -> Mark:
    """The file that stands under the store's name now."""
    if info.path is None:
        return None
    try:
        found = Path(info.path).stat()
    except (OSError, ValueError):
        return None  # gone, or no name that a file could have: what is out of reach is told elsewhere
    return found.st_dev, found.st_ino


class Looked(Message, bubble=False):
    """Which file stands under the name of store number ``store``."""

    def __init__(self, store: int, mark: Mark) -> None:
        super().__init__()
        self.store = store
        self.mark = mark


class Replacements(Outages):
    """The open stores whose file is another one than when it was read last, by their number."""

    def __init__(self, stores: tuple[OpenStore, ...], *, ansi_color: bool | None = None) -> None:
        super().__init__(stores, ansi_color=ansi_color)
        self._marks: dict[int, Mark] = {}
        self._replaced: set[int] = set()

    def replaced_of(self, stores: Collection[OpenStore]) -> list[OpenStore]:
        """Those of the given stores whose file was replaced since."""
        return [self.stores[number] for number in sorted(self._replaced) if self.stores[number] in stores]

    def take_as_they_are(self, stores: Sequence[OpenStore]) -> None:
        """The user reads these stores again: the files that are there now are theirs."""
        for number, store in enumerate(self.stores):
            if store in stores:
                self._marks.pop(number, None)
                self._replaced.discard(number)
        self.look_at_files()
        self._tell()

    def look_at_files(self) -> None:
        """Look which files stand under the stores' names."""
        for number, store in enumerate(self.stores):
            work = partial(_look, store.session)
            self.loader.call(self, f"{_LOOKING}{number}", work, partial(Looked, number), patient=False)

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        if event.mark is None:
            return
        if self._marks.setdefault(event.store, event.mark) != event.mark and event.store not in self._replaced:
            self._replaced.add(event.store)
            self._tell()

    @on(ThreadsRead)
    @on(events.AppFocus)
    def _look_now(self) -> None:
        """What was just read may be another file's; a user who comes back may have put it there."""
        self.look_at_files()

    def on_failed(self, event: Failed) -> None:
        """A checkpoint that is not there any more may have been in the other file."""
        if not event.kind.startswith(_LOOKING):
            self.look_at_files()


def _look(session: Session) -> Mark:
    return mark_of(session.info)
