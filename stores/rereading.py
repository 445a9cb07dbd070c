"""Asking a store the same question again, where the first answer failed for a reason that is over by then.

Owns when and how often; each connection layer says by its own errors what is worth it. Never for a write.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import ClassVar, ParamSpec, TypeVar

from stores.errors import StoreError

T = TypeVar("T")
P = ParamSpec("P")


class Again(StoreError):
    """Base of an error that the same question, asked anew, may well not meet. ``attempts`` counts the first one."""

    attempts: ClassVar[int] = 2


def rereading(method: Callable[P, T]) -> Callable[P, T]:
    """For a method that only reads: call it again after an `Again`, a bounded number of times."""

    @functools.wraps(method)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in itertools.count(1):
            try:
                return method(*args, **kwargs)
            except Again as error:
                if attempt >= error.attempts:
                    raise
        raise AssertionError("unreachable: the count has no end")

    return asked
