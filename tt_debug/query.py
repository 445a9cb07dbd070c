"""Expressions a user types, asked of states: JMESPath and nothing else, never ``eval``.

Owns compiling and asking once; which states are asked is up to the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from stores.model import MISSING, Opaque, Partial, Path, Value
from stores.paths import format_path, has_key, unwrap
from tt_debug.errors import UsageError
from tt_debug.values import Payloads, plain

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_LITERAL: Final = 2000
"""Characters of a value that is asked for."""
_CARET = re.compile(r"\n\s*\^\s*$")  # points into the line above it, which one line cannot show


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression and the text it came from. ``reads`` are the keys of a state that it can look at, None for
    all of them. ``path`` is the way it takes where it is nothing but a path, whose positions may count from the end."""

    text: str
    _ask: Callable[[Mapping[str, Value]], Value]
    _errors: type[Exception]
    reads: frozenset[str] | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer of an expression that does not fit a state: ``length()`` of a number, say. A value, not an exception:
    the next state may answer."""

    reason: str


def compile_expr(text: str) -> Expression:
    """Raises UsageError, showing where, for what is not JMESPath."""
    import jmespath  # 12 ms
    from jmespath.exceptions import JMESPathError
    from jmespath.visitor import TreeInterpreter

    try:
        tree = jmespath.compile(text).parsed
        # One interpreter for all states: to make it takes longer than most expressions do.
        return Expression(text, partial(TreeInterpreter().visit, tree), JMESPathError, _reads(tree), _path(tree))
    except JMESPathError as error:
        said = _CARET.sub("", str(error)).replace("\n", " ").strip()
        raise UsageError(f"{text!r} is not a JMESPath expression: {said}", hint=_hint(text)) from error
    except RecursionError:
        raise UsageError("the expression is nested too deeply") from None


def check_condition(text: str) -> None:
    """Raises UsageError as `compile_expr`, and for a function that JMESPath does not have.

    Asked about a history, such an expression has no answer anywhere; a run would only be stopped by it later."""
    import jmespath

    compile_expr(text)
    unknown = next(_unknown_functions(jmespath.compile(text).parsed), None)
    if unknown is not None:
        raise UsageError(f"{text!r} calls {unknown}(), which JMESPath does not have", hint=_hint(text))


_ON_THE_LEFT: Final = frozenset(
    {"subexpression", "index_expression", "pipe", "projection", "value_projection", "filter_projection", "flatten"}
)
"""Nodes of jmespath's tree of which only the first part is asked of the state, the others of what that answers."""


def _reads(node: Mapping[str, Any]) -> frozenset[str] | None:
    """The keys that a node asks the state for; None where it looks at the whole."""
    if node["type"] == "field":
        return frozenset({node["value"]})
    if node["type"] in ("current", "identity"):
        return None
    parts = node["children"][:1] if node["type"] in _ON_THE_LEFT else node["children"]
    found = [_reads(part) for part in parts]
    return None if None in found else frozenset().union(*(keys for keys in found if keys is not None))


def _unknown_functions(node: Mapping[str, Any]) -> Iterator[str]:
    from jmespath.functions import Functions

    if node["type"] == "function_expression" and node["value"] not in Functions.FUNCTION_TABLE:
        yield node["value"]
    for part in node["children"]:
        yield from _unknown_functions(part)


def _path(node: Mapping[str, Any]) -> Path | None:
    """The path that a node of jmespath's tree is; None where it is more than that."""
    if node["type"] in ("field", "index"):
        return (node["value"],)
    if node["type"] == "identity":
        return ()
    if node["type"] not in ("subexpression", "index_expression"):
        return None
    parts = [_path(part) for part in node["children"]]
    return None if None in parts else tuple(step for part in parts if part is not None for step in part)


def expression_of(path: Path) -> str:
    """The expression that answers with the value at ``path``."""
    found = ""
    for step in path:
        if isinstance(step, int):
            found += f"[{step}]"
        else:
            found += ("." if found else "") + (step if _BARE.fullmatch(step) else json.dumps(step))
    return found


def equality_of(path: Path, state: Mapping[str, Value]) -> str:
    """The expression that holds where ``path`` has the value that it has in ``state``.

    Raises UsageError for a value that no expression of a sensible length can name.
    """
    text = expression_of(path)
    value = evaluate(compile_expr(text), state) if text else plain(state)
    try:
        literal = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        literal = ""
    if not text or not literal or len(literal) > LONGEST_LITERAL:
        raise UsageError(
            "this value is too long, or of a kind, to be written in an expression",
            hint="go to a value inside it, or ask with an expression of your own",
        )
    if isinstance(value, str) and value.isprintable() and not set(value) & {"'", "\\"}:
        return f"{text} == '{value}'"
    escaped = literal.replace("`", "\\`")
    return f"{text} == `{escaped}`"


def _hint(text: str) -> str:
    if "==" in text or "!=" in text or "'" in text or '"' in text:
        return """texts are written 'draft', numbers `3`, keys with signs in them "odd.key": plan.status == 'draft'"""
    return "see https://jmespath.org: plan.status == 'draft', length(messages) > `3`, messages[-1].content"


def evaluate(expression: Expression, state: Mapping[str, Value], known: Payloads | None = None) -> Value | Failed:
    """What the expression says of a state. A value of a class answers as its payload, undecoded bytes by what is
    known of them. JMESPath has null for what is not there: of a plain path the answer is MISSING then, and a failure
    where the path leads into what nobody knows. ``known`` as in `tt_debug.values.plain`."""
    # Of a large state most is not asked for, and need not be made plain.
    asked = state if expression.reads is None else {key: state[key] for key in expression.reads if key in state}
    try:
        answer = expression._ask(plain(asked, known))
        return answer if answer is not None or expression.path is None else _null(expression.path, state)
    except expression._errors as error:
        return Failed(str(error).replace("\n", " "))
    except (TypeError, AttributeError, RecursionError) as error:
        # jmespath's comparisons and functions raise these on values of kinds they do not expect.
        return Failed(f"{type(error).__name__}: {error}")


def _null(path: Path, state: Mapping[str, Value]) -> Value | Failed:
    """What jmespath's null stands for at the end of a path: a null, nothing, or something unknown."""
    value: Value = state
    for depth, step in enumerate(path):
        value = unwrap(value)
        if isinstance(value, Opaque | Partial):
            how = "not decoded" if isinstance(value, Opaque) else "known in part only"
            return Failed(f"{format_path(path[:depth])} is {how}")
        if isinstance(value, Mapping):
            is_there = isinstance(step, str) and has_key(value, step)
        else:
            is_there = isinstance(value, list | tuple) and isinstance(step, int) and -len(value) <= step < len(value)
        if not is_there:
            return MISSING
        value = value[step]
    return None


def holds(answer: Value | Failed) -> bool:
    """Whether an answer counts as true: as in JMESPath, not null, missing, false, or empty. A failed one does not."""
    return not isinstance(answer, Failed) and (answer == 0 if type(answer) in (int, float) else bool(answer))
