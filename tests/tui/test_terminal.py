"""The whole program on a terminal of its own: the bytes it writes hold nothing that a store's texts could act by."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Ref
from tests.builders import native_file
from tests.tui.conftest import PATIENCE
from tests.tui.fakes import HOSTILE

STORABLE = HOSTILE.replace("\ud800", "").replace("\x00", "")
COLOUR = re.compile(rb"\x1b\[[0-9;]*[34]8;")


class Terminal:
    """80 × 24 cells, and everything the program wrote on them."""

    def __init__(self, master: int, program: subprocess.Popen[bytes]) -> None:
        self.written = b""
        self.program = program
        self._found = 0
        self._master = master

    def type(self, keys: bytes) -> None:
        """As if somebody pressed them."""
        os.write(self._master, keys)

    def wait_for(self, text: bytes) -> None:
        """Until the program has written ``text`` behind what was waited for before."""
        while (at := self.written.find(text, self._found)) < 0:
            ready, _, _ = select.select([self._master], [], [], PATIENCE)
            assert ready, f"{text!r} did not come behind {self.written[-2000:]!r}"
            self.written += os.read(self._master, 65_536)
        self._found = at + len(text)

    def wait_for_end(self) -> int:
        """Read until the program ends; its exit code."""
        while True:
            try:
                more = os.read(self._master, 65_536)
            except OSError:  # the other side is closed
                more = b""
            if not more:
                return self.program.wait()
            self.written += more


@contextmanager
def running(folder: Path, path: Path, **environ: str) -> Iterator[Terminal]:
    """The program with ``path`` open."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    env = {**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TT_DEBUG_HOME": str(folder / "home"), **environ}
    command = [sys.executable, "-m", "tt_debug", str(path)]
    program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
    os.close(slave)
    try:
        yield Terminal(master, program)
    finally:
        program.kill()
        program.wait()
        os.close(master)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A thread whose every text attacks."""
    ref = Ref(STORABLE, "", "1f0a0000-0000-6000-8000-000000000001")
    state = {"messages": [{"role": "user", "content": STORABLE}], STORABLE: STORABLE}
    return native_file(tmp_path / "x.db", [NewCheckpoint(ref, None, state, "input")])


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}], ids=["colours", "none"])
def test_what_is_written_to_the_terminal(tmp_path: Path, store: Path, environ: dict[str, str]) -> None:
    with running(tmp_path, store, **environ) as terminal:
        terminal.wait_for(b"1 Threads")
        terminal.wait_for(b"checkpoint")
        terminal.type(b"\r")
        terminal.wait_for(b"1 Graph")
        terminal.type(b"4")
        terminal.wait_for(b"PWNED")
        terminal.type(b"qq")
        assert terminal.wait_for_end() == 0
    written = terminal.written
    assert b"PWNED" in written
    assert b"\x1b]0;PWNED" not in written
    assert b"\x1b[31mred" not in written
    for control in ("\x9b", "\x9d", "\x9c", "\u202e", "\u2066"):
        assert control.encode() not in written
    assert bool(COLOUR.search(written)) is (not environ), "NO_COLOR leaves no colour code"
