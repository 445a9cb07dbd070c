"""What a test leaves running is ended, and nothing else is."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack

from tests import left_behind

WAITS = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_only_what_the_test_started_is_killed() -> None:
    with ExitStack() as ends:
        started = []
        for test in ("this test", "another test"):
            with left_behind.marked(test):
                started.append(ends.enter_context(left_behind.running(WAITS, stdin=subprocess.PIPE)))
        left_behind.end("this test")
        assert started[0].wait() == -signal.SIGKILL
        assert started[1].poll() is None
