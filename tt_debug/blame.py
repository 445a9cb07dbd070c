"""Who wrote a value: a path followed along a line of checkpoints, newest first, one stop for every change of it.

Pure: states are given one at a time, and nothing is asked for before somebody reads on. Elements of a list that carry
ids are followed by them, whatever their position is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from stores.errors import StoreError
from stores.model import MISSING, Header, Path, Ref, Task, Value
from stores.paths import has_key, unwrap
from tt_debug.alignment import id_of
from tt_debug.equality import strict_equal
from tt_debug.finding import State

Line: TypeAlias = Iterable[tuple[Ref, State]]
"""The checkpoints of a line with their states; one that cannot be read is an unknown one."""

_BY_HAND: Final = frozenset({"fork", "edit", "update", "answer", "migrate", "import"})
_MOST_ORIGINS: Final = 20
_SHORTEST_ORIGIN: Final = 4  # characters: shorter texts, small numbers and empty things are everywhere


@dataclass(frozen=True, slots=True)
class Element:
    """A step of a path that goes to the element of a list with this id."""

    id: Any


@dataclass(frozen=True, slots=True)
class Stop:
    """A checkpoint at which the value became another.

    ``path`` is where it lies there (where it lay before, for a "remove"). ``nodes`` and ``tasks`` wrote it, as far as
    the store tells; ``before`` is the checkpoint before it, None for the oldest. ``op`` "unknown": this checkpoint, and
    ``more`` older ones, cannot be read, and ``problem`` says why; the value may have changed in any of them.
    """

    ref: Ref
    step: int | None
    source: str
    op: Literal["add", "change", "remove", "unknown"]
    path: Path
    old: Value = MISSING
    new: Value = MISSING
    nodes: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    before: Ref | None = None
    problem: str | None = None
    more: int = 0


@dataclass(frozen=True, slots=True)
class Book:
    """Where to look up more about the few checkpoints at which something changed."""

    header: Callable[[Ref], Header]
    tasks: Callable[[Ref], Sequence[Task]]


@dataclass(slots=True)
class _Seen:
    """A checkpoint that was read: the value there and where it lies."""

    ref: Ref
    value: Value
    path: Path


class _Track:
    """The path being followed; its positions turn into ids where the first value that is found has them."""

    def __init__(self, path: Path) -> None:
        self._steps: tuple[Any, ...] = path
        self._found = False

    def follow(self, state: Mapping[str, Value]) -> tuple[Value, Path]:
        """The value, MISSING when there is none, and its path in this state as far as it goes."""
        value: Value = state
        path: list[Any] = []
        steps: list[Any] = []
        for step in self._steps:
            value, place, kept = _into(unwrap(value), step)
            path.append(place)
            steps.append(kept)
            if value is MISSING:
                return MISSING, tuple(path)
        if not self._found:
            self._steps, self._found = tuple(steps), True
        return value, tuple(path)


def _into(holder: Value, step: Any) -> tuple[Value, Any, Any]:
    """What lies at a step, its key or position there, and the step as it is followed from now on."""
    if isinstance(holder, list | tuple):
        if isinstance(step, Element):
            at = next((place for place, item in enumerate(holder) if id_of(item) == step.id), None)
            return (MISSING, step.id[1], step) if at is None else (holder[at], at, step)
        if type(step) is not int or not -len(holder) <= step < len(holder):
            return MISSING, step, step
        name = id_of(holder[step])
        return holder[step], step, step if name is None else Element(name)
    if isinstance(holder, Mapping) and not isinstance(step, Element) and has_key(holder, step):
        return holder[step], step, step
    return MISSING, step.id[1] if isinstance(step, Element) else step, step


def history(line: Line, book: Book, path: Path) -> Iterator[Stop]:
    """The stops of ``path`` along ``line``, which is given newest first; the oldest checkpoint that has it is one."""
    track = _Track(path)
    newer: _Seen | None = None
    unknown: list[tuple[Ref, str]] = []
    followed: Mapping[str, Value] | None = None
    for ref, state in line:
        if isinstance(state, StoreError):
            unknown.append((ref, str(state)))
            continue
        if state is not followed:
            found, followed = track.follow(state), state
        seen = _Seen(ref, *found)
        if unknown:
            yield _unknown(book, unknown, newer, seen)
            newer, unknown = None, []
        if newer is not None and not _same(seen.value, newer.value):
            yield _stop(book, seen, newer)
        newer = seen
    if unknown:
        yield _unknown(book, unknown, newer, None)
    elif newer is not None and newer.value is not MISSING:
        header = book.header(newer.ref)
        yield Stop(newer.ref, header.step, header.source, "add", newer.path, new=newer.value, nodes=header.nodes)


def next_change(line: Line, state: Mapping[str, Value], path: Path) -> Ref | None:
    """The first checkpoint of ``line``, given oldest first, where the value is another than in ``state``; None when it
    stays. One that cannot be read counts as a change: the value is not known there."""
    track = _Track(path)
    value, _ = track.follow(state)
    for ref, there in line:
        if isinstance(there, StoreError):
            return ref
        here, _ = track.follow(there)
        if not _same(value, here):
            return ref
    return None


def _same(old: Value, new: Value) -> bool:
    return old is new or (old is not MISSING and new is not MISSING and strict_equal(old, new))


def _stop(book: Book, older: _Seen, newer: _Seen) -> Stop:
    """What became of the value between a checkpoint and the one before it, whose tasks say who wrote it."""
    op: Literal["add", "change", "remove"] = (
        "add" if older.value is MISSING else "remove" if newer.value is MISSING else "change"
    )
    path = older.path if op == "remove" else newer.path
    header = book.header(newer.ref)
    channel = path[0] if path else None
    # An edit is nobody's step: the tasks of the checkpoint that it started from belong to another line.
    tasks = () if header.source in _BY_HAND else book.tasks(older.ref)
    wrote = [task for task in tasks if any(write.channel == channel for write in task.writes)]
    wrote = [task for task in wrote if not header.nodes or task.node in header.nodes]
    nodes = tuple(dict.fromkeys(task.node for task in wrote)) or header.nodes
    return Stop(
        newer.ref, header.step, header.source, op, path, older.value, newer.value, nodes,
        tuple(task.id for task in wrote), older.ref,
    )  # fmt: skip


def _unknown(book: Book, run: list[tuple[Ref, str]], newer: _Seen | None, older: _Seen | None) -> Stop:
    ref, problem = run[0]
    header = book.header(ref)
    return Stop(
        ref, header.step, header.source, "unknown", newer.path if newer else older.path if older else (),
        MISSING if older is None else older.value, MISSING if newer is None else newer.value,
        header.nodes, problem=problem, more=len(run) - 1,
    )  # fmt: skip


def origins(before: Mapping[str, Value], value: Value, path: Path) -> tuple[Path, ...]:
    """Other places of the state before a write that held just this value: it may have been copied from there.

    Empty for values that are found everywhere: short texts, small numbers, constants, what is empty.
    """
    if not _telling(value):
        return ()
    found: list[Path] = []
    todo: list[tuple[Path, Value]] = [((), before)]
    while todo and len(found) < _MOST_ORIGINS:
        where, held = todo.pop()
        if where and where != path and strict_equal(unwrap(held), unwrap(value)):
            found.append(where)
            continue
        inside = unwrap(held)
        if isinstance(inside, Mapping):
            todo.extend(((*where, key), part) for key, part in reversed(list(inside.items())))
        elif isinstance(inside, list | tuple):
            todo.extend(((*where, at), inside[at]) for at in reversed(range(len(inside))))
    return tuple(found)


def _telling(value: Value) -> bool:
    value = unwrap(value)
    if isinstance(value, str):
        return len(value) >= _SHORTEST_ORIGIN
    if type(value) in (int, float):
        return abs(value) >= 1000 or value != int(value) if value == value and abs(value) != float("inf") else False
    return isinstance(value, Mapping | list | tuple) and bool(value)
