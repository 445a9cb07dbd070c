"""Runs whose effects reach a world outside, in processes that are really killed: forked from a warm one, so that
hundreds of them take a minute.

Owns the workflow, the world and the invariants that hold after every kill; the tests choose where to kill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stores.effects import EffectClass
from stores.runs import RunStatus
from tests.crash.forks import forgetting
from tests.crash.scenes import Scene

NODES = """
import os
from pathlib import Path

WORLD = Path(__file__).parent / "world.txt"

def world(name):
    def call(key):
        with open(WORLD, "a") as file:
            file.write(f"{name} {key}\\n")
            file.flush()
            os.fsync(file.fileno())
        return {"did": name}
    return call

def known(key):
    lines = WORLD.read_text().splitlines() if WORLD.exists() else []
    return {"did": "act"} if f"act {key}" in lines else None

def act(state, ctx):
    kind = state["cls"]
    if kind == "transactional":
        ctx.tx("CREATE TABLE IF NOT EXISTS orders (n INTEGER)")
        ctx.tx("INSERT INTO orders VALUES (?)", [7])
        return {"acted": "by tx"}
    probe = {"probe": known} if kind == "probe" else {}
    return {"acted": ctx.effect("act", world("act"), {"n": 7}, cls=kind, **probe), "id": len(ctx.uuid())}

def parts(state, ctx):
    kind = "at_most_once" if state["cls"] == "at_most_once" else "idempotent"
    def part(name):
        return lambda: ctx.effect("ask", world(name), name, cls=kind)
    done = [ctx.substep(name, part(name)) for name in ("one", "two")]
    # More than stands in a row, and bytes: from here on states lie in chunks.
    return {"parts": done, "pages": [f"{n:04} " * 100 for n in range(60)], "image": bytes(range(256)) * 8}
"""
FLOW: Mapping[str, Any] = {
    "workflow_id": "crash",
    "version": "1",
    "nodes": [
        {"id": "act", "type": "python", "run": "crash_effect_nodes:act", "next": "parts"},
        {"id": "parts", "type": "python", "run": "crash_effect_nodes:parts", "next": "say"},
        {"id": "say", "type": "llm_call", "prompt": "{acted} {parts}", "next": None},
    ],
}


@dataclass(frozen=True)
class EffectScene(Scene):
    """One thread in a store of its own, and the world beside it."""

    def make(self, kind: str) -> None:
        """A pending run."""
        self.write("crash_effect_nodes", NODES, FLOW, {"cls": kind})

    def resolve(self) -> bool:
        """Say of a held effect what the world knows of it; False when nothing is held."""
        with self.store() as store:
            held = [asked for asked in store.approvals() if asked.kind == "unknown_effect"]
            for asked in held:
                (key, name) = self.rows("effects", "key, name", where=f"asked = '{asked.id}'")[0]
                lines = [line.split() for line in self.world()]
                did = next((word for word, known in lines if known == key), None)
                store.answer(asked.id, {"as": "retry"} if did is None else {"as": "done", "result": {"did": did}}, "op")
                assert name
        return bool(held)

    def world(self) -> list[str]:
        file = self.folder / "world.txt"
        return file.read_text().splitlines() if file.exists() else []

    def orders(self) -> list[tuple[Any, ...]]:
        made = self.rows("sqlite_master", "name", where="name = 'orders'")
        return self.rows("orders", "n") if made else []


def finish(scene: EffectScene, at: str) -> int:
    """Run to the end here, as an operator would who never guesses; how often the run was held."""
    for holds in range(8):
        if scene.status() != RunStatus.COMPLETED:
            with forgetting(scene.folder):
                scene.run_here()
        if not scene.resolve():
            return holds
    raise AssertionError(f"{at}: held again and again")


def answered(scene: EffectScene) -> list[tuple[Any, ...]]:
    """The line without the checkpoints of what was answered about effects: how many those are is up to the kill."""
    return [row for row in scene.line() if row[1] != "answer"]


def check(scene: EffectScene, expected: EffectScene, history: list[tuple[Any, ...]], kind: str, at: str) -> None:
    """The invariants: nothing lost, nothing twice, nothing changed, and the end of a run that nobody disturbed."""
    assert scene.rows("pragma_integrity_check") == [("ok",)], at
    assert answered(scene) == answered(expected), at
    with scene.store() as store:
        assert store.fault(store.head("t")) is None, at
    assert scene.rows("checkpoints")[: len(history)] == history, at
    assert scene.rows("runs", "status") == [(RunStatus.COMPLETED,)], at
    assert scene.rows("steps", "1", where="status = 'completed' AND output IS NULL") == [], at
    tokens = [token for (token,) in scene.rows("checkpoints", "token", where="token IS NOT NULL")]
    assert tokens == sorted(tokens), at
    ledgers = [
        found.rows("effects", "key, status, result", where="name <> 'uuid'", order="key") for found in (scene, expected)
    ]
    assert ledgers[0] == ledgers[1], at
    calls = Counter(scene.world())
    assert set(calls) == set(expected.world()), at
    again = (EffectClass.REPEATABLE, EffectClass.IDEMPOTENT)
    allowed = {line for line in calls if kind in again or not (line.startswith("act") or kind == "at_most_once")}
    assert all(count == 1 for line, count in calls.items() if line not in allowed), (at, calls)
    assert scene.orders() == expected.orders(), at
