"""Which values are secrets, by the names they are kept under, and what is shown instead of them.

Owns the names and the hiding; refuses to look for secrets inside texts other than JSON, where no pattern finds them
reliably, and to change what is stored.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

from stores.codec.json import loads
from stores.errors import Corrupt
from stores.model import Opaque, Partial, Path, Tagged, Value
from stores.paths import has_key
from tt_debug.shared import Shared

SHOWN: Final = "●●●●"
"""What stands in a text where a secret was."""

USUAL: Final = (
    *("password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "credential"),
    *("credentials", "token", "bearer", "jwt", "otp", "api_key", "api_keys", "access_key", "private_key"),
    *("signing_key", "encryption_key", "authorization", "auth", "cookie", "cookies", "card", "credit_card"),
    *("card_number", "card_no", "cvv", "cvc", "ssn", "seed_phrase"),
)
"""Names of secrets. Each stands for a whole key and for the last words of one: ``token`` for ``accessToken``."""

_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_REMEMBERED: Final = 10_000  # keys of at most so many characters:
_LONGEST: Final = 100
_LONGEST_TEXT: Final = 100_000
_NO_WORD: Final = re.compile(r"[\W_]+")
_WORD: Final = re.compile(r"[\w-]+")
_SECRET_CLASS: Final = re.compile(r"(^|[._])Secret(Str|Bytes)?$")
_NAMED: Final = ("name", "key")  # {"name": "Authorization", "value": "…"}, as headers and variables are listed


@dataclass(frozen=True, slots=True)
class Hidden:
    """Stands where a secret was. ``kind``: text, number, bytes."""

    kind: str


class Redaction:
    """The names that are secret here. Nothing it is given is changed: what holds a secret is copied."""

    def __init__(self, names: Iterable[str] = USUAL) -> None:
        """A name matches a whole key or its last words, in any case and spelling; one with ``*`` the whole key."""
        self._names = tuple(names)
        self._known: dict[str, bool] = {}
        self._seen: Shared[bool] = Shared()

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        # Made at the first question: nothing is asked before the list of threads is on screen.
        parts = sorted({_pattern(name) for name in self._names if _spelled(name.replace("*", "x"))})
        return re.compile("|".join(parts)) if parts else None

    def names(self, key: object) -> bool:
        """Whether what is kept under ``key`` is secret."""
        if self._pattern is None or not isinstance(key, str):
            return False
        known = self._known.get(key)
        if known is None:
            # The same few keys come a hundred thousand times in a long conversation: 5 µs each, 0.5 s in all.
            known = bool(self._pattern.search(_spelled(key)))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            if len(key) <= _LONGEST:
                self._known[key] = known
        return known

    def asks(self, expression: str) -> bool:
        """Whether an expression names something secret: its answer is then, whatever it is called there."""
        return any(self.names(word) for word in _WORD.findall(expression))

    def at(self, value: Value, path: Path) -> bool:
        """Whether what lies at ``path`` of ``value`` is secret, or inside something that is."""
        secret = False
        for step in path:
            while isinstance(value, Tagged):
                secret, value = secret or _is_secret_class(value), value.value
            secret = secret or self.names(step) or self._is_named_value(value, step)
            if isinstance(value, Mapping):
                value = value[step] if has_key(value, step) else None
            elif isinstance(value, list | tuple):
                value = value[step] if type(step) is int and 0 <= step < len(value) else None
            else:
                value = None
        return secret

    def hide(self, value: Value, *, secret: bool = False) -> Value:
        """The value with `Hidden` for every secret text, number and bytes; the very same object where it holds none.

        ``secret``: the value lies under a secret name itself.
        """
        if self._pattern is None or not (secret or self._holds_any(value)):
            return value
        box: list[Value] = [None]
        todo: list[tuple[Value, Any, Any, bool]] = [(value, box, 0, secret)]
        has_hidden = False
        while todo:
            item, holder, place, secret = todo.pop()
            if isinstance(item, Mapping):
                holder[place] = out = dict.fromkeys(item)
                todo.extend((part, out, key, secret or self._is_secret(item, key)) for key, part in item.items())
            elif isinstance(item, list | tuple):
                items: list[Value] = [None] * len(item)
                holder[place] = items
                todo.extend((part, items, index, secret) for index, part in enumerate(item))
            else:
                holder[place] = shown = self._hidden_atom(item, secret)
                has_hidden = has_hidden or shown is not item
        return box[0] if has_hidden else value

    def _hidden_atom(self, value: Value, secret: bool) -> Value:
        """A scalar, or a wrapper; wrappers nest a hundred deep at most, as their bytes do."""
        if isinstance(value, Tagged):
            inside = self.hide(value.value, secret=secret or _is_secret_class(value))
            return value if inside is value.value else Tagged(value.type_name, inside, None, value.tag)
        if isinstance(value, Partial):
            parts = [value.seed, *value.writes]
            shown = [self.hide(part, secret=secret) for part in parts]
            same = all(new is old for new, old in zip(shown, parts, strict=True))
            return value if same else Partial(shown[0], tuple(shown[1:]))
        return _hidden(value) if secret or self._tells_secret(value) else value

    def _tells_secret(self, value: Value) -> bool:
        """Whether it is JSON written as a text, as models give a tool's arguments, and holds a secret."""
        if not isinstance(value, str) or value[:1] not in ("{", "[") or not 2 < len(value) <= _LONGEST_TEXT:
            return False
        try:
            inside = loads(value)
        except Corrupt:
            return False
        return self.hide(inside) is not inside

    def _holds_any(self, value: Value) -> bool:
        """Whether anything in it is under a secret name, or of a class that says it is one."""
        todo = [value]
        while todo:
            value = todo.pop()
            if isinstance(value, Mapping):
                if any(self._is_secret(value, key) for key in value):
                    return True
                todo.extend(value.values())
            elif isinstance(value, list | tuple):
                todo.extend(value)
            elif isinstance(value, Tagged):
                if self._seen.of(value, partial(self._is_or_holds, value)):
                    return True
            elif isinstance(value, Partial):
                todo.extend((value.seed, *value.writes))
            elif self._tells_secret(value):
                return True
        return False

    def _is_or_holds(self, value: Tagged) -> bool:
        return _is_secret_class(value) or self._holds_any(value.value)

    def _is_secret(self, holder: Mapping[Any, Value], key: Any) -> bool:
        return self.names(key) or self._is_named_value(holder, key)

    def _is_named_value(self, holder: Value, key: Any) -> bool:
        """The value of a name that stands beside it."""
        if key != "value" or not isinstance(holder, Mapping):
            return False
        return any(self.names(holder.get(name)) for name in _NAMED)


