"""Chat messages in states: found in LangChain's classes and in plain dicts, as role, text and tool calls.

Owns recognising them, and which list of a state is the conversation; never imports the class a value names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from stores.model import Path, Tagged, Value
from stores.paths import get_path
from tt_debug.shared import Shared
from tt_debug.text import one_line

ROLES: Final = {
    "human": "human",
    "user": "human",
    "ai": "ai",
    "aimessagechunk": "ai",
    "assistant": "ai",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
"""What stores call a speaker, and the word shown for it."""

ARGUMENTS: Final = 12
"""Arguments of a call that are shown, each in at most"""
ARGUMENT: Final = 400
"""cells."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message. ``role`` is human, ai, tool, system or the store's own word.

    Each of ``calls`` is a name and its arguments as text.
    """

    role: str
    text: str
    calls: tuple[tuple[str, str], ...] = ()
    id: str | None = None
    name: str | None = None
    failed: bool = False


def plain(value: Value) -> Value:
    """The payload of a tagged value, the value itself otherwise."""
    while isinstance(value, Tagged):
        value = value.value
    return value


def as_message(value: Value) -> Message | None:
    """The message a value holds, or None when it does not look like one."""
    name, fields = _unwrapped(value)
    if not isinstance(fields, Mapping):
        return None
    if fields.get("lc") == 1 and isinstance(fields.get("kwargs"), Mapping):
        fields = fields["kwargs"]
    role = _role(name, fields)
    if role is None or not ("content" in fields or "tool_calls" in fields):
        return None
    identity, speaker = fields.get("id"), fields.get("name")
    return Message(
        role=role,
        text=_text(fields.get("content")),
        calls=_calls(fields),
        id=identity if isinstance(identity, str) else None,
        name=speaker if isinstance(speaker, str) else None,
        failed=fields.get("status") == "error",
    )


def _unwrapped(value: Value) -> tuple[str, Value]:
    """The payload and the name of its class, "" where none is said: of a tagged value, or of one that was exported
    and is kept as JSON now (`tt_debug.values`)."""
    name = ""
    while True:
        if isinstance(value, Tagged):
            name, value = value.type_name, value.value
        elif isinstance(value, Mapping) and value.keys() == {"$type", "value"} and isinstance(value["$type"], str):
            name, value = value["$type"], value["value"]
        else:
            return name, value


def _role(class_name: str, fields: Mapping[str, Value]) -> str | None:
    word = fields.get("role", fields.get("type"))
    if isinstance(word, str):
        known = ROLES.get(word.lower())
        if known or "role" in fields:
            return known or word
    if class_name.endswith(("Message", "MessageChunk")):
        name = class_name.rpartition(".")[2].removesuffix("Chunk").removesuffix("Message")
        return ROLES.get(name.lower(), name.lower() or "chat")
    return None


def _text(content: Value) -> str:
    """Text of a content that is a string or a list of parts; parts that are not text are named."""
    _, content = _unwrapped(content)
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        return one_line(content, ARGUMENT)
    parts = []
    for _, part in map(_unwrapped, content):
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif isinstance(part, Mapping) and part.get("type") != "tool_use":
            parts.append(f"<{part.get('type', 'part')}>")
    return " ".join(parts)


def _calls(fields: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    calls = fields.get("tool_calls")
    if not isinstance(calls, list):
        return ()
    found = []
    for _, call in map(_unwrapped, calls):
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else call
        found.append((str(inner.get("name", "?")), _arguments(inner.get("args", inner.get("arguments")))))
    return tuple(found)


def _arguments(arguments: Value) -> str:
    """Arguments as a call shows them; of a large one only its beginning is looked at."""
    _, arguments = _unwrapped(arguments)
    if isinstance(arguments, Mapping):
        return ", ".join(f"{key}={one_line(value, ARGUMENT)}" for key, value in islice(arguments.items(), ARGUMENTS))
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else one_line(arguments, ARGUMENT)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the transcript and where it lies in the state."""

    path: Path
    message: Message


def text_path(state: Value, path: Path) -> Path:
    """Where the text of the message at ``path`` lies: its content, or the first text among the content's parts."""
    value = get_path(state, path)
    while True:
        value = plain(value)
        if isinstance(value, Mapping) and value.keys() == {"$type", "value"}:
            path, value = (*path, "value"), value["value"]
        elif isinstance(value, Mapping) and value.get("lc") == 1 and isinstance(value.get("kwargs"), Mapping):
            path, value = (*path, "kwargs"), value["kwargs"]
        else:
            break
    path, content = (*path, "content"), plain(value.get("content")) if isinstance(value, Mapping) else None
    for at, part in enumerate(content if isinstance(content, list) else ()):
        part = plain(part)
        if isinstance(part, str):
            return (*path, at)
        if isinstance(part, Mapping) and isinstance(part.get("text"), str):
            return (*path, at, "text")
    return path


def conversation(
    state: Mapping[str, Value], known: Shared[Message | None] | None = None
) -> tuple[Path, tuple[Turn, ...]]:
    """The state's list of messages and its path: "messages" if it is one, else the longest such list at the top.

    ``known`` is kept from one state to the next: a message of both is then the same `Message`."""
    known = known or Shared()
    best: tuple[Path, tuple[Turn, ...]] = ((), ())
    for key, value in state.items():
        turns = _turns((key,), plain(value), known)
        if turns and (key == "messages" or len(turns) > len(best[1])):
            best = ((key,), turns)
            if key == "messages":
                break
    return best


def _turns(path: Path, value: Value, known: Shared[Message | None]) -> tuple[Turn, ...]:
    if not isinstance(value, list) or not value or as_message(value[-1]) is None:
        return ()
    found = ((index, known.of(item, partial(as_message, item))) for index, item in enumerate(value))
    return tuple(Turn((*path, index), message) for index, message in found if message is not None)
