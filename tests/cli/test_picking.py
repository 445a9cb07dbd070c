"""pick: the screen is drawn on the terminal, the REF goes where stdout goes."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Ref
from tests.builders import native_file
from tests.cli.conftest import Run
from tests.cli.fakes import Asked


def test_the_ref_is_all_that_is_printed(run: Run, asked: Asked) -> None:
    asked.says, asked.picks = True, "01"
    ran = run("pick", "trip.db", "t")
    assert (ran.code, ran.out) == (0, "t@01\n")
    assert asked.screens[0].read_only
    asked.picks = None
    ran = run("pick", "trip.db")
    assert (ran.code, ran.out) == (130, "")


def test_without_a_terminal(run: Run, asked: Asked) -> None:
    ran = run("pick", "trip.db")
    assert (ran.code, ran.out) == (2, "")
    assert "tt-debug log trip.db" in ran.err
    assert asked.screens == []


def on_terminal(path: Path, steps: list[tuple[str, bytes]]) -> tuple[int, str]:
    """Run it with a terminal of 100 × 30 as stdin and stderr and a pipe as stdout; type each key when its text is
    seen. Answers the exit code and what came through the pipe."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "TT_DEBUG_HOME": str(path.parent)}
    for name in ("COLUMNS", "LINES"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "tt_debug", "pick", str(path), "t"]
    child = subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    seen = b""
    try:
        for text, key in steps:
            while text.encode() not in seen:
                seen += os.read(ours, 65536)
            os.write(ours, key)
        while child.poll() is None:
            if select.select([ours], [], [], 0.05)[0]:
                try:
                    os.read(ours, 65536)
                except OSError:
                    break  # the other end is closed
        assert child.stdout is not None
        return child.wait(), child.stdout.read().decode()
    finally:
        if child.poll() is None:
            child.kill()
        if child.stdout is not None:
            child.stdout.close()
        os.close(ours)


@pytest.mark.parametrize(("key", "code", "out"), [(b"\r", 0, "t@01\n"), (b"\x11", 130, "")])
def test_on_a_terminal(tmp_path: Path, key: bytes, code: int, out: str) -> None:
    first = NewCheckpoint(Ref("t", "", "00"), None, {"n": 0}, "input", nodes=("begin",))
    second = NewCheckpoint(Ref("t", "", "01"), Ref("t", "", "00"), {"n": 1}, "step", nodes=("finish",))
    path = native_file(tmp_path / "p.db", [first, second])
    assert on_terminal(path, [("begin", key)]) == (code, out)
