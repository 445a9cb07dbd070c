"""``effect`` and ``aeffect`` for the nodes of a user's graph, as they are where no run of tt-debug drives it: calls.

While tt-debug drives a graph, others of the same names stand in their place, which keep a ledger
(`tt_debug.engine.graph_effects`).
"""

from __future__ import annotations

import inspect
import uuid
from typing import Any

from tt_debug.engine.calling import Function, awaited, call_with_key


def effect(name: str, fn: Function, request: Any = None, *, cls: str = "at_most_once", probe: Any = None) -> Any:
    """Do something outside, once: ``fn(key)``, or ``fn()``; its JSON result is recorded in a run of tt-debug, and given
    again ever after.

    ``request`` is what is asked for, as JSON: another one under the same name is another effect. ``key`` is for the
    other side: its idempotency key or the message's id. ``cls`` says what to do when nobody knows whether the call was
    made: "repeatable" and "idempotent" make it again, "probe" asks ``probe(key)`` first, which gives the result, or
    None where it was not done; "at_most_once" stops the run and asks a person. `tt_debug.RetryableError` and
    `tt_debug.FatalError`, raised by ``fn``, say that it was not done. Outside a run of tt-debug it is just the call.
    """
    return awaited(call_with_key(fn, _key()))


async def aeffect(name: str, fn: Function, request: Any = None, *, cls: str = "at_most_once", probe: Any = None) -> Any:
    """The same in an async node, where ``fn`` and ``probe`` may be async functions."""
    result = call_with_key(fn, _key())
    return await result if inspect.isawaitable(result) else result


def _key() -> str:
    return f"once:{uuid.uuid4().hex}"
