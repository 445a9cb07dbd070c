"""What model calls used, in a word for a column and in a sentence. Pure."""

from __future__ import annotations

from typing import NamedTuple

from stores.model import Value
from tt_debug.cells import human_size
from tt_debug.text import counted
from tt_debug.usage import Prices, usages


class Used(NamedTuple):
    """What the messages of one state tell of the calls that they came from. ``cost`` is None where no price is known
    for any, ``unpriced`` the tokens that none is known for."""

    calls: int
    tokens: int
    cost: float | None
    unpriced: int
    currency: str


def used_by(state: Value, prices: Prices) -> Used | None:
    """None where no message tells."""
    calls = tokens = unpriced = 0
    cost: float | None = None
    for usage in usages(state):
        size, price = usage.input + usage.output, prices.of(usage)
        calls, tokens = calls + 1, tokens + size
        if price is None:
            unpriced += size
        else:
            cost = (cost or 0.0) + price
    return Used(calls, tokens, cost, unpriced, prices.currency) if calls else None


def used_word(used: Used | None) -> str:
    """``$0.42``, ``$0.42+`` where some has no price, ``4.1k tok`` where nothing has one, ``?`` where nobody tells."""
    if used is None:
        return "?"
    if used.cost is None:
        return f"{human_size(used.tokens)} tok"
    return f"{used.currency}{used.cost:,.2f}{'+' if used.unpriced else ''}"


def used_words(used: Used) -> str:
    """``4.1k tokens in 6 calls, $0.42``"""
    cost = "cost unknown" if used.cost is None else f"{used.currency}{used.cost:,.2f}"
    rest = f", {human_size(used.unpriced)} tokens unpriced" if used.cost is not None and used.unpriced else ""
    return f"{human_size(used.tokens)} tokens in {counted(used.calls, 'call')}, {cost}{rest}"
