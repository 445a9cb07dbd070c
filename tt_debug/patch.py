"""Edits as people write them, turned into changes: ``P=JSON``, ``P[+]=JSON``, a path to remove, RFC 6902 operations.

Reads each against the state it is for and says what does not fit; applying the changes is `stores.changes`.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stores.changes import apply_changes
from stores.errors import Invalid
from stores.model import MISSING, Change, Diff, Path, Value
from stores.paths import (
    format_path,
    format_pointer,
    get_path,
    has_key,
    parse_path,
    parse_pointer,
    scan_path,
    settle_path,
    unwrap,
)
from tt_debug.errors import UsageError
from tt_debug.values import JSON, from_json, to_json


def read_json(text: str) -> JSON:
    """JSON text as it stands: what a number would lose, and a key that is there twice, raise ValueError."""

    def once(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            raise ValueError(f"the key {json.dumps(next(key for key in keys if keys.count(key) > 1))} is there twice")
        return found

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise ValueError(f'{number} is no JSON number: write {{"$float": "{value!r}"}}')
        return value

    return json.loads(text, object_pairs_hook=once, parse_float=finite, parse_constant=finite)


def parse_set(text: str, state: Value) -> Change:
    """``P=JSON`` gives the path a value, ``P[+]=JSON`` appends to the list at P.

    A key may be new where its dict is there. Raises UsageError: no such place, or text that is not JSON, with the
    right quoting as the hint.
    """
    written, appends, value_text = _split(text)
    path = settle_path(state, _read_path(written))
    try:
        obj = read_json(value_text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{written} is given {value_text!r}, which is not JSON: {error}", hint=_quoting(text)
        ) from error
    if appends:
        return _appended(state, path, from_json(obj, MISSING, state))
    if not path:
        raise UsageError("the whole state cannot be given a value", hint="name a key: --set 'name=…'")
    container, step = _container(state, path), path[-1]
    if isinstance(container, list):
        if step == len(container) or step == "-":
            return _appended(state, path[:-1], from_json(obj, MISSING, state))
        if type(step) is not int or not 0 <= step < len(container):
            raise UsageError(f"nothing at {format_path(path)}: the list has {len(container)} elements")
    elif not has_key(container, step):
        return Change("add", path, new=from_json(obj, MISSING, state))
    old = container[step]
    return Change("change", path, old, from_json(obj, old, state))


def _split(text: str) -> tuple[str, bool, str]:
    """The path, whether it ends in ``[+]``, and the JSON text after the equals sign."""
    if text.startswith("/"):
        written, equals, value = text.partition("=")
        if equals:
            return written, False, value
    else:
        try:
            _, end = scan_path(text)
        except ValueError as error:
            raise UsageError(str(error)) from error
        appends = text.startswith("[+]", end)
        after = end + 3 * appends
        if text.startswith("=", after):
            return text[:end], appends, text[after + 1 :]
        if "=" in text[after:]:
            parse = text[after:].partition("=")[0]
            raise UsageError(f"unexpected {parse[:1]!r} at position {after + 1} of {text!r}", hint=_odd_keys(text))
    raise UsageError(f"expected P=JSON, got {text!r}", hint="""--set 'plan.steps[2]="budget"'""")


def _odd_keys(text: str) -> str:
    return f"""a key with signs in it is quoted: {shlex.quote('["odd key"]=' + text.partition("=")[2])}"""


def _quoting(text: str) -> str:
    path, _, value = text.partition("=")
    quoted = shlex.quote(f"{path}={json.dumps(value, ensure_ascii=False)}")
    return f"text is quoted twice, for JSON and for the shell: --set {quoted}"


def _read_path(written: str) -> Path:
    try:
        return parse_path(written)
    except ValueError as error:
        raise UsageError(str(error), hint="""a PATH is plan.steps[2]["odd.key"], or /plan/steps/2""") from error


def _container(state: Value, path: Path) -> Any:
    """What holds the last step of ``path``. Raises UsageError when it is not there or has no parts."""
    try:
        container = unwrap(get_path(state, path[:-1]))
    except LookupError as error:
        raise UsageError(str(error.args[0])) from error
    if not isinstance(container, Mapping | list):
        where = format_path(path[:-1]) or "the state"
        raise UsageError(f"nothing below {where}: it is {_kind(container)}")
    return container


def _appended(state: Value, path: Path, value: Value) -> Change:
    try:
        items = unwrap(get_path(state, path))
    except LookupError as error:
        raise UsageError(str(error.args[0]), hint=f"--set '{format_path(path)}=[…]' makes the list") from error
    if not isinstance(items, list):
        raise UsageError(f"cannot append to {format_path(path) or 'the state'}: it is {_kind(items)}, not a list")
    return Change("add", (*path, len(items)), new=value)


def _kind(value: Value) -> str:
    names = {
        dict: "an object",
        str: "text",
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), type(value).__name__)


def parse_unset(text: str, state: Value) -> Change:
    """Take away what lies at a written path. Raises UsageError when nothing does."""
    path = settle_path(state, _read_path(text))
    if not path:
        raise UsageError("the whole state cannot be taken away")
    try:
        return Change("remove", path, old=get_path(state, path))
    except LookupError as error:
        raise UsageError(str(error.args[0])) from error


def to_json_patch(changes: Sequence[Change], old: Value) -> list[dict[str, JSON]]:
    """The changes of ``old`` as RFC 6902 operations, which keep no old values.

    Raises Invalid for a key that a pointer cannot name, or would name as another: the number 1 beside the text "1".
    """
    operations = [_operation(change) for change in changes]
    for at, change in enumerate(changes):
        places = [change.path] if change.source is None else [change.source, change.path]
        for place in places:
            meant = parse_pointer(format_pointer(place))
            # A place that reads otherwise in the first state may be plain in the one that the operation meets.
            if settle_path(old, meant) != place and settle_path(apply_changes(old, changes[:at]), meant) != place:
                key, where = format_path(place[-1:]), format_path(place[:-1]) or "the state"
                raise Invalid(
                    f"a JSON patch cannot tell the number in {key} from its text, as a key of {where}",
                    hint="--json keeps the type of every key",
                )
    return operations


def _operation(change: Change) -> dict[str, JSON]:
    try:
        path = format_pointer(change.path)
        source = format_pointer(change.source or ())
    except ValueError as error:
        raise Invalid(str(error)) from error
    if change.op == "move":
        return {"op": "move", "from": source, "path": path}
    if change.op == "remove":
        return {"op": "remove", "path": path}
    return {"op": "add" if change.op == "add" else "replace", "path": path, "value": to_json(change.new)}


def from_json_patch(operations: Sequence[JSON], state: Value) -> Diff:
    """RFC 6902 operations as changes of ``state``, each read against what those before it left.

    ``copy`` becomes an add, and an ``add`` that replaces a change; ``test`` leaves nothing. Raises UsageError for an
    operation that is not well formed, Invalid for one that does not apply or a ``test`` that fails.
    """
    changes: list[Change] = []
    for number, operation in enumerate(operations):
        found = _Step(operation, number, state).changes()
        state = apply_changes(state, found)
        changes.extend(found)
    return tuple(changes)


class _Step:
    """One operation against the state it meets."""

    def __init__(self, operation: JSON, number: int, state: Value) -> None:
        self._state = state
        self._label = f"operation {number + 1}"
        if not isinstance(operation, dict):
            raise UsageError(f"{self._label} is not an object", hint='{"op": "replace", "path": "/a", "value": 1}')
        self._operation = operation
        self._label += f" ({operation.get('op')} {operation.get('path')})"

    def changes(self) -> Sequence[Change]:
        """What the operation changes; nothing for a test that holds."""
        steps: dict[str, Callable[[], Sequence[Change]]] = {
            "add": lambda: self._put(lambda old: from_json(self._member("value"), old, self._state)),
            "replace": self._replace,
            "remove": lambda: [Change("remove", self._path("path"), old=self._get("path"))],
            "move": self._move,
            "copy": lambda: self._put(lambda _: self._get("from")),
            "test": self._test,
        }
        op = self._operation.get("op")
        if not isinstance(op, str) or op not in steps:
            raise UsageError(f"{self._label}: op is one of {', '.join(steps)}")
        return steps[op]()

    def _member(self, name: str) -> JSON:
        if name not in self._operation:
            raise UsageError(f"{self._label} has no {name!r}")
        return self._operation[name]

    def _path(self, name: str, state: Value = MISSING) -> Path:
        """The place a pointer names in ``state``; ``-`` is the end of a list."""
        written = self._member(name)
        try:
            path = parse_pointer(written) if isinstance(written, str) else None
        except ValueError as error:
            raise UsageError(f"{self._label}: {error}") from error
        if path is None:
            raise UsageError(f"{self._label}: {name!r} is not text")
        state = self._state if state is MISSING else state
        path = settle_path(state, path)
        if path and path[-1] == "-":
            try:
                items = unwrap(get_path(state, path[:-1]))
            except LookupError as error:
                raise Invalid(f"{self._label}: {error.args[0]}") from error
            if isinstance(items, list):
                return (*path[:-1], len(items))
        return path

    def _get(self, name: str) -> Value:
        try:
            return get_path(self._state, self._path(name))
        except LookupError as error:
            raise Invalid(f"{self._label}: {error.args[0]}") from error

    def _replace(self) -> Sequence[Change]:
        old = self._get("path")
        return [Change("change", self._path("path"), old, from_json(self._member("value"), old, self._state))]

    def _put(self, make: Callable[[Value], Value]) -> Sequence[Change]:
        path = self._path("path")
        old = _occupant(self._state, path)
        new = make(old)
        return [Change("add", path, new=new) if old is MISSING else Change("change", path, old, new)]

    def _move(self) -> Sequence[Change]:
        source, value = self._path("from"), self._get("from")
        without = apply_changes(self._state, [Change("remove", source, old=value)])
        path = self._path("path", without)
        if path == source:
            return []
        if path[: len(source)] == source:
            raise Invalid(f"{self._label}: a value cannot be moved into itself")
        if source[: len(path)] == path:
            return [Change("change", path, get_path(self._state, path), value)]
        old = _occupant(without, path)
        gone = [] if old is MISSING else [Change("remove", path, old=old)]
        return [*gone, Change("move", path, value, value, source)]

    def _test(self) -> Sequence[Change]:
        found, wanted = to_json(self._get("path")), self._member("value")
        if not _equal_json(found, wanted):
            raise Invalid(f"{self._label} fails: there is {json.dumps(found)[:80]}, not {json.dumps(wanted)[:80]}")
        return []


def _occupant(state: Value, path: Path) -> Value:
    """What an add at ``path`` replaces: a dict's value or the whole state; a list makes room instead."""
    if path:
        try:
            container = unwrap(get_path(state, path[:-1]))
        except LookupError:
            return MISSING
        if not isinstance(container, Mapping) or not has_key(container, path[-1]):
            return MISSING
        return container[path[-1]]
    return state


def _equal_json(a: JSON, b: JSON) -> bool:
    """RFC 6902 §4.6: the same type, and numbers by their value."""
    todo = [(a, b)]
    while todo:
        a, b = todo.pop()
        if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
            todo.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            todo.extend(zip(a, b, strict=True))
        elif a is not b and (a != b or isinstance(a, bool) or isinstance(b, bool)):
            return False
    return True
