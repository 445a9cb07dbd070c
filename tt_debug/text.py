"""Plain text of values and states, for the command line, the clipboard and golden files.

Owns the wording; what is safe to show and how wide it is stands in `tt_debug.cells` and is offered here too, colours
and the screen's glyphs are the terminal interface's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from stores.blobs import Blob
from stores.model import MISSING, Opaque, Partial, Tagged, Value
from stores.paths import unwrap
from tt_debug.cells import cell_width as cell_width
from tt_debug.cells import clip as clip
from tt_debug.cells import human_age as human_age
from tt_debug.cells import human_duration as human_duration
from tt_debug.cells import human_size as human_size
from tt_debug.cells import safe_text as safe_text
from tt_debug.cells import signs as signs
from tt_debug.redaction import SHOWN, Hidden

LONGEST: Final = 200
"""Cells of one value on a line."""
MOST_ITEMS: Final = 50
"""Elements of one list, or keys of one dict, that a state shows."""
DEEPEST: Final = 12
"""Levels of a state that get lines of their own."""
SHORT: Final = 72
"""Cells up to which a container stays on one line."""


def counted(number: int, word: str) -> str:
    """A number of things: "1 fork", "2,304 forks"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def names_text(names: Iterable[str]) -> str:
    """Names of nodes, safe to show, each once and with how often it is there: ``worker (5), join``."""
    times = Counter(names)
    return safe_text(", ".join(name if count == 1 else f"{name} ({count})" for name, count in times.items()))


def one_line(value: Value, width: int = LONGEST) -> str:
    """Any value on one safe line of at most ``width`` cells: much like JSON, messages as a person would quote them."""
    message = message_line(value)
    return clip(message, width) if message is not None else _line(value, width)


def _line(value: Value, width: int) -> str:
    """As much of the value as fills the width: the end of a large one is never looked at."""
    parts: list[str] = []
    room = 2 * width + 16
    for part in _pieces(value):
        parts.append(part)
        room -= len(part)
        if room < 0:
            break
    return clip("".join(parts), width)


def _pieces(value: Value) -> Iterator[str]:
    todo: list[Value | _Said] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Said):
            yield item
        elif isinstance(item, Tagged):
            todo += [_Said(")"), item.value, _Said(f"{shown_class(item.type_name)}(")]
        elif isinstance(item, Mapping):
            yield "{"
            todo.append(_Said("}"))
            for at, (key, part) in reversed(list(enumerate(_some(item.items())))):
                todo += [part, _Said(f"{', ' * (at > 0)}{shown_key(key)}: ")]
        elif isinstance(item, list | tuple):
            yield f"[{len(item)} numbers]" if _is_vector(item) else "["
            if not _is_vector(item):
                todo.append(_Said("]"))
                for at, part in reversed(list(enumerate(_some(item)))):
                    todo += [part, _Said(", " * (at > 0))]
        else:
            yield _atom(item)


class _Said(str):
    """Text that is already as it is shown."""

    __slots__ = ()


def _some(items: Iterable[Value]) -> Iterator[Value]:
    """More elements than a line holds."""
    for at, item in enumerate(items):
        if at > LONGEST:
            return
        yield item


def _is_vector(items: Sequence[Value]) -> bool:
    return len(items) > 16 and all(type(item) is float for item in items)


# Text that, bare, would pass for a number, a constant, a list or nothing at all.
_NOT_BARE: Final = re.compile(r"(-?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity)|NaN|true|false|null|)\Z|[\"(<]")
_FAMILIAR: Final = frozenset(
    {"builtins", "collections", "datetime", "decimal", "fractions", "ipaddress", "pathlib", "re", "uuid", "zoneinfo"}
    | {"langchain", "langchain_core", "langgraph"}
)


def is_bare_key(key: Value) -> bool:
    """Whether a dict's key is text that passes for nothing else, so that it needs no quotes."""
    return isinstance(key, str) and _NOT_BARE.match(key) is None


def shown_key(key: Value) -> str:
    """A dict's key: text as it is, in quotes where it would pass for a key of another type."""
    return safe_text(key[:LONGEST]) if is_bare_key(key) else _atom(key)


def shown_class(type_name: str) -> str:
    """A class by its own name where its package is one that everybody knows, with its module elsewhere."""
    package, name = type_name.partition(".")[0], type_name.rpartition(".")[2]
    return safe_text(name if package in _FAMILIAR and name else type_name)


