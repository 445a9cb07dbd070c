"""Nodes with effects, and the world that they change: what was asked of it, under which key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tt_debug.engine.context import Context

State = dict[str, Any]

asked: list[tuple[str, str, Any]] = []
"""(name, key, request) of every call that the world got."""

troubles: dict[str, list[BaseException | None]] = {}
"""What the next calls of a name raise, after the world got them."""


def reset() -> None:
    asked.clear()
    troubles.clear()


def world(name: str, request: Any) -> Callable[[str], Any]:
    def call(key: str) -> Any:
        asked.append((name, key, request))
        trouble = troubles[name].pop(0) if troubles.get(name) else None
        if trouble is not None:
            raise trouble
        return {"no": len(asked), "to": request}

    return call


def names() -> list[str]:
    return [name for name, _, _ in asked]


def probed(key: str) -> Any:
    asked.append(("probe", key, None))
    return next(({"found": name} for name, known, _ in asked if known == key and name != "probe"), None)


def sends(state: State, ctx: Context) -> State:
    kind = state.get("cls", "idempotent")
    probe = probed if kind == "probe" else None
    sent = ctx.effect("send", world("send", state["to"]), state["to"], cls=kind, probe=probe)
    return {"sent": sent}


def charges_twice(state: State, ctx: Context) -> State:
    for amount in (1, 2):
        ctx.effect("charge", world("charge", amount), amount, cls="idempotent")
    return {"rounds": state.get("rounds", 0) + 1}


def swallows(state: State, ctx: Context) -> State:
    try:
        return sends(state, ctx)
    except Exception:  # noqa: BLE001  as users write it
        return {"sent": "swallowed"}


def dice(state: State, ctx: Context) -> State:
    values = [ctx.now().isoformat(), ctx.uuid(), ctx.random(), ctx.random()]
    if ctx.attempt == 1:
        ctx.effect("fail", world("fail", None), cls="repeatable")
    return {"dice": values}


async def asynchronous(state: State, ctx: Context) -> State:
    async def call(key: str) -> Any:
        await asyncio.sleep(0)
        return world("send", state["to"])(key)

    return {"sent": await ctx.aeffect("send", call, state["to"], cls="idempotent")}


def odd(state: State, ctx: Context) -> State:
    ctx.effect("odd", lambda: object(), cls=state.get("cls", "at_most_once"))
    return {}


def wrong(state: State, ctx: Context) -> State:
    ctx.effect("wrong", lambda: 1, **state["with"])
    return {}


def buys(state: State, ctx: Context) -> State:
    ctx.tx("CREATE TABLE IF NOT EXISTS orders (item TEXT PRIMARY KEY)")
    ctx.tx("INSERT INTO orders VALUES (?)", [state["item"]])
    if troubles.get("buys"):
        trouble = troubles["buys"].pop(0)
        assert trouble is not None
        raise trouble
    return {"bought": state["item"]}


def meddles(state: State, ctx: Context) -> State:
    ctx.tx(state["sql"])
    return {}


def three_parts(state: State, ctx: Context) -> State:
    def part(name: str) -> Callable[[], Any]:
        return lambda: ctx.effect("ask", world(name, state.get("q")), [name, state.get("q")], cls="repeatable")

    return {"parts": [ctx.substep(name, part(name)) for name in ("retrieve", "generate", "validate")]}


def same_part_twice(state: State, ctx: Context) -> State:
    ctx.substep("one", lambda: 1)
    ctx.substep("one", lambda: 2)
    return {}


def model(prompt: str, state: State, ctx: Context) -> str:
    world("model", prompt)("")
    return f"heard {prompt}"


def slow(state: State, ctx: Context) -> State:
    world("slow", state["q"])("")
    return {"old": ctx.DELETE, "made": [state["q"]]}


def slow_and_reads(state: State, ctx: Context) -> State:
    return {"read": ctx.effect("read", world("read", state["q"]), state["q"], cls="repeatable")}


def slow_and_deeds(state: State, ctx: Context) -> State:
    return {"sent": ctx.effect("send", world("send", state["q"]), state["q"], cls="idempotent")}


def slow_and_dated(state: State, ctx: Context) -> State:
    world("slow", state["q"])("")
    return {"at": ctx.now().isoformat()}
