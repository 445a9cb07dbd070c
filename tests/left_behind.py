"""Processes that a test leaves behind, known by a mark in the environment that all it starts inherit.

One that nobody ends runs for ever, at the cost of every test after it. Knows those of Linux alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

_MARK: Final = "TT_DEBUG_TESTS_PROCESS"


@contextmanager
def marked(test: str) -> Iterator[None]:
    """What is started in the block belongs to the test."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(_MARK, _mark(test))
        yield


@contextmanager
def lasting() -> Iterator[None]:
    """What is started in the block outlives the test."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(_MARK, raising=False)
        yield


@contextmanager
def running(argv: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone after the block, and where the block fails too: `subprocess.Popen` would wait for it."""
    with subprocess.Popen(argv, text=True, **how) as child:
        try:
            yield child
        finally:
            child.kill()


def end(test: str = "") -> None:
    """Kill what a test of this process started, or any of its tests."""
    ours = f"{_MARK}={_mark(test)}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(each.startswith(ours) for each in (process / "environ").read_bytes().split(b"\0")):
                os.kill(int(process.name), signal.SIGKILL)


def _mark(test: str) -> str:
    return f"{os.getpid()} {test}"
