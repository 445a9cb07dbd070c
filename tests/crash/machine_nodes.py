"""The nodes of the random machine's workflow. ``CALLS`` is the world outside: a file, so that every process sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CALLS = [Path("calls")]


def act(state: dict[str, Any], ctx: Any) -> dict[str, Any]:
    def send(key: str) -> str:
        with CALLS[0].open("a") as file:
            file.write(f"{key}\n")
        return "sent"

    trail = state.get("trail", [])
    return {"trail": [*trail, "A"], "sent": ctx.effect("send", send, {"at": len(trail)}, cls="idempotent")}


def walk(state: dict[str, Any], ctx: Any) -> dict[str, Any]:
    return {"trail": [*state["trail"], "B"]}


def end(state: dict[str, Any], ctx: Any) -> dict[str, Any]:
    if state.get("bad"):
        raise ValueError("a bad state")
    return {"done": True}
