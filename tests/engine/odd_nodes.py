"""Nodes that end in odd ways."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tt_debug.engine.context import Context

State = dict[str, Any]


class Mute(Exception):
    """Cannot say what happened."""

    def __str__(self) -> str:
        raise ValueError("no text")


def mute(state: State) -> State:
    raise Mute


def half_a_pair(state: State, ctx: Context) -> State:
    ctx.log("said \ud800")
    raise ValueError("half \ud800 a pair\x1b[2J")


def endless(state: State) -> State:
    raise ValueError("e" * 1_000_000)


def closes(state: State) -> State:
    sys.stderr.close()
    raise ValueError("after closing stderr")


def falls(state: State) -> State:
    def down(n: int) -> int:
        return up(n + 1)

    def up(n: int) -> int:
        return down(n + 1)

    return {"n": down(0)}


def deep(state: State) -> State:
    value: list[Any] = []
    for _ in range(900):
        value = [value]
    return {"deep": value}


def circle(state: State) -> State:
    value: list[Any] = []
    value += [value, value]
    return {"circle": value}


def copies_itself(state: State) -> State:
    return {"copy": os.fork() == 0}


def copies_and_exits(state: State) -> State:
    copy = os.fork()
    if not copy:
        sys.exit(3)
    _, status = os.waitpid(copy, 0)
    return {"exit": os.waitstatus_to_exitcode(status)}


def leaves_a_thread(state: State) -> State:
    threading.Thread(target=threading.Event().wait, name="left behind").start()
    atexit.register(print, "bye")
    return {"left": True}


def leaves_a_pool(state: State) -> State:
    return {"n": ThreadPoolExecutor().submit(len, "left").result()}
