"""``tt_debug.effect`` as a node of a user's graph meets it. In the user's interpreter: stdlib only, Python 3.9.

Owns which node, in which of its visits, asks: LangChain's callbacks tell every attempt at a task apart, wherever in it
the call is made. What is on record, and what an unknown outcome leads to, its owner says (`graph_keeper`).
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import inspect
import math
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from .calling import call_with_key
from .graph_owner import Halt, Owner

Visits = Mapping[str, Mapping[str, int]]
"""By namespace, how often each node was completed on the thread's line."""

_PUSH = "__pregel_push"
_OUTSIDE = "tt_debug.effect was called where no node of the run can be told"
_HINT = "in a thread or task of your own, run it in a copy of the node's context (contextvars.copy_context)"


class RetryableError(Exception):
    """Raise it in an effect: it was not done, and may be tried again."""


class FatalError(Exception):
    """Raise it in an effect: it was not done, and trying again would fail too."""


class Asking(Halt):
    """A person has to decide about an effect before the run can go on."""


@dataclasses.dataclass
class Attempt:
    """One try at one task. ``place`` names its node below the nodes around it; ``task`` is the root graph's."""

    number: int
    ns: str
    node: str
    place: str
    visit: int
    task: str

    @property
    def inside(self) -> str:
        """What the places below it begin with."""
        return self.place if self.visit == 1 else f"{self.place}#{self.visit}"


class Places:
    """Who is who among LangChain's runs: the attempt that each of them belongs to."""

    def __init__(self, visits: Visits) -> None:
        self._before = visits
        self._steps: dict[tuple[str, str], dict[Any, int]] = defaultdict(dict)
        self._attempts: dict[Any, Attempt] = {}
        self._number = 0
        self._lock = threading.Lock()

    def begin(self, run: Any, parent: Any, metadata: Mapping[str, Any]) -> None:
        """A run of LangChain's begins; the first in a task's own namespace is an attempt at it."""
        with self._lock:
            around = self._attempts.get(parent)
            ns = metadata.get("langgraph_checkpoint_ns") or ""
            if not ns or (around is not None and around.ns == ns):
                if around is not None:
                    self._attempts[run] = around
                return
            self._attempts[run] = self._attempt(ns, metadata, around)

    def _attempt(self, ns: str, metadata: Mapping[str, Any], around: Attempt | None) -> Attempt:
        outer, _, own = ns.rpartition("|")
        node, step, path = own.partition(":")[0], metadata.get("langgraph_step"), metadata.get("langgraph_path")
        steps = self._steps[outer, node]
        steps.setdefault(step, len(steps) + 1)
        visit = self._before.get(outer, {}).get(node, 0) + steps[step]
        place = f"{node}{_among(path)}" if around is None else f"{around.inside}/{node}{_among(path)}"
        self._number += 1
        return Attempt(self._number, ns, node, place, visit, ns.partition("|")[0].rpartition(":")[2])

    def end(self, run: Any) -> None:
        """It is over."""
        with self._lock:
            self._attempts.pop(run, None)

    def here(self) -> Attempt:
        """The attempt that the caller's code belongs to. Raises RuntimeError where none can be told."""
        from langchain_core.runnables.config import var_child_runnable_config

        config = var_child_runnable_config.get()
        run = getattr((config or {}).get("callbacks"), "parent_run_id", None)
        with self._lock:
            found = self._attempts.get(run)
        if found is None:
            raise RuntimeError(f"{_OUTSIDE}: {_HINT}")
        return found

    def listening(self) -> Any:
        """The handler that tells us."""
        from langchain_core.callbacks import BaseCallbackHandler

        def begin(_self: Any, *_: Any, run_id: Any, parent_run_id: Any = None, **more: Any) -> None:
            self.begin(run_id, parent_run_id, more.get("metadata") or {})

        def end(_self: Any, *_: Any, run_id: Any, **_more: Any) -> None:
            self.end(run_id)

        kinds = ("chain", "tool", "llm", "retriever")
        told = {f"on_{kind}_start": begin for kind in (*kinds, "chat_model")}
        ends = {f"on_{kind}_{how}": end for kind in kinds for how in ("end", "error")}
        handler = type("Places", (BaseCallbackHandler,), {"run_inline": True, "raise_error": True, **told, **ends})
        return handler()


def _among(path: Any) -> str:
    """Which of the tasks that were sent to one node, or of the calls of one task."""
    if not path or path[0] != _PUSH:
        return ""
    return f"[{next((part for part in path[1:] if type(part) is int), 0)}]"


def install(effect: Any, aeffect: Any) -> None:
    """Where user code imports them from: the package of that name, or a stand-in where there is none."""
    if "tt_debug" not in sys.modules and importlib.util.find_spec("tt_debug") is None:
        stand_in: Any = types.ModuleType("tt_debug", "What tt-debug gives the nodes that it runs.")
        stand_in.RetryableError, stand_in.FatalError = RetryableError, FatalError
        sys.modules["tt_debug"] = stand_in
    package: Any = importlib.import_module("tt_debug")
    package.effect, package.aeffect = effect, aeffect


def nowhere(*_: Any, **__: Any) -> Any:
    """For a process that runs no node. Raises RuntimeError."""
    raise RuntimeError(_OUTSIDE)


