"""Calling a function of the user's with as much as it takes, and waiting for an async one."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

Function = Callable[..., Any]


def call(function: Function, arguments: tuple[Any, ...], least: int) -> Any:
    """Call with as many of the arguments, from the front, as the function takes; with ``least`` at any rate."""
    # Any other callable may be hashed, and found equal to another, by code of the user's.
    taken = _most(function) if isinstance(function, FunctionType) else _most.__wrapped__(function)
    return function(*arguments[: least if taken is None else max(least, taken)])


@lru_cache  # the same few functions step after step, and a signature takes longer than all else of a call
def _most(function: Function) -> int | None:
    """How many arguments it takes by their place at most; None where that cannot be told."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some builtins have no signature
        return None
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return sys.maxsize
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in parameters)


def call_with_key(function: Function, key: str) -> Any:
    """Call with the key where the function asks for one: its first parameter is required, or is called so.

    A first parameter that has a default of its own (``partial(book, hotel)`` of ``book(hotel, timeout=30)``) means
    something else.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some builtins have no signature
        return function()
    positional = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    first = next((parameter for parameter in parameters if parameter.kind in positional), None)
    if first is None or (first.default is not inspect.Parameter.empty and "key" not in first.name):
        return function()
    return function(key)


def awaited(value: Any) -> Any:
    """The result of an async function; any other value as it is."""
    return asyncio.run(value) if inspect.iscoroutine(value) else value
