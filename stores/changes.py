"""Applying changes to a value: the one meaning of a `stores.model.Change`, for stores, diffs and edits alike.

Never mutates what it is given and shares every untouched part with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stores.errors import Invalid
from stores.model import Change, Path, Tagged, Value
from stores.paths import format_path, has_key


def apply_changes(value: Value, changes: Iterable[Change]) -> Value:
    """``value`` after ``changes``, in order.

    A `Tagged` on the way gets a new payload under the same class. Raises Invalid, naming the path, when a
    change does not apply: nothing there to change or remove, a key to add that is there, a position past the end.
    ``Change.old`` is not compared with what is there.
    """
    draft = _Draft(value)
    for change in changes:
        draft.apply(change)
    return draft.root


class _Draft:
    """A value being changed. Containers are copied the first time a change reaches them, then changed in place,
    so that many changes cost one copy of what they touch."""

    def __init__(self, value: Value) -> None:
        self.root = value
        # By id of the value; holding the value itself keeps that id from being reused.
        self._owned: dict[int, tuple[Value, Any]] = {}

    def apply(self, change: Change) -> None:
        if change.op == "move":
            if change.source is None:
                raise Invalid(f"a move to {_name(change.path)} does not say from where")
            if change.path[: len(change.source)] == change.source and change.path != change.source:
                raise Invalid(f"cannot move {_name(change.source)} into itself")
            self._add(change.path, self._remove(change.source))
        elif change.op == "add":
            self._add(change.path, change.new)
        elif change.op == "remove":
            self._remove(change.path)
        elif not change.path:
            self.root = change.new
        else:
            container, step = self._open(change.path), change.path[-1]
            _check_present(container, change.path)
            container[step] = change.new

    def _add(self, path: Path, value: Value) -> None:
        if not path:
            self.root = value
            return
        container, step = self._open(path), path[-1]
        if isinstance(container, list):
            if type(step) is not int or not 0 <= step <= len(container):
                raise Invalid(f"cannot insert at {_name(path)}: the list has {len(container)} elements")
            container.insert(step, value)
        else:
            if step in container:
                raise Invalid(f"cannot add {_name(path)}: it is already there")
            container[step] = value

    def _remove(self, path: Path) -> Value:
        if not path:
            taken, self.root = self.root, None
            return taken
        container = self._open(path)
        _check_present(container, path)
        return container.pop(path[-1])

    def _open(self, path: Path) -> Any:
        """The list or dict that holds the last step of ``path``, safe to change in place."""
        self.root, container = self._own(self.root, path, 0)
        for depth, step in enumerate(path[:-1], start=1):
            _check_present(container, path[:depth])
            container[step], container = self._own(container[step], path, depth)
        return container

    def _own(self, value: Value, path: Path, depth: int) -> tuple[Value, Any]:
        """``value`` with a payload of our own, and that payload."""
        if id(value) in self._owned:
            return self._owned[id(value)]
        wrappers: list[Tagged] = []
        payload = value
        while isinstance(payload, Tagged):
            wrappers.append(payload)
            payload = payload.value
        if isinstance(payload, Mapping):
            payload = dict(payload)
        elif isinstance(payload, list):
            payload = list(payload)
        else:
            kind = type(payload).__name__
            raise Invalid(f"cannot reach {_name(path)}: {_name(path[:depth])} is {kind}, which has no parts")
        owned: Value = payload
        for wrapper in reversed(wrappers):
            owned = wrapper.with_value(owned)
        self._owned[id(owned)] = (owned, payload)
        return owned, payload


def _check_present(container: Any, path: Path) -> None:
    step = path[-1]
    if isinstance(container, list):
        if type(step) is not int or not 0 <= step < len(container):
            raise Invalid(f"nothing at {_name(path)}: the list has {len(container)} elements")
    elif not has_key(container, step):
        raise Invalid(f"nothing at {_name(path)}")


def _name(path: Path) -> str:
    return format_path(path) or "the whole state"
