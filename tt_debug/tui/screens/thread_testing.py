"""From the Thread screen to a test file: the step under the cursor, its node alone.

Owns asking and where the file goes; what stands in it is `tt_debug.session.node_tests`'.
"""

from __future__ import annotations

import shlex
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from tt_debug.files import write_new
from tt_debug.redaction import SHOWN
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.screens.thread_comparing import ThreadComparing

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.node_test_text import NodeTest


class TestMade(Message):
    """A test, and the checkpoint that its step ended at."""

    __test__ = False

    def __init__(self, ref: Ref, file: Path, test: NodeTest) -> None:
        super().__init__()
        self.ref = ref
        self.file = file
        self.test = test


class TestWritten(Message):
    """It is in its file; ``command`` writes the same."""

    __test__ = False

    def __init__(self, file: Path, command: str) -> None:
        super().__init__()
        self.file = file
        self.command = command


class ThreadTesting(ThreadComparing):
    """The palette's "Write a test…"."""

    def act_export_test(self) -> None:
        """Take the step out of the history; nothing is written before it is asked about."""
        if self.selected is not None:
            self.tt.loader.call(self, "test", partial(self._test_of, self.selected), lambda made: made)

    def _test_of(self, ref: Ref) -> TestMade:
        from tt_debug.session.node_tests import Wanted, node_test  # pydantic, 57 ms

        folder = Path.cwd()
        wanted = Wanted(ref, folder / "test.py", None, self.tt.opening.graph, self.tt.redaction, self.tt.revealed)
        test = node_test(self.session, wanted)
        return TestMade(ref, _free(folder, test.name), test)

    @on(TestMade)
    def _ask_about_test(self, event: TestMade) -> None:
        test, file = event.test, event.file
        lines = [f"file  {file.name}, in {file.parent}", f"runs  {test.target}, on the state that it was given here"]
        if test.hides_secrets:
            key = self.tt.key_of("secrets")
            lines.append(f"secrets  left out: {SHOWN} stands for each; {key} shows them, and the file has them then")
        dialog = ConfirmDialog(f"Test of {test.node}", tuple(lines), "Write", "Nothing is run by this.")
        self.app.push_screen(dialog, partial(self._write_test, event))

    def _write_test(self, event: TestMade, answer: str | None) -> None:
        if answer is None:
            return
        place, words = f"{event.ref.thread}@{event.ref.id}", ["tt-debug", "export", self.store.url]
        command = shlex.join([*words, place, "--pytest", event.file.name, *self._words_of_graph()])
        work = partial(write_new, event.file, event.test.text())
        self.tt.loader.write(self, "test", work, lambda _: TestWritten(event.file, command))

    def _words_of_graph(self) -> list[str]:
        graph = self.tt.opening.graph
        return [] if graph is None else ["--graph", graph.graph]

    @on(TestWritten)
    def _test_written(self, event: TestWritten) -> None:
        words = f"wrote {event.file.name}: python -m pytest {event.file.name} runs the node alone"
        self.tt.note_done(words, event.command, wrote=False)
        self.say(words)


def _free(folder: Path, name: str) -> Path:
    """A file that is not there yet."""
    names = (f"{name}.py" if number == 1 else f"{name}_{number}.py" for number in count(1))
    return next(folder / each for each in names if not (folder / each).exists())
