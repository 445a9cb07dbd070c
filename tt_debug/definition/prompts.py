"""Prompts with names in braces: ``Plan {city}`` and ``Day {plan.days[0].name}``, filled from a state.

Owns the syntax ({{ and }} are literal braces; inside stands a path or any JMESPath expression). Never evaluates code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import jmespath
from jmespath.exceptions import JMESPathError

from stores.model import Value

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class MissingName(LookupError):
    """A name in a prompt that the state does not have."""


def prompt_faults(prompt: str) -> Iterator[str]:
    """Why a prompt could never be filled, one phrase each."""
    for match in _PART.finditer(prompt):
        if match[0] in ("{{", "}}"):
            continue
        if match[1] is None:
            yield f"has a lone {match[0]} at {match.start()}: write {match[0] * 2} for the character itself"
        else:
            yield from _expression_faults(match[1])


def _expression_faults(expression: str) -> Iterator[str]:
    try:
        jmespath.compile(expression)
    except JMESPathError as error:
        why = str(error).splitlines()[0]
        yield f"has {{{expression}}}, which names nothing ({why}): write {{{{ and }}}} for literal braces"


def fill(prompt: str, state: Mapping[str, Value]) -> str:
    """The prompt with every name replaced by its text; values other than text are written as JSON.

    Raises MissingName for a name that the state does not have, or an expression that gives nothing.
    """
    return _PART.sub(lambda match: _replacement(match, state), prompt)


def _replacement(match: re.Match[str], state: Mapping[str, Value]) -> str:
    if match[1] is None:
        return match[0][0]
    value = _lookup(match[1], state)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lookup(expression: str, state: Mapping[str, Value]) -> Value:
    if _NAMES.fullmatch(expression):
        return _walk(expression, state)
    try:
        value = jmespath.search(expression, state)
    # jmespath lets Python's own errors through: TypeError for "a" > 1, AttributeError and RecursionError elsewhere.
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise MissingName(f"{{{expression}}}: {error}") from error
    if value is None:
        raise MissingName(f"{{{expression}}} gives nothing in this state")
    return value


def _walk(dotted: str, state: Mapping[str, Value]) -> Value:
    """JMESPath gives null both for a missing name and for null; a prompt must tell them apart."""
    value: Value = state
    for name in dotted.split("."):
        if not isinstance(value, Mapping) or name not in value:
            known = ", ".join(sorted(map(str, value))[:12]) if isinstance(value, Mapping) else type(value).__name__
            raise MissingName(f"{{{dotted}}}: the state has no {name!r} there (it has {known or 'nothing'})")
        value = value[name]
    return value
