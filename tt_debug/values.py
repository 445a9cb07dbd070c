"""Values as JSON and back, without loss where JSON has no word for them, and their equality.

Owns the ``$``-forms of ``--json``: ``{"$type", "value"}``, ``{"$opaque", "size", "sha256"}``, ``{"$partial"}``,
``{"$map"}`` (keys that are not text), ``{"$float"}``, ``{"$redacted"}``, ``{"$blob", "size"}`` (`stores.blobs`). Bytes
on disk are the codecs' business.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from stores import blobs
from stores.blobs import Blob
from stores.model import MISSING, Opaque, Partial, Path, Tagged, Value
from stores.paths import format_path, has_key
from tt_debug.equality import ATOMS
from tt_debug.equality import strict_equal as strict_equal
from tt_debug.errors import UsageError
from tt_debug.redaction import Hidden

JSON: TypeAlias = Any
"""None, bool, int, finite float, str, list of JSON, dict of str to JSON."""

_FORMS = ("$type", "$opaque", "$partial", "$map", "$float", "$redacted", blobs.KEY)
_PLAIN = frozenset({type(None), bool, int, str})


def to_json(value: Value) -> JSON:
    """The value in JSON types; `from_json` reads it back. A dict that only looks like a ``$``-form becomes a ``$map``.

    Never recursive: a state may be nested as deep as its store allows.
    """
    box: list[JSON] = [None]
    todo: list[tuple[Value, Any, Any]] = [(value, box, 0)]
    while todo:
        value, holder, place = todo.pop()
        if type(value) in _PLAIN:
            holder[place] = value
        elif isinstance(value, Mapping):
            holder[place] = out = _shell(value)
            inner: Any = out["$map"] if _needs_map(value) else out
            for index, (key, item) in enumerate(value.items()):
                todo.append((item, inner[index], 1) if inner is not out else (item, out, key))
                if inner is not out:
                    todo.append((key, inner[index], 0))
        elif isinstance(value, list | tuple):
            items: list[JSON] = [None] * len(value)
            holder[place] = items
            todo.extend((item, items, index) for index, item in enumerate(value))
        else:
            holder[place] = _odd_to_json(value, todo)
    return box[0]


def _shell(mapping: Mapping[Any, Value]) -> dict[str, JSON]:
    """An object with its keys in order and its values still to be filled in."""
    if _needs_map(mapping):
        return {"$map": [[None, None] for _ in mapping]}
    return dict.fromkeys(mapping)


def _needs_map(mapping: Mapping[Any, Value]) -> bool:
    return any(type(key) is not str or (key[:1] == "$" and key in _FORMS) for key in mapping)


def _odd_to_json(value: Value, todo: list[tuple[Value, Any, Any]]) -> JSON:
    """What is neither plain nor a container; parts of it are put on ``todo``."""
    out: dict[str, JSON]
    if isinstance(value, Tagged):
        out = {"$type": value.type_name, "value": None}
        todo.append((value.value, out, "value"))
        return out
    if isinstance(value, Partial):
        out = {"$partial": {"seed": None, "writes": None}}
        todo += [(value.writes, out["$partial"], "writes")]
        if value.seed is MISSING:
            del out["$partial"]["seed"]
        else:
            todo.append((value.seed, out["$partial"], "seed"))
        return out
    if isinstance(value, Hidden):
        return {"$redacted": value.kind}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(float(value))}
    if isinstance(value, bytes | bytearray | memoryview):
        value = Opaque("bytes", bytes(value))
    if isinstance(value, Blob):
        return blobs.form_of(value)
    if isinstance(value, Opaque):
        return {"$opaque": value.kind, "size": value.size, "sha256": value.digest}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    return {"$type": f"{type(value).__module__}.{type(value).__qualname__}", "value": str(value)}


def from_json(obj: JSON, like: Value = MISSING, kin: Value = MISSING) -> Value:
    """The value that `to_json` wrote as ``obj``.

    ``like`` is the value that stands at this place now: what is unchanged is that very object, so that its bytes
    are kept, and a ``$type`` takes its class from it. Failing that, a class and opaque bytes are looked for in all
    of ``like`` and of ``kin``, the values around. Raises UsageError for a malformed ``$``-form and for bytes found
    nowhere.
    """
    try:
        return _Reader((like, kin)).read(obj, like, ())
    except RecursionError:
        raise UsageError("the value is nested too deeply to be read") from None


class _Reader:
    """One reading of a JSON value against the value it replaces."""

    def __init__(self, around: tuple[Value, ...]) -> None:
        self._around = around
        self._kin: dict[tuple[str, str], Value] | None = None

    def read(self, obj: JSON, like: Value, path: Path) -> Value:
        if isinstance(obj, list):
            return self._read_list(obj, like, path)
        if not isinstance(obj, dict):
            return like if strict_equal(obj, like) else obj
        for form in _FORMS:
            if form in obj:
                return getattr(self, f"_read_{form[1:]}")(obj, like, path)
        return self._read_dict(obj.items(), like, path)

    def _read_list(self, obj: list[JSON], like: Value, path: Path) -> Value:
        old = like if type(like) is list else []
        new: list[Value] = []
        same = type(like) is list and len(old) == len(obj)
        for index, item in enumerate(obj):
            value = self.read(item, old[index] if index < len(old) else MISSING, (*path, index))
            same = same and value is old[index]
            new.append(value)
        return like if same else new

    def _read_dict(self, items: Any, like: Value, path: Path) -> Value:
        old = like if isinstance(like, dict) else {}
        new: dict[Any, Value] = {}
        same = like is old and len(items) == len(old)
        for key, item in items:
            was = old[key] if has_key(old, key) else MISSING
            new[key] = self.read(item, was, (*path, key))
            same = same and new[key] is was
        return like if same else new

    def _read_map(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        pairs = obj["$map"]
        if len(obj) != 1 or not isinstance(pairs, list) or any(type(p) is not list or len(p) != 2 for p in pairs):
            raise _malformed("$map", '{"$map": [[key, value], …]}', path)
        keys = [self.read(key, MISSING, path) for key, _ in pairs]
        keys = [tuple(key) if isinstance(key, list) else key for key in keys]
        try:
            if len(set(keys)) < len(keys):
                raise UsageError(f"two keys of the $map at {format_path(path) or 'the top'} are the same key")
        except TypeError:
            raise _malformed("$map", "keys that are text, numbers, true, false, null or lists of those", path) from None
        return self._read_dict([(key, pair[1]) for key, pair in zip(keys, pairs, strict=True)], like, path)

    def _read_type(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        name = obj["$type"]
        if set(obj) != {"$type", "value"} or not isinstance(name, str):
            raise _malformed("$type", '{"$type": "module.Class", "value": …}', path)
        if isinstance(like, Tagged) and like.type_name == name:
            payload = self.read(obj["value"], like.value, path)
            return like if payload is like.value or strict_equal(payload, like.value) else like.with_value(payload)
        kin = self._find("$type", name)
        payload = self.read(obj["value"], MISSING, path)
        return kin.with_value(payload) if isinstance(kin, Tagged) else Tagged(name, payload)

    def _read_opaque(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        kind, digest = obj["$opaque"], obj.get("sha256")
        if not isinstance(kind, str) or not isinstance(digest, str):
            raise _malformed("$opaque", '{"$opaque": kind, "size": n, "sha256": …}', path)
        if _opaque_name(like) == (kind, digest):
            return like
        kin = self._find(kind, digest)
        if kin is None:
            raise UsageError(
                f"the bytes of the $opaque value at {format_path(path) or 'the top'} are not here: "
                "an undecoded value can be kept, moved or removed, not typed in"
            )
        return kin

    def _read_blob(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        digest = obj[blobs.KEY]
        if isinstance(like, Blob) and like.digest == digest:
            return like
        kin = self._find("bytes", digest) if isinstance(digest, str) else None
        return obj if kin is None else kin  # a store that has the bytes knows them by this; none other takes it

    def _read_partial(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        parts = obj["$partial"]
        if len(obj) != 1 or not isinstance(parts, dict) or not isinstance(parts.get("writes"), list):
            raise _malformed("$partial", '{"$partial": {"seed": …, "writes": […]}}', path)
        old = like if isinstance(like, Partial) else Partial(MISSING, ())
        seed = self.read(parts["seed"], old.seed, path) if "seed" in parts else MISSING
        new = Partial(seed, tuple(self.read(parts["writes"], list(old.writes), path)))
        return like if strict_equal(new, like) else new

    def _read_float(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        if len(obj) != 1 or obj["$float"] not in ("nan", "inf", "-inf"):
            raise _malformed("$float", '{"$float": "nan"}, "inf" or "-inf"', path)
        value = float(obj["$float"])
        return like if strict_equal(value, like) else value

    def _read_redacted(self, obj: dict[str, JSON], like: Value, path: Path) -> Value:
        raise UsageError(
            f"the value at {format_path(path) or 'the top'} was hidden when this was written, and is not in it",
            hint="write it again with --reveal",
        )

    def _find(self, kind: str, name: str) -> Value:
        """A `Tagged` of class ``name``, or the bytes of a kind and digest, in or around the replaced value."""
        if self._kin is None:
            self._kin = {}
            for value in walk(self._around):
                if isinstance(value, Tagged):
                    self._kin.setdefault(("$type", value.type_name), value)
                for part in value if isinstance(value, Mapping) else (value,):
                    if (name_of_bytes := _opaque_name(part)) is not None:
                        self._kin.setdefault(name_of_bytes, part)
        return self._kin.get((kind, name))


def _opaque_name(value: Value) -> tuple[str, str] | None:
    if isinstance(value, Opaque):
        return value.kind, value.digest
    return ("bytes", hashlib.sha256(value).hexdigest()) if isinstance(value, bytes) else None


def _malformed(form: str, right: str, path: Path) -> UsageError:
    return UsageError(f"a malformed {form} at {format_path(path) or 'the top'}: it is written {right}")


def walk(value: Value) -> Iterator[Value]:
    """The value and everything inside it, wrappers included, each before its parts; never recursive."""
    todo = [value]
    while todo:
        value = todo.pop()
        yield value
        if isinstance(value, Tagged):
            todo.append(value.value)
        elif isinstance(value, Mapping):
            todo.extend(reversed(value.values()) if isinstance(value, dict) else value.values())
        elif isinstance(value, list | tuple):
            todo.extend(reversed(value))
        elif isinstance(value, Partial):
            todo.extend((*reversed(value.writes), value.seed))


_FLAT: frozenset[object] = ATOMS | {float}


Payloads: TypeAlias = dict[int, tuple[Tagged, Value]]
"""Messages whose payloads were made plain before, by identity: the next state of a thread has the very same ones."""

_MOST_PAYLOADS: Final = 50_000


def plain(value: Value, known: Payloads | None = None) -> Value:
    """The value as an expression sees it: a `Tagged` is its payload, a dict or list without one is itself.

    ``known`` is kept from one state to the next by whoever asks many."""
    if type(value) is dict and _FLAT.issuperset(map(type, value.values())):
        return value
    if not any(isinstance(part, (Tagged, Opaque, Partial)) for part in walk(value)):
        return value
    box: list[Value] = [None]
    todo: list[tuple[Value, Any, Any]] = [(value, box, 0)]
    while todo:
        value, holder, place = todo.pop()
        if isinstance(value, Tagged) and known is not None:
            holder[place] = _payload(value, known)
            continue
        while isinstance(value, Tagged):
            value = value.value
        if isinstance(value, Mapping):
            out: Any = dict.fromkeys(value)
            todo.extend((item, out, key) for key, item in value.items())
        elif isinstance(value, list | tuple):
            out = [None] * len(value)
            todo.extend((item, out, index) for index, item in enumerate(value))
        else:
            out = to_json(value) if isinstance(value, Opaque | Partial) else value
        holder[place] = out
    return box[0]


def _payload(value: Tagged, known: Payloads) -> Value:
    found = known.get(id(value))
    if found is None:
        if len(known) >= _MOST_PAYLOADS:
            known.clear()
        found = known[id(value)] = value, plain(value.value)  # held, so that no other value gets its identity
    return found[1]
