"""What a node gets beside the state: who it is, and the few calls it may make.

Owns `Context` and `DELETE`; refuses to give a node the store, the run's records or the process. What is asked of the
world outside goes through the ledger, `effects`.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from stores.effects import EffectClass
from stores.model import Value
from tt_debug.engine.calling import Function, awaited, call_with_key
from tt_debug.engine.effects import Effects
from tt_debug.engine.retry import FatalError


class _Delete:
    """As a value in a node's result: this key goes away."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "DELETE"

    def __copy__(self) -> _Delete:
        return self

    def __deepcopy__(self, _memo: object) -> _Delete:
        return self


DELETE: Final = _Delete()


@dataclass(frozen=True, slots=True)
class Context:
    """One attempt at one node. ``visit`` counts how often the thread came to this node, ``attempt`` the tries now."""

    DELETE: ClassVar[_Delete] = DELETE

    run_id: str
    thread: str
    node: str
    visit: int
    attempt: int
    say: Callable[[str], None] = field(repr=False)
    ledger: Effects = field(repr=False)
    given: Callable[[Value], Value] = field(default=lambda value: value, repr=False)  # bytes for references to them

    def log(self, text: object) -> None:
        """Keep a line with this attempt, and show it to whoever watches the run."""
        self.say(str(text))

    def effect(
        self,
        name: str,
        fn: Function,
        request: Value = None,
        *,
        cls: str = EffectClass.AT_MOST_ONCE,
        probe: Function | None = None,
    ) -> Value:
        """Do something outside, once: ``fn(key)``, or ``fn()``, whose result, of JSON and bytes, is recorded for ever.

        ``request`` is what is asked for, as JSON: another one under the same name is another effect. ``key`` is for
        the other side: its idempotency key or the message's id. ``cls`` says what to do when nobody knows whether the
        call was made (`stores.effects.EffectClass`): "repeatable" and "idempotent" make it again, "probe" asks
        ``probe(key)`` first, which gives the result, or None where it was not done; "at_most_once" stops the run and
        asks a human. RetryableError and FatalError, raised by ``fn``, say that it was not done.
        Calls that a node makes in several threads at once need names of their own.
        """
        _check_probe(name, cls, probe)
        entry = self.ledger.enter(name, request, cls)
        if entry.given:
            return self.given(entry.result)
        if entry.unsure and probe is not None:
            entry.result = _plain(name, call_with_key(probe, entry.key))
        with self.ledger.outcome(entry):
            if entry.result is None:
                entry.result = _plain(name, call_with_key(fn, entry.key))
        return self.given(entry.result)

    async def aeffect(
        self,
        name: str,
        fn: Function,
        request: Value = None,
        *,
        cls: str = EffectClass.AT_MOST_ONCE,
        probe: Function | None = None,
    ) -> Value:
        """The same in an async node, where ``fn`` and ``probe`` may be async functions."""
        _check_probe(name, cls, probe)
        entry = self.ledger.enter(name, request, cls)
        if entry.given:
            return self.given(entry.result)
        if entry.unsure and probe is not None:
            entry.result = await _result(call_with_key(probe, entry.key))
        with self.ledger.outcome(entry):
            if entry.result is None:
                entry.result = await _result(call_with_key(fn, entry.key))
        return self.given(entry.result)

    def tx(self, sql: str, params: Sequence[Value] = ()) -> None:
        """A statement on tables of your own in the store's database, executed in the step's own transaction."""
        self.ledger.statement(sql, list(params))

    def substep(self, name: str, fn: Callable[[], Value]) -> Value:
        """``fn()``, kept with a checkpoint of its own: when the node is run again, its output is given at once."""
        return self.given(self.ledger.part(name, lambda: awaited(fn())))

    def now(self) -> datetime:
        """The time in UTC, the same when the node is run again. Store it as ``ctx.now().isoformat()``."""
        return datetime.fromisoformat(str(self.ledger.value("now", lambda: datetime.now(UTC).isoformat())))

    def uuid(self) -> str:
        """A new random UUID as text, the same when the node is run again."""
        return str(self.ledger.value("uuid", lambda: str(uuid.uuid4())))

    def random(self) -> float:
        """A number from 0 up to, not including, 1, the same when the node is run again."""
        return float(self.ledger.value("random", random.random))


def _check_probe(name: str, cls: str, probe: Function | None) -> None:
    if (cls == EffectClass.PROBE) != (probe is not None):
        raise FatalError(f"the effect {name}: probe= belongs to cls='probe', and that needs it")
    if cls == EffectClass.TRANSACTIONAL:
        raise FatalError(f"the effect {name}: statements of the step's own transaction are made with ctx.tx")


def _plain(name: str, value: Any) -> Any:
    if inspect.iscoroutine(value):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(value)
        value.close()
        raise FatalError(f"the effect {name} is async: in an async node write `await ctx.aeffect(…)`")
    return value


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