class Effects:
    """What is installed as ``tt_debug.effect`` and ``tt_debug.aeffect`` while a graph is driven."""

    def __init__(self, owner: Owner, places: Places) -> None:
        self._owner, self._places = owner, places

    @property
    def both(self) -> tuple[Any, Any]:
        """As `install` takes them."""
        return self.effect, self.aeffect

    def effect(self, name: str, fn: Any, request: Any = None, *, cls: str = "at_most_once", probe: Any = None) -> Any:
        """See `tt_debug.effects.effect`."""
        entered = self._enter(name, request, cls, probe)
        if "result" in entered:
            return entered["result"]
        result = None
        if entered["unsure"] and probe is not None:
            result = _plain(name, call_with_key(probe, entered["key"]))
        with _Outcome(self._owner, entered) as outcome:
            outcome.result = result if result is not None else _plain(name, call_with_key(fn, entered["key"]))
        return outcome.result

    async def aeffect(
        self, name: str, fn: Any, request: Any = None, *, cls: str = "at_most_once", probe: Any = None
    ) -> Any:
        """See `tt_debug.effects.aeffect`."""
        entered = self._enter(name, request, cls, probe)
        if "result" in entered:
            return entered["result"]
        result = None
        if entered["unsure"] and probe is not None:
            result = await _awaited(call_with_key(probe, entered["key"]))
        with _Outcome(self._owner, entered) as outcome:
            outcome.result = result if result is not None else await _awaited(call_with_key(fn, entered["key"]))
        return outcome.result

    def _enter(self, name: str, request: Any, cls: str, probe: Any) -> dict[str, Any]:
        if (cls == "probe") != (probe is not None):
            raise FatalError(f"the effect {name}: probe= belongs to cls='probe', and that needs it")
        if cls == "transactional":
            raise FatalError(f"the effect {name}: a graph has no transaction of ours to be written in")
        there, wrong = self._places.here(), not_json(request)
        if wrong:
            raise FatalError(f"the request of the effect {name} cannot be recorded: {wrong}")
        place = {"attempt": there.number, "task": there.task, "node": there.place, "visit": there.visit}
        return _heeded(self._owner.ask("effect", name=name, request=request, cls=cls, **place))


class _Outcome:
    """Around a call: its result becomes durable, or its failure; what may be done is not called failed."""

    def __init__(self, owner: Owner, entered: Mapping[str, Any]) -> None:
        self._owner, self._call = owner, entered["call"]
        self.result: Any = None

    def __enter__(self) -> _Outcome:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, Halt):
            return
        if error is None:
            wrong = not_json(self.result)
            if not wrong:
                self.result = _heeded(self._owner.ask("done", call=self._call, result=self.result))["result"]
                return
            error = FatalError(f"the result of an effect cannot be recorded: {wrong}")
            self._failed(error, made=True)
            raise error
        self._failed(error, made=False)

    def _failed(self, error: BaseException, *, made: bool) -> None:
        _heeded(self._owner.ask("failed", call=self._call, made=made, error=_told(error)), error)


def _heeded(answer: dict[str, Any], error: BaseException | None = None) -> dict[str, Any]:
    if "stop" in answer:
        raise Asking(answer["stop"]) from error
    if "fatal" in answer:
        raise FatalError(answer["fatal"]) from error
    return answer


def _told(error: BaseException) -> dict[str, Any]:
    """What of an exception says whether its call was carried out (`tt_debug.engine.retry.surely_not_done`)."""
    response = getattr(error, "response", None)
    owners = ((error, "status_code"), (response, "status_code"), (error, "status"), (error, "code"))
    status = next((value for owner, name in owners if type(value := getattr(owner, name, None)) is int), None)
    kinds = [kind.__name__ for kind in type(error).__mro__]
    return {"class": type(error).__name__, "text": str(error), "kinds": kinds, "status": status}


def not_json(value: Any, path: str = "") -> str:
    """What in it JSON would change, with its place; empty for plain JSON."""
    where = path or "the value"
    if value is None or type(value) in (bool, str):
        return ""
    if type(value) is int:
        return "" if -(2**63) <= value < 2**64 else f"{where}: the integer needs more than 64 bits"
    if type(value) is float:
        return "" if math.isfinite(value) else f"{where}: {value} is not a JSON number"
    if type(value) is list:
        return next(filter(None, (not_json(item, f"{path}[{at}]") for at, item in enumerate(value))), "")
    if type(value) is dict:
        strange = next((key for key in value if type(key) is not str), None)
        if strange is not None:
            return f"{where}: the key {strange!r} is not a string"
        inside: Callable[[str], str] = lambda key: f"{path}.{key}" if path else key  # noqa: E731
        return next(filter(None, (not_json(item, inside(key)) for key, item in value.items())), "")
    return f"{where}: a value of type {type(value).__module__}.{type(value).__qualname__} has no JSON form"


def _plain(name: str, value: Any) -> Any:
    if not inspect.iscoroutine(value):
        return value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(value)
    value.close()
    raise FatalError(f"the effect {name} is async: in an async node write `await tt_debug.aeffect(…)`")


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
