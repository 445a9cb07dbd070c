"""A state put together from the chunks of its tree, equal parts of all states being the same objects.

Owns which chunks have to be fetched, level by level and each once, and saying where a broken one belongs. Refuses to
know where chunks lie.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from stores.codec import json
from stores.errors import Corrupt
from stores.model import Path, Value
from stores.native.trees import INLINE, MARK, Held, Run
from stores.paths import format_path

Fetch = Callable[[Collection[str]], Mapping[str, bytes | str]]
"""The texts of chunks by name, as bytes; of one that cannot be had why not, as a str: "is gone"."""

_SLACK: Final = 8
"""How many times its size a state may take with all that its tree holds more than once."""


class Place(NamedTuple):
    """Where a chunk belongs: to the value at a path, or to the items of the container there from one on."""

    path: Path
    first: int | None = None

    def __str__(self) -> str:
        path = self.path if self.first is None else (*self.path, self.first)
        return format_path(path) or "the top"


class Reading:
    """One state being read. ``held`` tells what is in memory under a name; ``shown`` makes of a value as JSON has it,
    whose text it is told, the value that is given out."""

    def __init__(
        self, held: Callable[[str], Held | None], fetch: Fetch, shown: Callable[[bytes, Value], Value]
    ) -> None:
        self._before = held
        self._fetch = fetch
        self._shown = shown
        self._nodes: dict[str, Any] = {}
        self._found: dict[str, Held] = {}
        self._most = 0
        self.made: dict[str, Held] = {}
        """What of the tree is to be held in memory."""

    def root(self, row: str, size: int) -> Held:
        """The state of ``size`` bytes whose row holds ``row``. Raises Corrupt, with the place, for a broken chunk."""
        self._most = _SLACK * (size + len(row)) + INLINE
        text = row.encode()
        try:
            mark, top = self._shown(text, json.loads(text))
            if mark != MARK:
                raise Corrupt(f"of another form ({mark!r})")
            if isinstance(top, str):
                self._gather({top: Place(())})
                held = self._held(top)
            else:
                self._gather(dict(named(top, Place(()))))
                held = self._made(top)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise _malformed(error) from error
        if not isinstance(held.value, dict):
            raise _malformed("no object")
        self.made[row] = held
        return held

    def _gather(self, wanted: dict[str, Place]) -> None:
        """Fetch what is not in memory, and what that names, a level at a time."""
        while wanted := {name: place for name, place in wanted.items() if not self._has(name)}:
            leaves: dict[str, bytes] = {}
            following: dict[str, Place] = {}
            for name, text in self._fetch(wanted).items():
                if isinstance(text, str):
                    raise Corrupt(f"chunk {name[1:13]} of {wanted[name]} {text}")
                if name[0] == "j":
                    leaves[name] = text
                else:
                    self._nodes[name] = node = self._shown(text, json.loads(text))
                    following.update(named(node, wanted[name]))
            self._keep_leaves(leaves)
            wanted = following

    def _has(self, name: str) -> bool:
        if name in self._found or name in self._nodes:
            return True
        held = self._before(name)
        if held is not None:
            self._found[name] = held
        return held is not None

    def _keep_leaves(self, texts: dict[str, bytes]) -> None:
        # Read as one text: a call for each would cost more than the reading.
        values = json.loads(b"[" + b",".join(texts.values()) + b"]")
        for (name, text), value in zip(texts.items(), values, strict=True):
            own = self._shown(text, value)
            entries = len(own) if isinstance(own, list | dict) else 0
            self.made[name] = self._found[name] = Held(own, len(text), entries)

    def _held(self, name: str) -> Held:
        found = self._found.get(name)
        if found is None:
            found = self.made[name] = self._found[name] = self._made(self._nodes[name])
        return found

    def _made(self, node: Any) -> Held:
        """Of a container's node, or of a run's, which is an array of its entries."""
        if isinstance(node, dict):
            ((kind, levels),) = node.items()
            return self._joined(levels, kind == "dict")
        first = node[0]
        is_run, is_pair = type(first) is str and "/" in first, type(first) is list and len(first) == 2
        is_dict = is_pair or (is_run and isinstance(self._held(first.partition("/")[0]).value, dict))
        return self._joined([node], is_dict)

    def _joined(self, levels: list[list[Any]], is_dict: bool) -> Held:
        joining = _Joining(is_dict, self._most)
        for level in levels:
            for entry in level:
                key, item = entry if is_dict and type(entry) is list else (None, entry)
                if type(item) is not str:
                    joining.put(key, item[0])
                    continue
                name, slash, items = item.partition("/")
                held = self._held(name)
                joining.weigh(name, held)
                if slash:
                    joining.extend(name, held, int(items))
                else:
                    joining.put(key, held.value)
                    joining.inner[key] = name
        return joining.held(len(levels[-1]))


class _Joining:
    """A list or dict being put together, with the runs it is made of. ``most`` bytes are too many: a tree that names
    one chunk over and over would grow without end."""

    def __init__(self, is_dict: bool, most: int) -> None:
        self._most = most
        self._list: list[Value] = []
        self._dict: dict[str, Value] = {}
        self._is_dict = is_dict
        self._cost = 0
        self._runs: list[list[Run]] = []
        self._names: set[str] = set()
        self.inner: dict[Any, str] = {}

    def weigh(self, name: str, held: Held) -> None:
        self._names.add(name)
        self._cost += held.cost
        if self._cost > self._most:
            raise _malformed("it is larger than it says")

    def put(self, key: str | None, value: Value) -> None:
        if self._is_dict:
            assert key is not None
            self._dict[key] = value
        else:
            self._list.append(value)

    def extend(self, name: str, held: Held, items: int) -> None:
        if len(held.value) != items:
            raise _malformed("it counts wrongly")
        if self._is_dict:
            self._dict.update(held.value)
            self.inner.update(held.inner)
        else:
            self._list.extend(held.value)
        height = len(held.runs)
        self._runs.extend([] for _ in range(height + 1 - len(self._runs)))
        for mine, its in zip(self._runs, held.runs, strict=False):
            mine.extend(its)
        self._runs[height].append(Run(name, items, held.entries))

    def held(self, entries: int) -> Held:
        value = self._dict if self._is_dict else self._list
        inner = self.inner if self._is_dict else {}
        cost = max(self._cost, len(value))
        return Held(value, cost, entries, tuple(map(tuple, self._runs)), inner, frozenset(self._names))


def named(node: Any, place: Place) -> Iterator[tuple[str, Place]]:
    """The chunks that a node names, and what each belongs to."""
    is_container = isinstance(node, dict)
    at = 0 if is_container else place.first or 0
    for entry in (entry for level in (next(iter(node.values())) if is_container else [node]) for entry in level):
        if type(entry) is str:
            name, slash, items = entry.partition("/")
            yield name, Place(place.path, at) if slash else Place((*place.path, at))
            at += int(items) if slash else 1
        else:
            if len(entry) == 2 and type(entry[1]) is str:
                yield entry[1], Place((*place.path, entry[0]))
            at += 1


def _malformed(why: object) -> Corrupt:
    return Corrupt(f"a malformed tree ({why})")