NOTHING: Final = Redaction(())
"""Hides nothing."""


def chosen(words: Iterable[str], names: Iterable[str] = USUAL) -> tuple[str, ...]:
    """``names`` as changed by ``words``: a name is added, ``-name`` taken out, ``off`` takes all out."""
    kept = dict.fromkeys(names)
    for word in words:
        if word == "off":
            kept.clear()
        elif word.startswith("-"):
            kept = {name: None for name in kept if _spelled(name) != _spelled(word[1:])}
        elif word:
            kept[word] = None
    return tuple(kept)


def split_words(text: str) -> Iterator[str]:
    """The words of ``TT_DEBUG_REDACT``, which are parted by commas or spaces."""
    return (word for word in re.split(r"[\s,]+", text) if word)


def _spelled(key: str) -> str:
    """camelCase, kebab-case and dotted.names as one spelling."""
    return _spelled_part(key).strip("_")


def _spelled_part(text: str) -> str:
    return _NO_WORD.sub("_", _BOUNDARY.sub("_", text)).lower()


def _pattern(name: str) -> str:
    if "*" in name:
        return f"^{fnmatch.translate('*'.join(map(_spelled_part, name.split('*'))))}"
    return f"(?:^|_){'_?'.join(map(re.escape, _spelled(name).split('_')))}$"


def _is_secret_class(value: Tagged) -> bool:
    return _SECRET_CLASS.search(value.type_name) is not None


def _hidden(value: Value) -> Value:
    """None, true, false and an empty text tell nothing."""
    if isinstance(value, str):
        return Hidden("text") if value else value
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return Hidden("number")
    if isinstance(value, bytes | bytearray | Opaque):
        return Hidden("bytes")
    return value
