"""Another process that has a database open, told what to do line by line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stores.sqlite import Reader

COUNT = "SELECT count(*) FROM history"
INSERT = "INSERT INTO history (run, id, payload) VALUES ('new', 'x', '{}')"

# Runs SQL statements from stdin, one a line, on one connection, and answers each with what it gave.
PEER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
for line in sys.stdin:
    try:
        print(db.execute(line).fetchall(), flush=True)
    except sqlite3.Error as error:
        print(error, flush=True)
"""


class Peer:
    """Another process with the file open."""

    def __init__(self, path: Path) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", PEER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, sql: str) -> str:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(sql + "\n")
        self._child.stdin.flush()
        return self._child.stdout.readline().strip()

    def end(self) -> None:
        """Close the database properly."""
        self._child.communicate()

    def kill(self) -> None:
        """Leave everything as it lies."""
        self._child.kill()
        self._child.communicate()


@contextmanager
def peer(path: Path) -> Iterator[Peer]:
    other = Peer(path)
    try:
        yield other
    finally:
        other.kill()


def count(reader: Reader) -> int:
    return int(reader.read(lambda db: db.execute(COUNT).fetchone())[0])
