"""What a plain yes or no means to a question, and whether a typed answer fits its schema. Pure.

Owns the shapes askers are known to expect; recording an answer is the session's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stores.model import MISSING, Value
from stores.runs import Approval
from tt_debug.definition.schemas import BadSchema, schema_fault

_YES: Final = ("approve", "approved", "accept", "accepted", "yes", "ok", "continue")
_NO: Final = ("reject", "rejected", "deny", "denied", "decline", "no")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be recorded. ``reject`` makes ``value`` the reason for a no; ``resume`` asks to go on afterwards."""

    value: Value
    reject: bool = False
    resume: bool = False


def yes(question: Approval) -> Value:
    """The value that says yes, or MISSING when a bare yes cannot answer this question."""
    if _own(question):
        return {"approved": True}
    actions = _actions(question.prompt)
    if actions:
        # langchain's HumanInTheLoopMiddleware asks for one decision a tool call.
        return {"decisions": [{"type": "approve"} for _ in range(actions)]}
    return next((value for value in _plain(question.schema, True, _YES) if not problem(question, value)), MISSING)


def no(question: Approval, reason: str) -> Answer:
    """The value that says no, with ``reason`` where there is a place for it; without any word for it, a rejection."""
    if _own(question):
        return Answer(reason, reject=True)
    actions = _actions(question.prompt)
    if actions:
        refusal = {"type": "reject", "message": reason} if reason else {"type": "reject"}
        return Answer({"decisions": [dict(refusal) for _ in range(actions)]})
    for value in _plain(question.schema, False, _NO):
        if problem(question, value):
            continue
        if isinstance(value, Mapping):
            return Answer(_with_reason(question, dict(value), reason))
        # An object is true to code that asks ``if answer:``, so a plain no stays plain, where a schema wants it or
        # no reason is to be carried.
        if question.schema or not reason:
            return Answer(value)
    return Answer(reason, reject=True)


def _own(question: Approval) -> bool:
    """A human task of our executor that says nothing about its answer: yes and no have one shape, so that an edge
    may test ``approved``."""
    return question.run_id is not None and question.schema is None


def problem(question: Approval, value: Value) -> str:
    """Why ``value`` does not fit the question's schema, naming the place; empty when it does or there is none."""
    if question.schema is None:
        return ""
    try:
        return schema_fault(question.schema, value) or ""
    except BadSchema:
        return ""


def parse(text: str) -> Value:
    """The JSON that was typed; raises ValueError saying where it is wrong. NaN is no JSON."""

    def refuse(word: str) -> Value:
        raise ValueError(f"{word} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None


def skeleton(question: Approval) -> str:
    """A first text for the reply: an object with the schema's required keys, or a plain yes."""
    schema = question.schema
    if schema is None or schema.get("type") != "object":
        value = yes(question)
        return "" if value is MISSING else json.dumps(value, ensure_ascii=False)
    properties = _mapping(schema.get("properties"))
    names = schema.get("required")
    wanted = [name for name in names if isinstance(name, str)] if isinstance(names, list) else list(properties)
    return json.dumps({name: _example(_mapping(properties.get(name))) for name in wanted}, indent=2, ensure_ascii=False)


def choices(schema: Mapping[str, Value] | None) -> list[tuple[str, str]]:
    """Each key of the answer and what may stand there, in words; for the request's table."""
    if schema is None:
        return []
    properties = _mapping(schema.get("properties"))
    if not properties:
        return [("answer", _kind(schema))]
    return [(str(name), _kind(_mapping(each))) for name, each in properties.items()]


def _kind(schema: Mapping[str, Value]) -> str:
    if isinstance(schema.get("enum"), list):
        return " | ".join(json.dumps(each, ensure_ascii=False) for each in schema["enum"])
    kind = schema.get("type", "any value")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _plain(schema: Mapping[str, Value] | None, flag: bool, words: tuple[str, ...]) -> Iterable[Value]:
    """Candidates for a plain yes or no, the simplest first."""
    yield flag
    if schema is None:
        return
    yield from (word for word in _enum(schema) if word in words)
    for name, each in _mapping(schema.get("properties")).items():
        kind = _mapping(each)
        if kind.get("type") == "boolean" and name in ("approved", "approve", "accept", "ok", "confirmed"):
            yield {name: flag}
        yield from ({name: word} for word in _enum(kind) if word in words)


def _with_reason(question: Approval, value: dict[str, Value], reason: str) -> dict[str, Value]:
    """The reason under the first key the schema has for one."""
    properties = _mapping((question.schema or {}).get("properties"))
    for name in ("reason", "note", "comment", "message", "feedback"):
        if reason and name in properties and name not in value:
            return {**value, name: reason}
    return value


def _enum(schema: Mapping[str, Value]) -> list[str]:
    words = schema.get("enum")
    return [word for word in words if isinstance(word, str)] if isinstance(words, list) else []


def _example(schema: Mapping[str, Value]) -> Value:
    enum = schema.get("enum")
    if isinstance(enum, list) and enum:
        return enum[0]
    kind = schema.get("type")
    examples: dict[object, Value] = {
        "boolean": True,
        "integer": 0,
        "number": 0,
        "array": [],
        "object": {},
        "null": None,
    }
    return examples.get(kind if isinstance(kind, str) else None, "")


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}


def _actions(prompt: Value) -> int:
    requests = prompt.get("action_requests") if isinstance(prompt, Mapping) else None
    return len(requests) if isinstance(requests, list) else 0


def decisions(asked: Approval) -> tuple[str, ...]:
    """What a case may be decided as; empty where it does not say."""
    schema = asked.schema or {}
    properties = schema.get("properties")
    enum = properties["as"].get("enum") if isinstance(properties, dict) and "as" in properties else schema.get("enum")
    return tuple(str(word) for word in enum) if isinstance(enum, list) else ()


def verdict(asked: Approval, word: str) -> Value:
    """The answer that decides it as ``word``: one of `decisions`."""
    properties = _mapping((asked.schema or {}).get("properties"))
    return {"as": word} if "as" in properties else word
