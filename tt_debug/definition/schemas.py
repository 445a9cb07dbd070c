"""Checking a value against a JSON Schema: states, edits, answers. Owns the wording of the fault.

A schema may come from a stranger's file: nothing that it refers to is fetched from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stores.model import Value


class BadSchema(Exception):
    """A schema that cannot be applied: it is none, refers to what is not in it, or goes round in circles."""


def schema_fault(schema: Mapping[str, Value], value: Value) -> str | None:
    """Where and why ``value`` breaks ``schema`` (draft 2020-12), or None. Raises BadSchema."""
    from jsonschema import Draft202012Validator, SchemaError  # 90 ms, and most workflows have no schema
    from jsonschema.exceptions import best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
        # An empty registry: the default one would ask the network for what is not there.
        error = best_match(Draft202012Validator(schema, registry=Registry()).iter_errors(value))
    except SchemaError as error:
        raise BadSchema(f"is not a JSON Schema: {error.message}") from error
    except Unresolvable as error:
        raise BadSchema(f"refers to {error.ref!r}, which is not in it") from error
    except RecursionError as error:
        raise BadSchema("refers to itself without end") from error
    if error is None:
        return None
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {error.message}" if where else str(error.message)


def dangling(schema: Mapping[str, Value]) -> Iterator[str]:
    """What a valid schema refers to and does not hold. Says nothing of one that names its parts by ``$id``."""
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    named = dict(_keywords(schema))
    if "$id" in named:
        return
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for keyword, target in _keywords(schema):
        try:
            if keyword == "$ref":
                resolver.lookup(target)
        except Unresolvable:
            yield target


def _keywords(schema: Value) -> Iterator[tuple[str, str]]:
    """The references and names in a schema, wherever they stand."""
    for part in schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ():
        yield from _keywords(part)
    if isinstance(schema, Mapping):
        yield from ((key, schema[key]) for key in ("$ref", "$id") if isinstance(schema.get(key), str))
