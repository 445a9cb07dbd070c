"""Another process that holds the lock of a run's owner."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLDER = """
import sys, os
from pathlib import Path
from stores.locks import RunLock
lock = RunLock(Path(sys.argv[1]))
acquired = lock.acquire()
if len(sys.argv) > 2:
    if os.fork() == 0:
        print(acquired, flush=True)
        sys.stdin.readline()  # a child of the user's code that outlives its parent
        os._exit(0)
else:
    print(acquired, flush=True)
sys.stdin.readline()
lock.release()
"""


@contextmanager
def holder(path: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until the block ends; with "fork" a copy of it lives on after it."""
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path), *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == "True\n"
    try:
        yield child
    finally:
        child.stdin.close()
        child.wait()
        child.stdout.close()
