"""What can become of a run, told act by act: questions, breakpoints, pauses, failures, holds, cancelling, forking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from stores.model import Change
from stores.runs import RunStatus
from stores.supervision import Breakpoint
from tests.crash.scenes import Scene, Story
from tt_debug.engine import recover

NODES: Final = """
def trail(state, ctx):
    ran(ctx)
    return {"trail": [*state.get("trail", []), f"{ctx.node}{ctx.visit}"]}

def flaky(state, ctx):
    ran(ctx)
    if ctx.attempt == 1:
        raise TimeoutError("once")
    return {"flaky": True}

def stubborn(state, ctx):
    ran(ctx)
    if not (Path(__file__).parent / "mended").exists():
        raise ValueError("broken")
    return {"fine": True}

def once(state, ctx):
    ran(ctx)
    if not state.get("mended"):
        raise ValueError("broken")
    return {"fine": True}

def effect(state, ctx):
    ran(ctx)
    def send(key):
        with open(Path(__file__).parent / "sent.txt", "a") as file:
            file.write(f"{key}\\n")
        return "sent"
    return {"effect": ctx.effect("send", send, {"n": 1}, cls="idempotent")}

def unsure(state, ctx):
    ran(ctx)
    def send(key):
        raise TimeoutError("no answer")
    return {"effect": ctx.effect("send", send, {"n": 1}, cls="at_most_once")}

def asks(what):
    def node(state, ctx):
        ran(ctx)
        from contextlib import closing
        from stores.registry import open_store
        with closing(open_store(str(Path(__file__).parent / "store.sqlite"), read_only=False)) as store:
            store.request("r", what)
        return {"asked": what}
    return node

pausing = asks("pause")

def parts(state, ctx):
    ran(ctx)
    return {"parts": [ctx.substep(name, lambda: name.upper()) for name in ("one", "two")]}
"""


def python(id: str, run: str, following: Any, **fields: Any) -> Mapping[str, Any]:
    return {"id": id, "type": "python", "run": f"crash_nodes:{run}", "next": following, **fields}


def work(scene: Scene) -> None:
    scene.run_here()


def one_step(scene: Scene) -> None:
    scene.run_here(single_step=True)


def answer(value: Any, reject: bool = False) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        with scene.store() as store:
            for asked in store.approvals(status=None)[-1:]:
                store.answer(asked.id, value, "Ada", reject=reject)

    return act


def decide(decision: str) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        with scene.store() as store:
            store.resolve(store.cases(status=None)[-1].id, decision, "Ada")

    return act


def stop_at(place: str, node: str) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        with scene.store() as store:
            store.set_breakpoint(Breakpoint(f"{place} {node}", place, node, by="Ada"))

    return act


def cancel(scene: Scene) -> None:
    with scene.store() as store:
        recover.stop(store, "r", "cancel")


def expire(scene: Scene) -> None:
    with scene.store() as store:
        store.expire(store.approvals(status=None)[-1].id, "nobody answered")


def fork(thread: str) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        with scene.store() as store:
            store.fork(store.head("t"), thread, (Change("add", ("mended",), None, True),))

    return act


def mend(scene: Scene) -> None:
    (scene.folder / "mended").touch()


def protect(scene: Scene) -> None:
    with scene.store() as store:
        store.protect("t", True)


COMMITTING: Final = frozenset({
    "sqlite.begun", "sqlite.written", "sqlite.committed", "native.claimed", "native.step-started",
    "native.checkpoint-inserted", "native.step-completed", "native.run-moved", "run.step-started", "run.node-returned",
    "run.step-before-commit", "run.step-committed",
})  # fmt: skip

STORIES: Final[Mapping[str, Story]] = {
    "question": Story(
        NODES,
        [
            python("A", "trail", [{"when": "length(trail) == `2`", "to": "B"}, {"to": "A"}]),
            python("B", "flaky", "ask", retry={"max": 3, "first": 0}),
            {"id": "ask", "type": "human_task", "next": "C"},
            python("C", "trail", None),
        ],
        {"first": work, "answer": answer("yes"), "second": work},
        RunStatus.COMPLETED,
        COMMITTING
        | {
            "native.step-failed", "native.answered", "native.answer-inserted", "run.step-failed",
            "run.suspend-before-commit", "run.suspended",
        },
    ),
    "breakpoints": Story(
        NODES,
        [
            python("A", "trail", "B"),
            python("B", "stubborn", "C"),
            python("C", "effect", "D"),
            python("D", "trail", None),
        ],
        {
            "set at A": stop_at("before", "A"), "set after A": stop_at("after", "A"),
            "set at D": stop_at("before", "D"), "set at errors": stop_at("error", "B"),
            "set at effects": stop_at("effect", "C"),
            "stops before A": work, "stops after A": work, "stops at the error": work, "mend it": mend,
            "stops at the effect": work, "step over it": one_step, "goes on to the end": work,
        },
        RunStatus.COMPLETED,
        COMMITTING | {"run.finished", "run.paused", "native.step-failed", "native.effect-begun", "run.effect-called"},
    ),
    "pauses": Story(
        NODES,
        [python("A", "pausing", "B"), python("B", "parts", "C"), python("C", "trail", "D"), python("D", "trail", None)],
        {"is paused": work, "one step": one_step, "protect": protect, "another": one_step, "the rest": work},
        RunStatus.COMPLETED,
        COMMITTING | {"run.substep-before-commit", "run.substep-committed", "native.substep-committed"},
    ),
    "failure": Story(
        NODES,
        [python("A", "trail", "B"), python("B", "once", None)],
        {
            "fails": work, "retry": decide("retry"), "fails again": work, "dismiss": decide("dismiss"),
            "fork it": fork("mended"), "edit it": fork("t"),
        },
        RunStatus.FAILED,
        COMMITTING | {"native.step-failed", "run.step-failed", "native.case-decided"},
    ),
    "hold": Story(
        NODES,
        [python("A", "unsure", "B"), python("B", "trail", None)],
        {"is held": work, "say that it was done": answer({"as": "done", "result": "sent"}), "go on": work},
        RunStatus.COMPLETED,
        COMMITTING | {"native.effect-held", "run.held", "native.answered"},
    ),
    "rejection": Story(
        NODES,
        [python("A", "trail", "ask"), {"id": "ask", "type": "human_task", "next": "B"}, python("B", "trail", None)],
        {"asks": work, "reject": answer("no", reject=True), "goes on": work},
        RunStatus.COMPLETED,
        COMMITTING | {"run.suspended", "native.answered"},
    ),
    "no answer": Story(
        NODES,
        [python("A", "trail", "ask"), {"id": "ask", "type": "human_task", "due": "1s", "next": None}],
        {"asks": work, "expire": expire},
        RunStatus.FAILED,
        frozenset({"run.suspended"}),
    ),
    "cancelled while it waits": Story(
        NODES,
        [python("A", "trail", "ask"), {"id": "ask", "type": "human_task", "next": None}],
        {"asks": work, "cancel": cancel},
        RunStatus.CANCELLED,
        frozenset({"run.suspended"}),
    ),
}  # fmt: skip
