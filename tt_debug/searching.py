"""A text looked for in checkpoints: values, keys, what tasks wrote, asked and failed with, metadata.

Pure but for the checkpoints it is given. Every checkpoint holds its whole state, so a text is told where it came in,
not at each checkpoint that still holds it; what is remembered for that are hashes of the hits only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from stores.model import Checkpoint, Partial, Path, Ref, Tagged, Value

_AROUND: Final = 40  # characters on each side of the text in an excerpt
_KEPT: Final = 4096  # checkpoints whose hits are remembered; a line needs its newest only


@dataclass(frozen=True, slots=True)
class Found:
    """A text at a place of a checkpoint. ``part``: "state", "task", "meta", "node" or "thread".

    ``path`` leads from that part to the text, which is a key itself where ``is_key``; ``nodes`` wrote the checkpoint.
    """

    ref: Ref
    step: int | None
    part: str
    path: Path
    excerpt: str
    is_key: bool = False
    nodes: tuple[str, ...] = ()


class Search:
    """One text. Checkpoints must come parents first, so that what a child only kept is known."""

    def __init__(self, text: str, *, case: bool = False, every: bool = False) -> None:
        """``case``: upper and lower case differ. ``every``: tell each checkpoint that holds it, not where it came in.

        Raises ValueError for an empty text.
        """
        if not text:
            raise ValueError("an empty text is everywhere")
        self._text = text if case else text.casefold()
        self._case = case
        self._every = every
        self._held: dict[Ref, frozenset[int]] = {}

    def within(self, checkpoint: Checkpoint) -> Iterator[Found]:
        """The hits of one checkpoint."""
        header = checkpoint.header
        before = self._held.get(header.parent, frozenset()) if header.parent else frozenset()
        held: set[int] = set()
        for part, path, text, is_key in _texts(checkpoint):
            at = self._at(text)
            if at < 0:
                continue
            mark = hash((part, tuple(step for step in path if type(step) is not int), text))
            held.add(mark)
            if self._every or mark not in before:
                excerpt = _excerpt(text, at, len(self._text))
                yield Found(header.ref, header.step, part, path, excerpt, is_key, header.nodes)
        self._held[header.ref] = frozenset(held)
        if len(self._held) > _KEPT:
            del self._held[next(iter(self._held))]

    def _at(self, text: str) -> int:
        return (text if self._case else text.casefold()).find(self._text)


def _excerpt(text: str, at: int, size: int) -> str:
    start, end = max(0, at - _AROUND), at + size + _AROUND
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _texts(checkpoint: Checkpoint) -> Iterator[tuple[str, Path, str, bool]]:
    """(part, path, text, whether it is a key) of all that a person could have read there."""
    header = checkpoint.header
    for node in header.nodes:
        yield "node", (), node, False
    yield from _inside("state", (), dict(checkpoint.state))
    for task in checkpoint.tasks:
        if task.error:
            yield "task", (task.node, "error"), task.error, False
        for asked in task.interrupts:
            yield from _inside("task", (task.node, "interrupt"), asked.value)
    yield from _inside("meta", (), dict(header.meta))


def _inside(part: str, path: Path, value: Value) -> Iterator[tuple[str, Path, str, bool]]:
    todo: list[tuple[Path, Value]] = [(path, value)]
    while todo:
        path, value = todo.pop()
        while isinstance(value, Tagged):
            value = value.value
        if isinstance(value, str):
            yield part, path, value, False
        elif isinstance(value, Mapping):
            for key in value:
                if isinstance(key, str):
                    yield part, (*path, key), key, True
            todo.extend(((*path, key), item) for key, item in reversed(list(value.items())))
        elif isinstance(value, list | tuple):
            todo.extend(((*path, at), value[at]) for at in reversed(range(len(value))))
        elif isinstance(value, Partial):
            parts: list[Any] = [value.seed, *value.writes]
            todo.extend((path, item) for item in reversed(parts))
