"""A thread that is followed while this process writes to it."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.bench import data
from tests.bench.harness import Amount

_FIRST: Final = 10
_COMMITS: Final = 40
_IDLE: Final = 5.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Followed:
    """A copy of a file, and `tt-debug tail` on it."""

    def __init__(self, path: str, thread: str) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tt-debug-bench-")
        atexit.register(folder.cleanup)
        copy = Path(folder.name) / "followed.db"
        shutil.copyfile(path, copy)
        self._db = sqlite3.connect(copy, isolation_level=None)
        self._thread = thread
        self._made = 0
        argv = [sys.executable, "-m", "tt_debug", "tail", str(copy), thread, "--json"]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        for _ in range(_FIRST):
            self._line()

    def commit(self) -> float:
        """Seconds from the end of a transaction with a new checkpoint to the line that tells of it."""
        newest = (
            "SELECT checkpoint_id, checkpoint, metadata FROM checkpoints WHERE thread_id = ? ORDER BY 1 DESC LIMIT 1"
        )
        parent, content, metadata = self._db.execute(newest, (self._thread,)).fetchone()
        self._made += 1
        made = data.checkpoint_id(10_000_000 + self._made, self._made)
        row = (self._thread, made, parent, content, metadata)
        self._db.execute("INSERT INTO checkpoints VALUES (?, '', ?, ?, 'msgpack', ?, ?)", row)
        start = time.perf_counter()
        if made not in self._line():
            raise RuntimeError(f"another line than that of {made}")
        return time.perf_counter() - start

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def told(path: str, thread: str) -> Callable[[], Amount]:
    """Commits at odd moments, so that none falls together with a look."""
    followed = Followed(path, thread)

    def work() -> Amount:
        taken = []
        for number in range(_COMMITS):
            time.sleep(0.05 + number * 0.0013)
            taken.append(followed.commit())
        return Amount(statistics.quantiles(taken, n=20)[-1])

    return work


def idle(path: str, thread: str) -> Callable[[], Amount]:
    """Per cent of one processor."""
    followed = Followed(path, thread)

    def work() -> Amount:
        before = _processor(followed.process.pid)
        time.sleep(_IDLE)
        return Amount(100 * (_processor(followed.process.pid) - before) / _IDLE, "%")

    return work


def _processor(pid: int) -> float:
    """Seconds of processor that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
