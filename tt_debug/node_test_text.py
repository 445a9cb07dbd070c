"""A test file for one node, as text: the state it was given, what came of it, and how it is called without a store.

Owns the text. It needs pytest, the node's own code, and for a graph LangGraph; nothing of ours. Every name and value
stands in it as a Python literal, whatever is in them.
"""

from __future__ import annotations

import pprint
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from stores.model import Value
from tt_debug.redaction import SHOWN

_WIDTH: Final = 116
_LONGEST: Final = 60  # characters of a name


@dataclass(frozen=True, slots=True)
class NodeTest:
    """What a test of one node says. ``target`` is the function, ``module:name``, or the graph; ``folder`` where it is
    looked for, from the file's own. ``state`` is what the node was given, ``expected`` the whole state after it, or of
    a graph's node what it wrote. ``effects`` are [name, request, result] in order, ``parts`` name → output.
    """

    kind: Literal["workflow", "graph"]
    origin: str
    node: str
    target: str
    folder: str
    state: Value
    expected: Value
    thread: str = ""
    visit: int = 1
    attempt: int = 1
    effects: Sequence[Sequence[Value]] = ()
    parts: Mapping[str, Value] = field(default_factory=dict)
    revealed: bool = False

    @property
    def name(self) -> str:
        """A name that Python and a file system take, for whatever the node is called."""
        plain = re.sub(r"[^0-9a-z]+", "_", self.node.lower(), flags=re.ASCII).strip("_")[:_LONGEST]
        return f"test_{plain or 'node'}"

    @property
    def hides_secrets(self) -> bool:
        """Whether anything in it was left out."""
        return SHOWN in repr((self.state, self.expected, self.effects, self.parts))

    def text(self) -> str:
        """The file."""
        parts = {
            "origin": ascii(self.origin),
            "secrets": self._secrets(),
            "node": ascii(self.node),
            "target": ascii(self.target),
            "folder": ascii(self.folder),
            "state": _literal(self.state),
            "expected": _literal(self.expected),
            "thread": ascii(self.thread),
            "visit": str(self.visit),
            "attempt": str(self.attempt),
            "effects": _literal([list(each) for each in self.effects]),
            "parts": _literal(dict(self.parts)),
            "name": self.name,
        }
        body = _WORKFLOW if self.kind == "workflow" else _GRAPH
        # One pass: what a value holds is never taken for a place to fill in.
        return re.sub(r"<<(\w+)>>", lambda found: parts[found[1]], _HEAD + body)

    def _secrets(self) -> str:
        if self.revealed:
            return "# Written with --reveal: secrets that were stored stand here in clear. Keep the file accordingly."
        if self.hides_secrets:
            return (
                f"# Values kept under names of secrets are left out: the node gets {SHOWN!r} instead, and has to give\n"
                "# that. Where it cannot work so, put values of your own in, or write the file with --reveal."
            )
        return "# Nothing is kept here under the name of a secret; a secret inside some other text is not recognised."


def _literal(value: Value) -> str:
    return pprint.pformat(value, width=_WIDTH, sort_dicts=False)


_HEAD: Final = '''"""A node run alone, on the state that it was given once. Written by `tt-debug export --pytest`.

It fails where the node now gives something else: because its code has changed, or because it is not deterministic.
Edit STATE and EXPECTED as you like: this file is yours.
"""

import copy
import importlib
import sys
from pathlib import Path

import pytest

<<secrets>>

ORIGIN = <<origin>>
NODE = <<node>>
TARGET = <<target>>
FOLDER = (Path(__file__).resolve().parent / <<folder>>).resolve()

STATE = <<state>>

EXPECTED = <<expected>>


def load(target):
    """What `module:name` or `./file.py:name` stands for, looked for in FOLDER first."""
    sys.path.insert(0, str(FOLDER))
    where, _, name = target.rpartition(":")
    if where.endswith(".py"):
        file = (FOLDER / where).resolve()
        sys.path.insert(0, str(file.parent))
        where = file.stem
    found = importlib.import_module(where)
    for part in name.split("."):
        found = getattr(found, part)
    return found
'''

