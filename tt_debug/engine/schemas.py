"""Checking a value against a JSON Schema of a definition: states, edits, answers. Owns the wording of the fault."""

from __future__ import annotations

from collections.abc import Mapping

from stores.model import Value


def schema_fault(schema: Mapping[str, Value], value: Value) -> str | None:
    """Where and why ``value`` breaks ``schema`` (draft 2020-12), or None."""
    from jsonschema import Draft202012Validator  # 90 ms, and most workflows have no schema
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is None:
        return None
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {error.message}" if where else str(error.message)
