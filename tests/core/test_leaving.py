"""Ctrl-C ends a process that only looks, whatever its main thread waits for."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tt_debug.leaving import INTERRUPTED, promptly

# As psycopg does until its server has answered.
DEAF = """
import signal, threading
from tt_debug import leaving
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs tests in the background may ignore it
leaving.GRACE = 0
with leaving.promptly():
    print("asking", flush=True)
    while True:
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
"""
PROMPT = """
import signal
from tt_debug import leaving
signal.signal(signal.SIGINT, signal.default_int_handler)
leaving.GRACE = 600
try:
    with leaving.promptly():
        print("asking", flush=True)
        input()
except KeyboardInterrupt:
    print("put in order")
"""


@pytest.fixture
def started(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", request.param]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        process.send_signal(signal.SIGINT)
        yield process
        process.kill()


@pytest.mark.parametrize("started", [DEAF], indirect=True, ids=["deaf"])
def test_what_never_answers_does_not_hold_up_ctrl_c(started: subprocess.Popen[str]) -> None:
    # The timeout is for a process that would wait for ever.
    assert started.wait(120) == INTERRUPTED


@pytest.mark.parametrize("started", [PROMPT], indirect=True, ids=["prompt"])
def test_who_hears_of_it_goes_the_usual_way(started: subprocess.Popen[str]) -> None:
    assert started.stdout is not None
    assert started.stdout.read() == "put in order\n"
    assert started.wait(120) == 0


def test_afterwards_nobody_watches() -> None:
    with promptly():
        watching = [thread for thread in threading.enumerate() if thread.name == "tt-leave"]
    assert len(watching) == 1
    watching[0].join()
    assert signal.set_wakeup_fd(-1) == -1
