"""Expressions a user types, asked of states: JMESPath and nothing else, never ``eval``.

Owns compiling and asking once; which states are asked is up to the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from stores.model import Path, Value
from tt_debug.errors import UsageError
from tt_debug.values import Payloads, plain

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_LITERAL: Final = 2000
"""Characters of a value that is asked for."""
_CARET = re.compile(r"\n\s*\^\s*$")  # points into the line above it, which one line cannot show


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression and the text it came from. ``reads`` are the keys of a state that it can look at, None for
    all of them."""

    text: str
    _ask: Callable[[Mapping[str, Value]], Value]
    _errors: type[Exception]
    reads: frozenset[str] | None = None


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
        return Expression(text, partial(TreeInterpreter().visit, tree), JMESPathError, _reads(tree))
    except JMESPathError as error:
        said = _CARET.sub("", str(error)).replace("\n", " ").strip()
        raise UsageError(f"{text!r} is not a JMESPath expression: {said}", hint=_hint(text)) from error
    except RecursionError:
        raise UsageError("the expression is nested too deeply") from None


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
    known of them. ``known`` as in `tt_debug.values.plain`."""
    try:
        return expression._ask(plain(state, known))
    except expression._errors as error:
        return Failed(str(error).replace("\n", " "))
    except (TypeError, AttributeError, RecursionError) as error:
        # jmespath's comparisons and functions raise these on values of kinds they do not expect.
        return Failed(f"{type(error).__name__}: {error}")


def holds(answer: Value | Failed) -> bool:
    """Whether an answer counts as true: as in JMESPath, not null, false, or empty. A failed one does not."""
    return not isinstance(answer, Failed) and (answer == 0 if type(answer) in (int, float) else bool(answer))
