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
from tests.bench.works.terminal import open_thread

_FIRST: Final = 10
_COMMITS: Final = 25
_IDLE: Final = 5.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Written:
    """A copy of a file that is written to."""

    def __init__(self, path: str, thread: str) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tt-debug-bench-")
        atexit.register(folder.cleanup)
        self.copy = Path(folder.name) / "followed.db"
        shutil.copyfile(path, self.copy)
        self._db = sqlite3.connect(self.copy, isolation_level=None)
        self._thread = thread
        self.made = 0

    def commit(self) -> tuple[str, float]:
        """The id of a new checkpoint, and when the transaction with it ended."""
        newest = (
            "SELECT checkpoint_id, checkpoint, metadata FROM checkpoints WHERE thread_id = ? ORDER BY 1 DESC LIMIT 1"
        )
        parent, content, metadata = self._db.execute(newest, (self._thread,)).fetchone()
        self.made += 1
        made = data.checkpoint_id(10_000_000 + self.made, self.made)
        row = (self._thread, made, parent, content, metadata)
        self._db.execute("INSERT INTO checkpoints VALUES (?, '', ?, ?, 'msgpack', ?, ?)", row)
        return made, time.perf_counter()


class Followed(Written):
    """`tt-debug tail` on it."""

    def __init__(self, path: str, thread: str) -> None:
        super().__init__(path, thread)
        argv = [sys.executable, "-m", "tt_debug", "tail", str(self.copy), thread, "--json"]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        for _ in range(_FIRST):
            self._line()

    def told(self) -> float:
        """Seconds from a commit to the line that tells of it."""
        made, start = self.commit()
        if made not in self._line():
            raise RuntimeError(f"another line than that of {made}")
        return time.perf_counter() - start

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


class Shown(Written):
    """The Thread screen on it, following."""

    def __init__(self, path: str, thread: str) -> None:
        super().__init__(path, thread)
        self.terminal = open_thread(str(self.copy))
        atexit.register(self.terminal.close)
        self.terminal.write(b"F")
        self.terminal.wait_for(b"followed, 0 new")
        self.terminal.rest()

    def told(self) -> float:
        """Seconds from a commit to the frame with its row, which is counted in the title."""
        _, start = self.commit()
        self.terminal.wait_for(f"followed, {self.made:,} new".encode())
        return time.perf_counter() - start


def told(path: str, thread: str) -> Callable[[], Amount]:
    """From a commit to its line."""
    return _slowest(Followed(path, thread).told, 0.05)


def shown(path: str, thread: str) -> Callable[[], Amount]:
    """From a commit to its row."""
    return _slowest(Shown(path, thread).told, 1.0)


def _slowest(told: Callable[[], float], pause: float) -> Callable[[], Amount]:
    """All but the slowest twentieth are as fast. At odd moments, so that none falls together with a look."""

    def work() -> Amount:
        taken = []
        for number in range(_COMMITS):
            time.sleep(pause + number * 0.0013)
            taken.append(told())
        return Amount(statistics.quantiles(taken, n=20)[-1])

    return work


def idle(path: str, thread: str) -> Callable[[], Amount]:
    """Of `tt-debug tail`, in per cent of one processor."""
    return _idling(Followed(path, thread).process.pid)


def shown_idle(path: str, thread: str) -> Callable[[], Amount]:
    """Of the Thread screen."""
    return _idling(Shown(path, thread).terminal.pid)


def _idling(pid: int) -> Callable[[], Amount]:
    def work() -> Amount:
        before = _processor(pid)
        time.sleep(_IDLE)
        return Amount(100 * (_processor(pid) - before) / _IDLE, "%")

    return work


def _processor(pid: int) -> float:
    """Seconds of processor that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
