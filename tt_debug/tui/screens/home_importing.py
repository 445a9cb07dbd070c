"""Taking the threads of an export into a store of ours, from Home.

Owns what is asked and said; reading the file and writing the threads is the session's.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from tt_debug.text import counted
from tt_debug.tui.messages import Failed
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.screens.base import BaseScreen

if TYPE_CHECKING:
    from tt_debug.session.importing import Imported
    from tt_debug.tui.action import Action


class ImportDone(Message):
    """What was taken in, and the command that does the same."""

    def __init__(self, command: str, imported: Imported) -> None:
        super().__init__()
        self.command = command
        self.imported = imported


def take_in(url: str, file: Path) -> Imported:
    """Every thread of the file, or nothing."""
    from tt_debug.session.importing import import_into  # 20 ms that Home's first paint need not wait for

    return import_into(url, file)


class ImportingThreads(BaseScreen):
    """The part of Home that imports. `stores_written` says into which store."""

    def store_in_view(self) -> OpenStore | None:
        """The store of the row under the cursor, or the only one."""
        raise NotImplementedError

    def stores_written(self) -> Sequence[OpenStore]:
        """The store in view."""
        store = self.store_in_view()
        return () if store is None else (store,)

    def refusal(self, action: Action) -> str | None:
        """Only a store of ours takes threads in."""
        reason = super().refusal(action)
        if reason is None and action.id == "import":
            store = self.store_in_view()
            if store is None or store.session.info.kind != "native":
                name = "it" if store is None else f"{store.label} ({store.session.info.kind})"
                return f"{name} takes no threads in: only stores of tt-debug's own do"
        return reason

    def act_import(self) -> None:
        """Ask for the file."""
        from tt_debug.tui.dialogs.file import FileDialog

        store = self.store_in_view()
        if store is None:
            return
        lines = (
            f"Every thread of it goes into {store.label}, or nothing.",
            "tt-debug export STORE THREAD --reveal writes such a file. Nothing is run.",
        )
        self.app.push_screen(FileDialog("Import threads", lines, "Import"), partial(self._take_in, store))

    def _take_in(self, store: OpenStore, file: Path | None) -> None:
        if file is None:
            return
        command = shlex.join(["tt-debug", "import", store.url, str(file)])
        work = partial(take_in, store.address, file)
        self.tt.loader.write(self, "import", work, partial(ImportDone, command))

    @on(ImportDone)
    def _taken_in(self, event: ImportDone) -> None:
        threads = event.imported.threads
        words = f"imported {counted(len(threads), 'thread')}, {counted(sum(threads.values()), 'checkpoint')}"
        self.tt.note_done(words, event.command)
        if event.imported.notes:
            from tt_debug.tui.dialogs.notice import NoticeDialog

            self.app.push_screen(NoticeDialog(words.capitalize(), event.imported.notes))
        else:
            self.say(words)

    def show_failure(self, event: Failed) -> None:
        """Why nothing was taken in."""
        if event.kind == "import":
            from tt_debug.tui.dialogs.notice import NoticeDialog

            lines = [line for line in (event.text, event.hint) if line]
            self.app.push_screen(NoticeDialog("Nothing was imported", lines))
            return
        super().show_failure(event)
