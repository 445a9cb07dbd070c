"""Which way out of a step matches a state: edges with JMESPath conditions, tried in order. Never evaluates code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stores.model import Value


class NoMatch(Exception):
    """No edge matches, or a condition cannot be evaluated; the text says which."""


def first_match(edges: Iterable[tuple[str | None, str | None]], state: Mapping[str, Value]) -> str | None:
    """The target of the first edge ``(when, to)`` that matches; None ends the line. Raises NoMatch.

    An edge without a condition matches. A condition is true by JMESPath's rules: null, false, and empty texts,
    lists and mappings are false, 0 is true.
    """
    tried: list[str] = []
    for when, to in edges:
        if when is None or _holds(when, state):
            return to
        tried.append(repr(when))
    raise NoMatch(f"no edge matches the state (tried {', '.join(tried) or 'none'})")


def _holds(condition: str, state: Mapping[str, Value]) -> bool:
    import jmespath  # 12 ms, and most edges have no condition

    try:
        found = jmespath.search(condition, state)
    # jmespath lets Python's own errors through: TypeError for "a" > 1, AttributeError and RecursionError elsewhere.
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise NoMatch(f"the condition {condition!r} cannot be evaluated: {error}") from error
    return not (found is None or found is False or found == "" or found == [] or found == {})
