"""A state put together from the chunks of its tree, equal parts of all states being the same objects.

Owns which chunks have to be fetched, level by level and each once, and saying where a broken one belongs. Refuses to
know where chunks lie.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from stores.blobs import may_refer
from stores.codec import json
from stores.errors import Corrupt
from stores.model import Path, Value
from stores.native.trees import INLINE, MARK, NAME_LENGTH, Held, Run
from stores.paths import format_path

Fetch = Callable[[Collection[str]], Mapping[str, bytes | str]]
"""The texts of chunks by name, as bytes; of one that cannot be had why not, as a str: "is gone"."""

_AT_ONCE: Final = 16
_SLACK: Final = 8
"""How many times its size a state may take with all that its tree holds more than once."""


Look = Callable[[Collection[str]], Mapping[str, Held]]
"""Those of these names that are in memory."""


class Place(NamedTuple):
    """Where a chunk belongs: to the value at a path, or to the items of the container there from one on."""

    path: Path
    first: int | None = None

    def __str__(self) -> str:
        path = self.path if self.first is None else (*self.path, self.first)
        return format_path(path) or "the top"


class Reading:
    """One state being read, or many. ``held`` gives what is in memory of names; ``shown`` makes of a value as JSON
    has it, whose text it is told, the value that is given out."""

    def __init__(
        self,
        held: Callable[[Collection[str]], Mapping[str, Held]],
        fetch: Fetch,
        shown: Callable[[bytes, Value], Value],
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
            top = top_of(self._shown(text, json.loads(text)))
            self._gather([top])
            held = self._held(top) if isinstance(top, str) else self._made(top)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise malformed(error) from error
        if not isinstance(held.value, dict):
            raise malformed("no object")
        self.made[row] = held
        return held

    def roots(self, rows: Sequence[tuple[str, int]], only: Collection[str] | None) -> list[dict[str, Value]]:
        """Many states at once; of each the keys ``only`` are enough. Raises Corrupt where one of them is broken.

        Where what is asked of two rows, one after the other, is the same by its names, it is the same object.
        """
        self._most = max((_SLACK * (size + len(row)) + INLINE for row, size in rows), default=0)
        try:
            tops = [_narrowed(top_of(self._shown(row.encode(), json.loads(row))), only) for row, _ in rows]
            self._gather(tops)
            found: list[dict[str, Value]] = []
            before: Any = None
            for top in tops:
                if top != before:
                    state = self._held(top).value if isinstance(top, str) else self._made(top).value
                found.append(state)
                before = top
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise malformed(error) from error
        return found

    def _gather(self, tops: Sequence[Any]) -> None:
        """Fetch what is not in memory, and what that names, a level at a time."""
        wanted = {name for top in tops for name in ((top,) if isinstance(top, str) else named(top))}
        while wanted := self._absent(wanted):
            texts: list[tuple[str, bytes]] = []
            for name, text in self._fetch(wanted).items():
                if isinstance(text, str):
                    raise Corrupt(f"chunk {name[1:13]} of {self._place_of(name, tops)} {text}")
                texts.append((name, text))
            self._parse(texts)
            wanted = {inner for name in wanted if name in self._nodes for inner in named(self._nodes[name])}

    def _absent(self, names: set[str]) -> set[str]:
        left = names - self._found.keys() - self._nodes.keys()
        held = self._before(left)
        self._found.update(held)
        return left - held.keys()

    def _place_of(self, name: str, tops: Sequence[Any]) -> Place:
        """Where a chunk belongs that is named by those which have been read."""
        here = Place(())
        todo = [each for top in tops for each in ([(top, here)] if isinstance(top, str) else placed(top, here))]
        for found, place in todo:
            if found == name:
                return place
            if found in self._nodes:
                todo.extend(placed(self._nodes[found], place))
        return here

    def _parse(self, texts: Sequence[tuple[str, bytes]]) -> None:
        # Some read as one text: a call for each would cost more than the reading, one text of all its memory.
        for at in range(0, len(texts), _AT_ONCE):
            part = texts[at : at + _AT_ONCE]
            joined = b"[" + b",".join([text for _, text in part]) + b"]"
            values, plain = json.loads(joined), not may_refer(joined)
            for (name, text), value in zip(part, values, strict=True):
                own = value if plain else self._shown(text, value)
                if name[0] == "n":
                    self._nodes[name] = own
                else:
                    entries = len(own) if isinstance(own, (list, dict)) else 0
                    self.made[name] = self._found[name] = Held(own, len(text), entries)

    def _held(self, name: str) -> Held:
        found = self._found.get(name)
        if found is None:
            found = self.made[name] = self._found[name] = self._made(self._nodes[name])
        return found

    def _made(self, node: Any) -> Held:
        """Of a container's node, or of a run's, which is an array of its entries."""
        levels = node
        if isinstance(node, dict):
            ((kind, levels),) = node.items()
            is_dict = kind == "dict"
        else:
            levels, first = [node], node[0]
            is_dict = isinstance(first, list) and len(first) == 2
            if isinstance(first, str) and "/" in first:
                is_dict = isinstance(self._held(first[:NAME_LENGTH]).value, dict)
        entries = [entry for level in levels for entry in level]
        joined = _Joined(self._most, {} if is_dict else [])
        for entry in entries:
            if type(entry) is str:
                name = entry[:NAME_LENGTH]
                if name == entry:
                    joined.item(name, self._held(name))
                else:
                    joined.run(name, self._held(name), int(entry[NAME_LENGTH + 1 :]))
            elif is_dict:
                key, item = entry
                joined.pair(key, item, self._held(item) if type(item) is str else None)
            else:
                joined.value.append(entry[0])
        return joined.held(len(levels[-1]))


class _Joined:
    """A list or dict being put together, with the runs it is made of. ``most`` bytes are too many: a tree that names
    one chunk over and over would grow without end."""

    __slots__ = ("_cost", "_inner", "_most", "_names", "_runs", "value")

    def __init__(self, most: int, value: Any) -> None:
        self.value = value
        self._most = most
        self._cost = 0
        self._runs: list[list[Run]] = []
        self._names: list[str] = []
        self._inner: dict[str, str] = {}

    def item(self, name: str, held: Held) -> None:
        self._weigh(name, held)
        self.value.append(held.value)

    def pair(self, key: str, item: Any, held: Held | None) -> None:
        if held is None:
            self.value[key] = item[0]
            return
        self._weigh(item, held)
        self.value[key] = held.value
        self._inner[key] = item

    def run(self, name: str, held: Held, items: int) -> None:
        self._weigh(name, held)
        if len(held.value) != items:
            raise malformed("it counts wrongly")
        if isinstance(self.value, dict):
            self.value.update(held.value)
            self._inner.update(held.inner)
        else:
            self.value += held.value
        height = len(held.runs)
        while len(self._runs) <= height:
            self._runs.append([])
        for mine, its in zip(self._runs, held.runs, strict=False):
            mine += its
        self._runs[height].append(Run(name, items, held.entries))

    def _weigh(self, name: str, held: Held) -> None:
        self._names.append(name)
        self._cost += held.cost
        if self._cost > self._most:
            raise malformed("it is larger than it says")

    def held(self, entries: int) -> Held:
        """All of it."""
        cost = max(self._cost, len(self.value))
        return Held(self.value, cost, entries, tuple(map(tuple, self._runs)), self._inner, frozenset(self._names))


def _narrowed(top: Any, only: Collection[str] | None) -> Any:
    """A state's own node with no other keys than these, as far as that can be told from itself."""
    if only is None or isinstance(top, str):
        return top
    *runs, last = top["dict"]
    return {"dict": [*runs, [entry for entry in last if isinstance(entry, str) or entry[0] in only]]}


def top_of(row: Any) -> Any:
    """The name or the node of the state's own container, of what stands in its row."""
    mark, top = row
    if mark != MARK:
        raise malformed(f"of another form, {mark!r}")
    return top


def named(node: Any) -> Iterator[str]:
    """The chunks that a node names."""
    for level in next(iter(node.values())) if isinstance(node, dict) else [node]:
        for entry in level:
            if type(entry) is str:
                yield entry[:NAME_LENGTH]
            elif len(entry) == 2 and type(entry[1]) is str:
                yield entry[1]


def placed(node: Any, place: Place) -> Iterator[tuple[str, Place]]:
    """The chunks that a node, which stands at ``place``, names, and what each belongs to."""
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


def malformed(why: object) -> Corrupt:
    """The error for what no store of ours has written."""
    return Corrupt(f"a malformed tree ({why})")
