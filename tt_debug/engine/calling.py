"""Calling a function of the user's with as much as it takes, and waiting for an async one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

Function: TypeAlias = Callable[..., Any]


def call(function: Function, arguments: tuple[Any, ...], least: int) -> Any:
    """Call with as many of the arguments, from the front, as the function takes; with ``least`` at any rate."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some builtins have no signature
        return function(*arguments[:least])
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = sum(parameter.kind in positional for parameter in parameters)
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        taken = len(arguments)
    return function(*arguments[: max(least, min(taken, len(arguments)))])


def awaited(value: Any) -> Any:
    """The result of an async function; any other value as it is."""
    return asyncio.run(value) if inspect.iscoroutine(value) else value
