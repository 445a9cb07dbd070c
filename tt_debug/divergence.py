"""Two lines of checkpoints side by side: which steps belong together, where they part, and what made them.

Pure but for the states and the evidence it asks for, a step at a time. Lines are compared by what each step changed, so
that a step which did the same long after the lines had parted is told as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final, Literal, Protocol

from stores.errors import StoreError
from stores.model import Change, Checkpoint, Diff, Header, Ref, Tagged, Task, Value
from stores.paths import unwrap
from tt_debug.alignment import longest_rise
from tt_debug.diff import diff
from tt_debug.equality import strict_equal

Mark = Literal["same", "ids", "differs", "node", "only", "unknown"]
Kind = Literal["input", "edited", "answer", "node", "output", "code", "ended", "unknown"]
Side = Literal["A", "B"]

BY_HAND: Final = frozenset({"fork", "edit", "update", "answer", "migrate", "import"})
"""Sources of checkpoints that no node wrote."""
_IDS: Final = frozenset({"id", "tool_call_id"})
_INPUTS: Final = (("__start__",), ("__input__",))
_RESUME: Final = "__resume__"  # LangGraph's channel for what people answered
_WRITERS: Final = {"ai": "model", "assistant": "model", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Row:
    """A step of both lines, or of one.

    ``mark``: both changed the "same"; the same but for "ids" of list elements; what they changed "differs", at the
    state's ``keys``; another "node" ran; "only" one of them has it; "unknown": a state cannot be read, as ``problem``
    says. ``is_parting``: here the lines part.
    """

    a: Header | None
    b: Header | None
    mark: Mark
    keys: tuple[str, ...] = ()
    problem: str | None = None
    is_parting: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """What a node asked of the world outside, by a name, and what it was given."""

    name: str
    number: int
    request: Value
    result: Value


class Evidence(Protocol):
    """What is on record beside the states."""

    def code(self, header: Header) -> Mapping[str, str | None]:
        """What tells the code that wrote a checkpoint from any other, part by part; None for a part not on record."""
        ...

    def calls(self, header: Header) -> Sequence[Call] | None:
        """The calls of the step that wrote it; None where none are recorded."""
        ...


@dataclass(frozen=True, slots=True)
class Cause:
    """Why two lines part. ``words`` is a sentence, ``notes`` are what else is known and not known."""

    kind: Kind
    words: str
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Line:
    """One of the two: its checkpoints behind what both have in common, oldest first, and where it has come to:
    ``state`` is None where it is not known."""

    name: Side
    headers: Sequence[Header]
    state: Mapping[str, Value] | None
    tasks: tuple[Task, ...] = ()
    answers: tuple[Value, ...] = ()
    at: int = 0

    def to(self, header: Header, load: Callable[[Ref], Checkpoint]) -> Diff | str:
        """What changed since the checkpoint before, or why that is not known. ``answers`` is then what people had
        answered to the tasks that ran."""
        before, self.state = self.state, None
        self.answers = tuple(write.value for task in self.tasks for write in task.writes if write.channel == _RESUME)
        self.at += 1
        try:
            found = load(header.ref)
        except StoreError as error:
            self.tasks = ()
            return str(error)
        self.state, self.tasks = found.state, found.tasks
        return "the state before it is not known" if before is None else diff(before, self.state)


class Comparison:
    """The rows of two lines, read as they are asked for; ``cause`` is there once they have parted."""

    def __init__(self, a: Line, b: Line, load: Callable[[Ref], Checkpoint], evidence: Evidence) -> None:
        self._a, self._b, self._load, self._evidence = a, b, load, evidence
        self.cause: Cause | None = None

    def rows(self) -> Iterator[Row]:
        """Oldest first."""
        for a, b in aligned(self._a.headers, self._b.headers):
            did, other = (
                () if header is None else line.to(header, self._load) for line, header in ((self._a, a), (self._b, b))
            )
            row = _row(a, b, did, other, parted=self.cause is not None)
            if self.cause is None and _parts(row):
                self.cause = self._cause(row, did, other)
                row = replace(row, is_parting=True)
            yield row

    def _cause(self, row: Row, a: Diff | str, b: Diff | str) -> Cause:
        if row.problem is not None or isinstance(a, str) or isinstance(b, str):
            return Cause("unknown", f"a state cannot be read, and what follows may differ: {row.problem}")
        by_hand = [header for header in (row.a, row.b) if header is not None and header.source in BY_HAND]
        if by_hand:
            return _by_hand(row, a, b)
        if row.a is None or row.b is None:
            return self._one_sided(row)
        code, notes = self._code(row.a, row.b)
        if code:
            return Cause("code", code, notes)
        if row.mark == "node":
            return Cause("node", f"from the same state A went on with {who(row.a)}, B with {who(row.b)}", notes)
        if row.a.source == "input" or row.a.nodes in _INPUTS:
            return Cause("input", "they were given different input")
        return self._output(row.a, row.b, a, b, notes)

    def _one_sided(self, row: Row) -> Cause:
        """A step that the other line does not have."""
        ran, line, other = (row.a, self._a, self._b) if row.a is not None else (row.b, self._b, self._a)
        assert ran is not None
        if other.at < len(other.headers):
            after = who(other.headers[other.at])
            words = f"from the same state {line.name} ran {who(ran)} here, {other.name} went on with {after}"
            return Cause("node", words)
        how = f" ({other.headers[-1].status})" if other.headers else ""
        return Cause("ended", f"{other.name} ends here{how}, {line.name} went on with {who(ran)}")

    def _code(self, a: Header, b: Header) -> tuple[str, tuple[str, ...]]:
        """That the code differs, in a sentence, empty where it is not known to; and what is known of it."""
        one, other = self._evidence.code(a), self._evidence.code(b)
        parts = tuple(dict.fromkeys((*one, *other)))
        unknown = [name for name in parts if one.get(name) is None or other.get(name) is None]
        same = [name for name in parts if name not in unknown and one[name] == other[name]]
        differing = [name for name in parts if name not in (*unknown, *same)]
        if differing:
            return f"another {', '.join(differing)} ran", ()
        notes = (f"the same {', '.join(same)} ran", f"which {', '.join(unknown)} ran is not on record")
        return "", tuple(note for note, names in zip(notes, (same, unknown), strict=True) if names)

    def _output(self, a: Header, b: Header, did: Diff, other: Diff, notes: tuple[str, ...]) -> Cause:
        """The same node wrote something else, by what is known of what it was given."""
        if not strict_equal(self._a.answers, self._b.answers):
            return Cause("answer", f"{who(a)} was given different answers by a person", notes)
        calls, others = self._evidence.calls(a), self._evidence.calls(b)
        told, is_answered = _told_of_calls(calls, others)
        writer = _first_writer(did, other)
        if is_answered or writer:
            why = f", and the {writer or 'tool'}'s output differs"
        elif calls and others and not told:
            why = " and was given the same, and wrote something else: what made it do so is not on record"
        else:
            known = [*self._evidence.code(a).values(), *self._evidence.code(b).values()]
            unsure = ", or the code" if None in known else ""
            why = f" and wrote something else: the output of a model or tool differs{unsure}"
        return Cause("output", f"{who(a)} started from the same state{why}", (*told, *notes))


def sign(row: Row) -> str:
    """One character for a row: ``=`` the same, ``~`` something else, ``<`` or ``>`` only in A or B, ``?`` unknown."""
    if row.mark == "only":
        return "<" if row.b is None else ">"
    return {"same": "=", "ids": "=", "differs": "~", "node": "~", "unknown": "?"}[row.mark]


def who(header: Header) -> str:
    """What a person calls the step that wrote a checkpoint."""
    return ", ".join(header.nodes) or header.source


def aligned(a: Sequence[Header], b: Sequence[Header]) -> list[tuple[Header | None, Header | None]]:
    """The steps of two lines, those together that belong together: the same nodes at the same visit, in the same order.

    Between those, what was done by hand stands alone, and other nodes stand beside each other.
    """
    places = {key: at for at, key in enumerate(_visits(b))}
    shared = [(at, places[key]) for at, key in enumerate(_visits(a)) if key in places]
    kept = [shared[at] for at in longest_rise([there for _, there in shared])]
    rows: list[tuple[Header | None, Header | None]] = []
    x = y = 0
    for here, there in [*kept, (len(a), len(b))]:
        rows += _beside(a[x:here], b[y:there])
        if here < len(a):
            rows.append((a[here], b[there]))
        x, y = here + 1, there + 1
    return rows


def _visits(headers: Iterable[Header]) -> Iterator[tuple[object, int]]:
    """What a step is known by in any line: its nodes, and how often they ran before."""
    seen: Counter[object] = Counter()
    for header in headers:
        label: object = BY_HAND if header.source in BY_HAND else header.nodes or header.source
        seen[label] += 1
        yield label, seen[label]


def _beside(a: Sequence[Header], b: Sequence[Header]) -> Iterator[tuple[Header | None, Header | None]]:
    x = y = 0
    while x < len(a) or y < len(b):
        here, there = (a[x] if x < len(a) else None), (b[y] if y < len(b) else None)
        if here is not None and here.source in BY_HAND:
            there = None
        elif there is not None and there.source in BY_HAND:
            here = None
        yield here, there
        x, y = x + (here is not None), y + (there is not None)


def _row(a: Header | None, b: Header | None, did: Diff | str, other: Diff | str, *, parted: bool) -> Row:
    problem = next((each for each in (did, other) if isinstance(each, str)), None)
    if isinstance(did, str) or isinstance(other, str):
        return Row(a, b, "unknown", problem=problem)
    keys = tuple(dict.fromkeys(str(change.path[0]) for change in (*did, *other) if change.path))
    if a is None or b is None:
        return Row(a, b, "only", keys)
    if a.source not in BY_HAND and a.nodes != b.nodes:
        return Row(a, b, "node", keys)
    if strict_equal(_said(did), _said(other)):
        return Row(a, b, "same")
    # Behind the place where they parted lists have other lengths: what was appended is the same all the same.
    differing = tuple(key for key in keys if not _alike(_under(did, key), _under(other, key), placeless=parted))
    return Row(a, b, "differs", differing) if differing else Row(a, b, "ids")


def _parts(row: Row) -> bool:
    """Whether two lines part at a row: not where nothing was changed by hand, as in a plain fork."""
    if row.mark in ("same", "ids"):
        return False
    header = row.a or row.b
    return row.mark != "only" or bool(row.keys) or (header is not None and header.source not in BY_HAND)


def _by_hand(row: Row, a: Diff, b: Diff) -> Cause:
    """An edit or an answer on either line, or on both."""
    if any(header is not None and header.source == "answer" for header in (row.a, row.b)):
        where = "" if row.a is not None and row.b is not None else f" in {'A' if row.a is not None else 'B'} only"
        return Cause("answer", f"a person answered{where or ' differently'}")
    if any(header is not None and header.source == "migrate" for header in (row.a, row.b)):
        return Cause("code", "the state was migrated to another definition")
    if a and b:
        return Cause("edited", "the state was edited on both, differently")
    return Cause("edited", f"the state was edited in {'A' if a else 'B'}")


def _told_of_calls(a: Sequence[Call] | None, b: Sequence[Call] | None) -> tuple[tuple[str, ...], bool]:
    """What differs between the calls that two steps made, and whether one was answered differently."""
    if a is None or b is None:
        return (), False
    ours, theirs = ({(call.name, call.number): call for call in calls} for calls in (a, b))
    told, differs = [], False
    for key in dict.fromkeys((*ours, *theirs)):
        one, other, name = ours.get(key), theirs.get(key), key[0]
        if one is None or other is None:
            told.append(f"{name} was called in {'A' if other is None else 'B'} only")
        elif not strict_equal(one.request, other.request):
            told.append(f"{name} was asked for something else")
        elif not strict_equal(one.result, other.result):
            told.append(f"{name} answered differently to the same request")
            differs = True
    return tuple(told), differs


def _first_writer(a: Diff, b: Diff) -> str | None:
    """Whose message it is that differs first: a model's or a tool's; None for any other value."""
    for one, other in zip_longest(a, b):
        for change in (one, other):
            value = unwrap(change.new) if change is not None else None
            if isinstance(value, dict) and "content" in value:
                if one is not None and other is not None and _alike((one,), (other,), placeless=False):
                    break
                return _WRITERS.get(str(value.get("type", value.get("role"))))
    return None


def _under(changes: Diff, key: str) -> Diff:
    return tuple(change for change in changes if change.path and str(change.path[0]) == key)


def _alike(a: Diff, b: Diff, *, placeless: bool) -> bool:
    """Whether changes say the same but for the ids of list elements, which every run makes anew, and, ``placeless``,
    for positions in lists."""
    one, other = (_said(change for change in changes if not _is_id(change)) for changes in (a, b))
    if placeless:
        for said in (*one, *other):
            said[1:3] = [[step for step in path or () if type(step) is not int] for path in said[1:3]]
    return strict_equal(_without_ids(one), _without_ids(other))


def _said(changes: Iterable[Change]) -> list[list[Value]]:
    """Changes as values that can be compared; a moved element says nothing but from where to where."""
    found = []
    for change in changes:
        is_element = bool(change.path) and type(change.path[-1]) is int
        sides = () if change.op == "move" else (change.old, change.new)
        found.append([change.op, change.path, change.source, *([side] if is_element else (side,) for side in sides)])
    return found


def _is_id(change: Change) -> bool:
    return len(change.path) > 1 and change.path[-1] in _IDS and type(change.path[-2]) is int


def _without_ids(value: Value) -> Value:
    """A copy in which no element of a list has an id; what holds no such list may be the same object."""
    box: list[Value] = [None]
    todo: list[tuple[Value, Any, Any, bool]] = [(value, box, 0, False)]
    while todo:
        value, holder, place, is_element = todo.pop()
        if isinstance(value, Tagged):
            holder[place] = out = [value.type_name, None]
            todo.append((value.value, out, 1, is_element))
        elif isinstance(value, Mapping):
            holder[place] = kept = {
                key: item for key, item in value.items() if not (is_element and key in _IDS and isinstance(item, str))
            }
            todo.extend((item, kept, key, False) for key, item in kept.items())
        elif isinstance(value, list | tuple):
            holder[place] = items = list(value)
            todo.extend((item, items, at, type(value) is list) for at, item in enumerate(items))
        else:
            holder[place] = value
    return box[0]
