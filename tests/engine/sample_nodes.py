"""Functions that the executor's tests run as nodes."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections import OrderedDict, defaultdict
from typing import Any

from tt_debug.engine.context import Context
from tt_debug.engine.retry import FatalError, RetryableError

State = dict[str, Any]


def count(state: State) -> State:
    return {"n": state.get("n", 0) + 1}


def trail(state: State, ctx: Context) -> State:
    return {"trail": [*state.get("trail", []), f"{ctx.node}{ctx.visit}"]}


def nothing(state: State) -> None:
    return None


def mutates(state: State) -> State:
    state["n"] = 99
    state["inner"]["x"] = 99
    return {"seen": True}


def forgets(state: State, ctx: Context) -> State:
    return {"city": ctx.DELETE, "kept": 1}


def talks(state: State, ctx: Context) -> State:
    ctx.log("one")
    ctx.log(2)
    assert ctx.now().tzinfo is not None
    assert 0 <= ctx.random() < 1
    return {"id": ctx.uuid()}


def flaky(state: State, ctx: Context) -> State:
    if ctx.attempt < state["works_at"]:
        raise TimeoutError(f"attempt {ctx.attempt}")
    return {"attempt": ctx.attempt}


def fatal(state: State) -> State:
    raise FatalError("no such account")


def retryable(state: State) -> State:
    raise RetryableError("busy", retry_after=7)


def fixable(state: State) -> State:
    if not state.get("fixed"):
        raise ValueError("not fixed")
    return {"done": True}


def exits(state: State) -> State:
    sys.exit(3)


def interrupts(state: State) -> State:
    raise KeyboardInterrupt


def connection(state: State) -> State:
    return {"plan": {"db": [sqlite3.connect(":memory:")]}}


def huge(state: State) -> State:
    return {"numbers": [1, 2**70]}


def nan(state: State) -> State:
    return {"score": float("nan")}


def a_list(state: State) -> list[int]:
    return [1]


def shapes(state: State) -> State:
    found: defaultdict[str, int] = defaultdict(int)
    found["a"] += 1
    return {"pair": (1, 2), "found": found, "ordered": OrderedDict(b=1)}


def wrong_type(state: State) -> State:
    return {"n": "many"}


def slow(state: State) -> State:
    time.sleep(30)
    return {}


async def waits(state: State) -> State:
    return {"async": True}


def model(prompt: str, state: State, ctx: Context) -> str:
    return f"{ctx.node} heard {prompt!r}"


not_callable = 12