_WORKFLOW: Final = '''

# What the node asked of the world outside, in order: name, request, result. Nothing is called in the test.
EFFECTS = <<effects>>

# What its parts (ctx.substep) had completed before, by name.
PARTS = <<parts>>


class Recorded:
    """What `ctx` is to the node here: it answers from the record."""

    DELETE = object()
    run_id, thread, node, visit, attempt = "recorded", <<thread>>, NODE, <<visit>>, <<attempt>>

    def __init__(self):
        self.left = copy.deepcopy(EFFECTS)
        self.lines = []
        self.parts = []

    def log(self, text):
        self.lines.append(str(text))

    def _answer(self, name, request):
        whole = "/".join([*self.parts, name])
        for place, (known, asked, result) in enumerate(self.left):
            if known == whole:
                assert request == asked, f"{whole} asks for something else than on record"
                del self.left[place]
                return result
        pytest.fail(f"{whole} was not asked for when this was recorded")

    def effect(self, name, fn, request=None, *, cls="at_most_once", probe=None):
        return self._answer(name, request)

    async def aeffect(self, name, fn, request=None, *, cls="at_most_once", probe=None):
        return self._answer(name, request)

    def tx(self, sql, params=()):
        self._answer("tx", {"sql": sql, "params": list(params)})

    def substep(self, name, fn):
        whole = "/".join([*self.parts, name])
        if whole in PARTS:
            return copy.deepcopy(PARTS[whole])
        self.parts.append(name)
        try:
            return finished(fn())
        finally:
            self.parts.pop()

    def now(self):
        from datetime import datetime

        return datetime.fromisoformat(self._answer("now", None))

    def uuid(self):
        return self._answer("uuid", None)

    def random(self):
        return self._answer("random", None)


def finished(value):
    """What an async function comes to."""
    import asyncio
    import inspect

    return asyncio.run(value) if inspect.iscoroutine(value) else value


def called(function, *arguments):
    """With as many of the arguments as it takes, as the executor calls it."""
    import inspect

    kinds = [each.kind for each in inspect.signature(function).parameters.values()]
    taken = sum(kind.name.startswith("POSITIONAL") for kind in kinds)
    if any(kind.name == "VAR_POSITIONAL" for kind in kinds):
        taken = len(arguments)
    return finished(function(*arguments[: max(1, taken)]))


def plain(value):
    """Tuples as lists: the state is JSON."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def <<name>>():
    ctx = Recorded()
    result = called(load(TARGET), copy.deepcopy(STATE), ctx) or {}
    merged = {**STATE, **result}
    assert {key: plain(value) for key, value in merged.items() if value is not ctx.DELETE} == EXPECTED
    assert ctx.left == [], "asked for when this was recorded, and not any more"
'''

_GRAPH: Final = '''

# What the node does outside, it does in this test too: calls of models and tools are made. Patch them where they cost.


def built(value):
    """A value as the graph has it. A class must be one that the graph's own modules have imported."""
    if isinstance(value, list):
        return [built(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$map"}:
        return {built(key): built(item) for key, item in value["$map"]}
    if set(value) == {"$float"}:
        return float(value["$float"])
    if set(value) == {"$type", "value"}:
        module, _, name = value["$type"].rpartition(".")
        kind = getattr(sys.modules.get(module), name, None)
        if kind is None:
            pytest.fail(f"{value['$type']} is not imported by the graph: build this value by hand")
        inner = built(value["value"])
        return kind(**inner) if isinstance(inner, dict) else kind(inner)
    return {key: built(item) for key, item in value.items()}


def plain(value):
    """What `built` built, taken apart again; the other way round for EXPECTED."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return {"$map": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"$float": repr(value)}
    if value is None or isinstance(value, (str, int, float)):
        return value
    fields = value.model_dump() if hasattr(value, "model_dump") else getattr(value, "__dict__", str(value))
    return {"$type": f"{type(value).__module__}.{type(value).__qualname__}", "value": plain(fields)}


def same(given, expected):
    """Whether they are equal, but for ids that are given to messages only when they are stored."""
    if isinstance(given, dict) and isinstance(expected, dict):
        keys = {key for key in given.keys() | expected.keys() if not (key == "id" and given.get("id") is None)}
        return all(key in given and key in expected and same(given[key], expected[key]) for key in keys)
    if isinstance(given, list) and isinstance(expected, list):
        return len(given) == len(expected) and all(map(same, given, expected))
    return given == expected


def written(result):
    """What a node's result writes, by channel."""
    if result is None:
        return {}
    if hasattr(result, "update") and not isinstance(result, dict):
        result = result.update or {}  # a Command
    if hasattr(result, "model_dump"):
        result = result.model_dump(exclude_unset=True)
    return plain(dict(result))


def graph_of(target):
    """The compiled graph: a builder is compiled, a factory called."""
    found = load(target)
    if not hasattr(found, "nodes") and callable(found):
        found = found()
    return found.compile() if hasattr(found, "compile") else found


def <<name>>():
    node = graph_of(TARGET).nodes[NODE]
    given = built(copy.deepcopy(STATE))
    given = node.mapper(given) if getattr(node, "mapper", None) else given
    result = written(node.invoke(given, {"configurable": {"thread_id": "test"}}))
    assert same(result, EXPECTED), f"{result} is not {EXPECTED}"
'''
