"""What model calls used, as messages tell it, and what that costs by a table of prices that the user has written.

Owns reading `usage_metadata` and `response_metadata` of LangChain's messages and the fields of OpenAI's and
Anthropic's own; refuses to know a price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stores.model import Tagged, Value
from tt_debug.errors import UsageError

_DEEP: Final = 6  # levels below a state's key at which messages are looked for
_PER: Final = 1_000_000
_INPUT: Final = ("input_tokens", "prompt_tokens", "promptTokens")
_OUTPUT: Final = ("output_tokens", "completion_tokens", "completionTokens")
_FIELDS: Final = frozenset({"input", "output", "cached"})


class Usage(NamedTuple):
    """What one message says a model call used. ``cached`` tokens are part of ``input``; ``id`` is the message's."""

    input: int
    output: int
    cached: int = 0
    model: str | None = None
    id: str | None = None


class Price(NamedTuple):
    """Of a million tokens. ``cached`` None: as ``input``."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """A model's name, or the beginning of one, → its price. ``currency`` is written before an amount."""

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = "$"

    def of(self, usage: Usage) -> float | None:
        """What it costs; None where no price is known for its model."""
        fitting = [name for name in self.models if usage.model is not None and usage.model.startswith(name)]
        if not fitting:
            return None
        price = self.models[max(fitting, key=len)]
        cached = price.input if price.cached is None else price.cached
        fresh = max(0, usage.input - usage.cached)
        return (fresh * price.input + usage.cached * cached + usage.output * price.output) / _PER


def read_prices(settings: Mapping[str, Value], file: str) -> Prices:
    """``[prices."gpt-4o"]`` with ``input`` and ``output`` per million tokens, and ``currency``. Raises UsageError."""
    table, currency = settings.get("prices", {}), settings.get("currency", "$")
    hint = 'write [prices."NAME OF THE MODEL"], below it input = 2.5 and output = 10, per million tokens'
    if not isinstance(currency, str):
        raise UsageError(f"{file}: currency is {currency!r}", hint='write currency = "$"')
    if not isinstance(table, Mapping):
        raise UsageError(f"{file}: prices is {table!r}", hint=hint)
    return Prices({name: _price(name, given, file, hint) for name, given in table.items()}, currency)


def _price(name: str, given: Value, file: str, hint: str) -> Price:
    def is_amount(value: Value) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")

    if not isinstance(given, Mapping) or not {"input", "output"} <= set(given):
        raise UsageError(f"{file}: prices.{name} is {given!r}", hint=hint)
    wrong = [word for word, value in given.items() if word not in _FIELDS or not is_amount(value)]
    if wrong:
        raise UsageError(f"{file}: prices.{name}.{wrong[0]} is {given[wrong[0]]!r}", hint=hint)
    return Price(given["input"], given["output"], given.get("cached"))


def usages(value: Value) -> Iterator[Usage]:
    """What every message in a value says; a message is not looked into any further."""
    todo: list[tuple[Value, int]] = [(value, 0)]
    while todo:
        value, depth = todo.pop()
        while isinstance(value, Tagged):
            value = value.value
        if isinstance(value, Mapping):
            found = _usage(value)
            if found is not None:
                yield found
                continue
        if depth < _DEEP:
            inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
            todo.extend((item, depth + 1) for item in inner if isinstance(item, Mapping | list | tuple | Tagged))


def _usage(message: Mapping[Value, Value]) -> Usage | None:
    if isinstance(message.get("kwargs"), Mapping) and message.get("type") == "constructor":
        message = message["kwargs"]  # as LangChain for JavaScript writes a message
    about = _mapping(message.get("response_metadata"))
    told = (
        message.get("usage_metadata"),
        about.get("token_usage"),
        about.get("tokenUsage"),
        about.get("usage"),
        message.get("usage") if "role" in message or "content" in message else None,
    )
    for each in map(_mapping, told):
        used_in, used_out = _first(each, _INPUT), _first(each, _OUTPUT)
        if used_in is None and used_out is None:
            continue
        details = _mapping(each.get("input_token_details") or each.get("prompt_tokens_details"))
        cached = _first(details, ("cache_read", "cached_tokens")) or 0
        model = about.get("model_name") or about.get("model") or message.get("model")
        name, id = model if isinstance(model, str) else None, message.get("id")
        return Usage(used_in or 0, used_out or 0, cached, name, id if isinstance(id, str) else None)
    return None


def _mapping(value: Value) -> Mapping[Value, Value]:
    while isinstance(value, Tagged):
        value = value.value
    return value if isinstance(value, Mapping) else {}


def _first(found: Mapping[Value, Value], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = found.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
