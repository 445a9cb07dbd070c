"""The interface in a real pseudo terminal: from a key to the end of the frame it caused, from a command to its rows.

Textual brackets each frame where the terminal says that it can hold one back (mode 2026), so its end can be seen.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tests.bench.harness import Amount

LINES: Final = 40
COLUMNS: Final = 140
WAY: Final = 10
PATIENCE: Final = 120.0
STILL: Final = 0.4
"""Seconds without a frame after which none is on its way."""
FRAME_END: Final = b"\x1b[?2026l"
DOWN, UP, PAGE_DOWN, PAGE_UP = b"\x1b[B", b"\x1b[A", b"\x1b[6~", b"\x1b[5~"
_ANSWERS: Final[Mapping[bytes, bytes]] = {b"\x1b[?2026$p": b"\x1b[?2026;2$y", b"\x1b[6n": b"\x1b[1;1R"}


class Terminal:
    """A program in a terminal of its own. What it draws is kept as the bytes it wrote."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="tt-debug-bench-")
        self._seen = b""
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", TT_DEBUG_HOME=self._home.name)
            # An installed program has its bytecode: what would keep it from being written is no part of a start.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            os.execv(argv[0], argv)
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))

    def wait_for(self, text: bytes, seconds: float = PATIENCE) -> None:
        """Read until ``text`` was drawn since the last wait. Raises TimeoutError."""
        end = time.perf_counter() + seconds
        while text not in self._seen:
            if not self._read(end - time.perf_counter()):
                raise TimeoutError(f"{text!r} was not drawn")
        self._seen = self._seen.partition(text)[2]

    def rest(self, seconds: float = 1.0) -> None:
        """Read until nothing was drawn for so long."""
        while self._read(seconds):
            pass
        self._seen = b""

    def press(self, key: bytes) -> float:
        """Seconds from a key to the end of the frame it caused."""
        self._seen = b""
        start = time.perf_counter()
        os.write(self._screen, key)
        self.wait_for(FRAME_END)
        return time.perf_counter() - start

    def last_frame(self, key: bytes, quiet: float) -> float:
        """Seconds from a key to the end of the last frame it caused: none came for ``quiet`` seconds after that."""
        self._seen = b""
        start = last = time.perf_counter()
        os.write(self._screen, key)
        while self._read(quiet):
            if FRAME_END in self._seen:
                last, self._seen = time.perf_counter(), self._seen.rpartition(FRAME_END)[2]
        return last - start

    def write(self, key: bytes) -> None:
        """Press a key and wait for nothing."""
        self._seen = b""
        os.write(self._screen, key)

    def close(self) -> None:
        """End the program."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._screen)
        self._home.cleanup()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], max(0.0, seconds))
        if not ready:
            return False
        fresh = os.read(self._screen, 1 << 16)
        for asked, answer in _ANSWERS.items():
            if asked in fresh:
                os.write(self._screen, answer)
        self._seen += fresh
        return True


def _app(*words: str) -> list[str]:
    return [sys.executable, "-m", "tests.bench.works.terminal_apps", *words]


def _tt_debug(path: str) -> list[str]:
    return [sys.executable, "-m", "tt_debug", path, "--read-only"]


def open_thread(path: str) -> Terminal:
    """The Thread screen of a file's first thread, all of it read."""
    terminal = Terminal(_tt_debug(path))
    terminal.wait_for(FRAME_END)
    terminal.rest()
    terminal.write(b"\r")
    terminal.wait_for(b"head")
    terminal.rest(3.0)
    return terminal


def keys_ours(path: str, page: bool) -> Callable[[], Amount]:
    """The Thread screen of a file's only thread, all of it read."""
    return _pressing(open_thread(path), page=page, upwards=True)


def keys_peer(widget: str, count: int, page: bool) -> Callable[[], Amount]:
    """A list of Textual's own."""
    terminal = Terminal(_app(widget, str(count)))
    terminal.wait_for(b"row 5")
    terminal.rest()
    return _pressing(terminal, page=page, upwards=False)


def _pressing(terminal: Terminal, *, page: bool, upwards: bool) -> Callable[[], Amount]:
    """The cursor moves away from where it stands and back, some way at a time; all but the slowest twentieth of the
    keys are as fast as what counts."""
    forth, back = (PAGE_UP, PAGE_DOWN) if page else (UP, DOWN)
    if not upwards:
        forth, back = back, forth

    def work() -> Amount:
        taken = [terminal.press(key) for _ in range(3) for key in (*[forth] * WAY, *[back] * WAY)]
        terminal.rest(0.3)
        return Amount(statistics.quantiles(taken, n=20)[-1])

    return work


def stepping(path: str) -> Callable[[], Amount]:
    """From the key for the checkpoint before or after to the end of the frame with all that the panels show of it."""
    terminal = open_thread(path)

    def work() -> Amount:
        taken = [terminal.last_frame(key, STILL) for key in (*[b","] * WAY, *[b"."] * WAY)]
        return Amount(statistics.quantiles(taken, n=20)[-1])

    return work


def opening(path: str) -> Callable[[], Amount]:
    """From Enter on a thread of the list to its first rows."""

    def work() -> Amount:
        terminal = Terminal(_tt_debug(path))
        try:
            terminal.wait_for(b"agent")
            terminal.rest()
            start = time.perf_counter()
            terminal.write(b"\r")
            terminal.wait_for(b"head")
            return Amount(time.perf_counter() - start)
        finally:
            terminal.close()

    return work


def first_paint(path: str) -> Callable[[], Amount]:
    """From the command to the first row of a store."""
    return _started(_tt_debug(path), b"agent")


def first_paint_floor() -> Callable[[], Amount]:
    """From the command to the text of the least app there is."""
    return _started(_app("least", "0"), b"row 0")


def _started(argv: Sequence[str], text: bytes) -> Callable[[], Amount]:
    def work() -> Amount:
        start = time.perf_counter()
        terminal = Terminal(argv)
        try:
            terminal.wait_for(text)
            return Amount(time.perf_counter() - start)
        finally:
            terminal.close()

    return work