def _atom(value: Value) -> str:
    if isinstance(value, str):
        cut = value[: 8 * LONGEST]
        # As in JSON, so that a text cannot pass for two values.
        quoted = safe_text(cut.replace("\\", "\\\\").replace('"', '\\"'))
        return f'"{quoted}{"…" if len(cut) < len(value) else ""}"'
    if isinstance(value, Hidden):
        return SHOWN
    if value is MISSING:
        return "missing"
    if isinstance(value, Blob):
        return f"<bytes {human_size(value.size)} sha256 {value.digest[:8]}>"
    if isinstance(value, Opaque):
        return f"<{safe_text(value.kind)} {human_size(value.size)}>"
    if isinstance(value, bytes):
        return f"<bytes {human_size(len(value))}>"
    if isinstance(value, Partial):
        count = len(value.writes)
        since = "the start" if value.seed is MISSING else "a snapshot"
        return f"<partly known: {count} write{'s' * (count != 1)} since {since}>"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return safe_text(str(value)[:LONGEST])


_ROLES: Final = {"user": "human", "assistant": "ai", "AIMessageChunk": "ai"}


def message_line(value: Value) -> str | None:
    """A chat message as ``role  text  ⚙ tool(args)``; None for anything else."""
    inside = unwrap(value)
    if not isinstance(inside, dict) or "content" not in inside:
        return None
    role, text = inside.get("type", inside.get("role")), _text_of(inside["content"])
    if not isinstance(role, str) or text is None:
        return None
    calls = inside.get("tool_calls")
    parts = [_ROLES.get(role, safe_text(role[:LONGEST])), safe_text(text[: 8 * LONGEST])]
    parts += [_tool_call(unwrap(call)) for call in calls[:MOST_ITEMS]] if isinstance(calls, list) else []
    return "  ".join(part for part in parts if part)


def _text_of(content: Value) -> str | None:
    """The text of a message, which may stand in blocks; None when it is something else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = [unwrap(block) for block in content[:MOST_ITEMS]]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    others = [block.get("type") for block in blocks if isinstance(block, dict) and "text" not in block]
    words = [text for text in texts if isinstance(text, str)] + [
        f"<{kind}>" for kind in others if isinstance(kind, str)
    ]
    return " ".join(words) if words or not content else None


def _tool_call(call: Value) -> str:
    if not isinstance(call, dict):
        return f"⚙ {_line(call, 40)}"
    args = call.get("args")
    shown = _line(args, 40)
    if isinstance(args, dict):
        shown = ", ".join(f"{shown_key(key)}={_line(arg, 40)}" for key, arg in list(args.items())[:MOST_ITEMS])
    return f"⚙ {safe_text(str(call.get('name', ''))[:LONGEST])}({shown})"


def format_state(state: Mapping[str, Value]) -> list[str]:
    """A state as indented lines, a value a line; long texts and lists are cut and say so."""
    lines: list[str] = []
    todo: list[tuple[int, str, Value]] = [(0, "", state)]
    while todo:
        depth, name, value = todo.pop()
        inside = unwrap(value)
        indent = "  " * (depth - 1)
        if value is MISSING:
            lines.append(f"{indent}{name}")
            continue
        opened = isinstance(inside, dict | list) and inside and depth < DEEPEST and message_line(value) is None
        if depth and not (opened and not _fits(value, indent)):
            lines.append(f"{indent}{name}  {one_line(value)}")
            continue
        if depth:
            lines.append(f"{indent}{name}  {_count(value)}")
        todo.extend(reversed(list(_parts(depth + 1, inside))))
    return lines


def _fits(value: Value, indent: str) -> bool:
    """Whether a container is better read on its one line."""
    inside = unwrap(value)
    if isinstance(inside, list) and message_line(inside[-1]) is not None:
        return False
    return _is_vector(inside) or cell_width(one_line(value)) + len(indent) <= SHORT


def _parts(depth: int, inside: Value) -> Iterator[tuple[int, str, Value]]:
    if isinstance(inside, list):
        width = len(f"[{min(len(inside), MOST_ITEMS) - 1}]")
        for at, item in enumerate(inside[:MOST_ITEMS]):
            yield depth, f"[{at}]".ljust(width), item
    else:
        shown = list(inside.items())[:MOST_ITEMS]
        width = max((cell_width(shown_key(key)) for key, _ in shown), default=0)
        for key, item in shown:
            yield depth, shown_key(key) + " " * (min(width, 24) - cell_width(shown_key(key))), item
    if len(inside) > MOST_ITEMS:
        yield depth, f"⋯ {len(inside) - MOST_ITEMS:,} more", MISSING


def _count(value: Value) -> str:
    inside = unwrap(value)
    kind = ("key" if isinstance(inside, dict) else "item") + "s" * (len(inside) != 1)
    wrapper = f"{shown_class(value.type_name)}  " if isinstance(value, Tagged) else ""
    return f"{wrapper}{len(inside):,} {kind}"
