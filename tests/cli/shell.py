"""Command lines in processes of their own, as a script would run them."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "tt_debug"]


class Shell:
    """Command lines in processes of their own, without a terminal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {**os.environ, "TT_DEBUG_HOME": str(folder / "home")}

    def __call__(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run one; its exit code must be ``code``."""
        done = subprocess.run(
            [*COMMAND, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, done.stderr
        return done

    def data(self, *words: str | Path, code: int = 0) -> Any:
        """What its one JSON document holds."""
        return json.loads(self(*words, "--json", code=code).stdout)["data"]

    def events(self, *words: str | Path, code: int = 0) -> list[dict[str, Any]]:
        """Its JSON lines."""
        return [json.loads(line) for line in self(*words, "--json", code=code).stdout.splitlines()]

    def start(self, *words: str | Path, terminal: int | None = None) -> subprocess.Popen[str]:
        """One that is left running; ``terminal`` is its stdin and stderr, and sends it Ctrl-C."""
        return subprocess.Popen(
            [*COMMAND, *map(str, words)],
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if terminal is None else terminal,
            start_new_session=True,
            preexec_fn=None if terminal is None else _own_the_terminal,
            text=True,
            cwd=self._folder,
            env=self._environment,
        )


def _own_the_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
