"""The Thread screen: a thread's history as a graph, its states, and everything that can be done with them.

Owns nothing of its own: it is its parts together, under the name the application opens.
"""

from __future__ import annotations

from tt_debug.tui.actions import bindings
from tt_debug.tui.screens.thread_testing import ThreadTesting


class ThreadScreen(ThreadTesting):
    """Graph left or above, panels right or below, timeline, keys."""

    WHERE = "thread"
    BINDINGS = bindings("thread")
