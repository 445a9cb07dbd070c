"""A text looked for in checkpoints: texts, numbers, keys, what tasks asked and failed with, metadata, names of nodes.

Pure. Every checkpoint holds its whole state, so a text is told where it came in,
not at each checkpoint that still holds it; what is remembered for that are hashes of the hits only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from stores.model import Checkpoint, Partial, Path, Ref, Tagged, Value
from tt_debug.needle import Needle

_AROUND: Final = 40  # characters on each side of the text in an excerpt
_LONGEST: Final = 600  # bits of an integer that is shown by its digits
_KEPT: Final = 4096  # checkpoints whose hits are remembered; a line needs its newest only


@dataclass(frozen=True, slots=True)
class Found:
    """A text at a place of a checkpoint. ``part``: "state", "task", "meta", "node" or "thread".

    ``path`` leads from that part to the text, which is a key itself where ``is_key``; ``nodes`` wrote the checkpoint.
    ``whole`` is all of a text that may be JSON: what is secret in it has its name there, and not in the excerpt.
    """

    ref: Ref
    step: int | None
    part: str
    path: Path
    excerpt: str
    is_key: bool = False
    nodes: tuple[str, ...] = ()
    whole: str = ""


class Text(NamedTuple):
    """Something that a person could read in a checkpoint, as in `Found`."""

    part: str
    path: Path
    text: str
    is_key: bool = False


class Search:
    """One text. Checkpoints must come parents first, so that what a child only kept is known."""

    def __init__(self, text: str, *, case: bool = False, every: bool = False) -> None:
        """``case``: upper and lower case differ. ``every``: tell each checkpoint that holds it, not where it came in.

        Raises ValueError for an empty text.
        """
        if not text:
            raise ValueError("an empty text is everywhere")
        self.needle = Needle(text, case=case)
        """Whether bytes may hold it."""
        self._text = text if case else text.casefold()
        self._case = case
        self._every = every
        self._held: dict[Ref, frozenset[int]] = {}

    def within(self, ref: Ref, parent: Ref | None, texts: Iterable[Text]) -> list[Found]:
        """The hits among the texts of one checkpoint; its step and nodes are the caller's to fill in."""
        before = self._held.get(parent, frozenset()) if parent else frozenset()
        held: set[int] = set()
        found = []
        for part, path, text, is_key in texts:
            at = self.find(text)
            if at < 0:
                continue
            mark = hash((part, tuple(step for step in path if type(step) is not int), text))
            held.add(mark)
            if self._every or mark not in before:
                whole = text if text.startswith(("{", "[")) else ""
                found.append(Found(ref, None, part, path, _excerpt(text, at, len(self._text)), is_key, whole=whole))
        if held:
            self._held[ref] = frozenset(held)
            if len(self._held) > _KEPT:
                del self._held[next(iter(self._held))]
        return found

    def find(self, text: str) -> int:
        """Where it stands in a text, -1 for nowhere."""
        return (text if self._case else text.casefold()).find(self._text)


def _excerpt(text: str, at: int, size: int) -> str:
    start, end = max(0, at - _AROUND), at + size + _AROUND
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def texts_of(checkpoint: Checkpoint, *, numbers: bool = True) -> Iterator[Text]:
    """All that a person could have read there; without ``numbers`` where none is looked for."""
    header = checkpoint.header
    yield from named(header.nodes)
    yield from within("state", checkpoint.state, numbers=numbers)
    for task in checkpoint.tasks:
        if task.error:
            yield Text("task", (task.node, "error"), task.error)
        for asked in task.interrupts:
            yield from _inside("task", (task.node, "interrupt"), asked.value, numbers)
    yield from within("meta", header.meta, numbers=numbers)


def named(nodes: Iterable[str]) -> Iterator[Text]:
    """The names of the nodes that wrote it."""
    return (Text("node", (), node) for node in nodes)


def within(part: str, values: Mapping[str, Value], *, numbers: bool = True) -> Iterator[Text]:
    """The texts and keys in a state, or in metadata, and its numbers as they are shown."""
    return _inside(part, (), dict(values), numbers)


def _inside(part: str, path: Path, value: Value, numbers: bool) -> Iterator[Text]:
    todo: list[tuple[Path, Value]] = [(path, value)]
    while todo:
        path, value = todo.pop()
        while isinstance(value, Tagged):
            value = value.value
        if isinstance(value, str):
            yield Text(part, path, value)
        elif numbers and type(value) in (int, float) and (type(value) is float or value.bit_length() <= _LONGEST):
            yield Text(part, path, repr(value))
        elif isinstance(value, Mapping):
            for key in value:
                if isinstance(key, str):
                    yield Text(part, (*path, key), key, True)
            todo.extend(((*path, key), item) for key, item in reversed(list(value.items())))
        elif isinstance(value, list | tuple):
            todo.extend(((*path, at), value[at]) for at in reversed(range(len(value))))
        elif isinstance(value, Partial):
            parts: list[Any] = [value.seed, *value.writes]
            todo.extend((path, item) for item in reversed(parts))
