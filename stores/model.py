"""The values every adapter speaks in: addresses, headers, checkpoints, changes.

Owns the shapes and nothing else: no input or output, no encoding, no policy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class Ref(NamedTuple):
    """The address of one checkpoint. ``ns`` is ``""`` for the root graph."""

    thread: str
    ns: str
    id: str


class _Missing:
    """The absence of a value, which is not ``None``: an added key has no old value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value of a class that JSON has no type for, kept as data: its class is never imported.

    ``value`` is the payload in plain values. ``raw`` are the stored bytes, so that an untouched value is
    written back byte for byte; it is ``None`` after an edit. ``tag`` belongs to the codec that made it
    and is what the codec needs to encode an edited payload under the same class.
    """

    type_name: str
    value: Any
    raw: bytes | None = field(default=None, repr=False)
    tag: tuple[Any, ...] = field(default=(), repr=False)

    def with_value(self, value: Any) -> Tagged:
        """The same class around another payload."""
        return Tagged(self.type_name, value, None, self.tag)


@dataclass(frozen=True, slots=True)
class Opaque:
    """Bytes that are not decoded, and why. ``kind`` is "bytes", "pickle", "msgpack+aes", "ndarray", "undecodable", …

    ``tag`` belongs to the codec, as in `Tagged`.
    """

    kind: str
    data: bytes = field(repr=False)
    tag: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.data)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    def same_bytes(self, other: Opaque) -> bool:
        """Whether the other one has the same bytes."""
        return self.data == other.data


@dataclass(frozen=True, slots=True)
class Partial:
    """A value known only in part: what it started from (or MISSING) and what was written since, oldest first.

    Rebuilding it needs a reducer that lives in the user's code (LangGraph's DeltaChannel).
    """

    seed: Any
    writes: tuple[Any, ...]


Value: TypeAlias = Any
"""JSON (None, bool, int, float, str, list, dict) | Tagged | Opaque | Partial. Keys of a dict may be any scalar."""

PathStep: TypeAlias = str | int
Path: TypeAlias = tuple[PathStep, ...]
"""From the state's top to a value. The container decides whether an int is a list position or a key.
A step does not count `Tagged` wrappers: ``("messages", 0, "content")`` goes through the message's class."""

Op = Literal["add", "remove", "change", "move"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference, or one edit not yet applied. Changes of a diff apply in order.

    ``old`` is MISSING for an add, ``new`` for a remove. A list position of an "add" is where the element
    is inserted; ``len(list)`` appends. ``source`` is a move's old path, read before the element is taken out;
    ``path`` is where it stands afterwards.
    """

    op: Op
    path: Path
    old: Value = MISSING
    new: Value = MISSING
    source: Path | None = None


Diff: TypeAlias = tuple[Change, ...]


class Status:
    """How a thread, or the step that starts at a checkpoint, stands."""

    DONE: Final = "done"
    WAITING: Final = "waiting"
    FAILED: Final = "failed"
    UNFINISHED: Final = "unfinished"
    PENDING: Final = "pending"
    RUNNING: Final = "running"
    PAUSED: Final = "paused"
    CRASHED: Final = "crashed"
    HELD: Final = "held"
    CANCELLED: Final = "cancelled"

    ALL: Final = (DONE, WAITING, FAILED, UNFINISHED, PENDING, RUNNING, PAUSED, CRASHED, HELD, CANCELLED)


STUCK: Final = (
    "Every task of its step has finished and no checkpoint followed: the runtime refused to apply the updates "
    "(InvalidUpdateError) or the database to store what came of them, it was stopped at that moment, or the checkpoint "
    "was deleted."
)
"""The `Header.problem` of a head that looks given up. While its writer works it stands so for a moment, too."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a list shows of a checkpoint: about 200 bytes, no state.

    ``nodes`` wrote it, ``next`` would run from it. ``step`` is None where the store has none. ``size`` is in bytes.
    ``problem`` is one sentence when the row can be read only in part; its neighbours are not affected.
    ``owner`` is the checkpoint of the graph around a subgraph's, in whose superstep it ran; None in the root graph.
    With ``read`` False only the address is known, and what is told by it: source, nodes, next, status, size and meta
    are not empty but unknown.
    """

    ref: Ref
    parent: Ref | None
    step: int | None
    source: str
    created: datetime | None
    nodes: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    status: str = Status.DONE
    size: int | None = None
    meta: Mapping[str, Value] = field(default_factory=dict)
    problem: str | None = None
    owner: Ref | None = None
    read: bool = True


@dataclass(frozen=True, slots=True)
class Addresses:
    """A thread's checkpoints by address alone, all namespaces, oldest first, a parent before its child.

    ``parents`` are places in ``refs``, -1 for none here; ``missing`` are those that are named and not in the store, by
    the place of their child. What lies on a circle of parents comes first.
    """

    refs: Sequence[Ref]
    parents: Sequence[int]
    missing: Mapping[int, Ref]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A question a task asked. ``schema`` is the JSON Schema of the answer, when known.

    ``turn`` counts the answers that its task was given before: some releases give all questions of a task one id.
    """

    id: str
    value: Value
    schema: Mapping[str, Value] | None = None
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Write:
    """One value a task wrote to one channel."""

    channel: str
    value: Value


@dataclass(frozen=True, slots=True)
class Task:
    """One node's part of the superstep that starts at a checkpoint. ``status``: done, failed, waiting, pending.

    ``given`` is what a Send hands it, MISSING for a task that reads the state.
    """

    id: str
    node: str
    path: str
    status: str
    writes: tuple[Write, ...] = ()
    error: str | None = None
    interrupts: tuple[Interrupt, ...] = ()
    given: Value = MISSING


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint, decoded. ``internals`` are the runtime's own values (control channels, versions), not state.

    ``rebuilt`` names the values of the state that this row does not hold itself: they are put together from earlier
    rows, how is said in a few words.
    """

    header: Header
    state: Mapping[str, Value]
    tasks: tuple[Task, ...] = ()
    internals: Mapping[str, Value] = field(default_factory=dict)
    rebuilt: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """A checkpoint about to be appended. The caller chooses the id once, so that a repeated append is recognised.

    A ``step`` of None is the parent's + 1, and −1 for a thread's first. ``blobs`` are binary values that the state has
    references to (`stores.blobs`), by their SHA-256; those that stand in it as bytes need not be told.
    """

    ref: Ref
    parent: Ref | None
    state: Mapping[str, Value]
    source: str
    meta: Mapping[str, Value] = field(default_factory=dict)
    step: int | None = None
    nodes: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    status: str = Status.UNFINISHED
    blobs: Mapping[str, Opaque] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """One thread in a listing. ``updated`` is its newest write; ``forked_from`` the checkpoint it was forked at.

    ``checkpoints`` is None where the store does not count them. With ``read`` False only addresses are known: status,
    last node and meta are not empty but unknown, and so is the step where ids do not tell it.
    """

    thread: str
    checkpoints: int | None
    head: Ref | None
    step: int | None
    status: str
    updated: datetime | None
    forked_from: Ref | None = None
    last_node: str | None = None
    meta: Mapping[str, Value] = field(default_factory=dict)
    read: bool = True


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a listing. ``next`` is passed as ``after`` for the following part, None at the end."""

    items: tuple[T, ...]
    next: str | None = None


class Capability:
    """What an adapter declares, and its conformance suite then proves both ways."""

    WRITE: Final = "write"  # Writer.append
    FORK: Final = "fork"  # Writer.fork, to a new thread and in the thread itself
    RUNS: Final = "runs"  # RunStore: the embedded executor can run here
    NAMESPACES: Final = "namespaces"  # checkpoints of subgraphs under a ns other than ""
    TASKS: Final = "tasks"  # Checkpoint.tasks is filled
    BLOBS: Final = "blobs"  # a state may hold bytes; they are read back as a `stores.model.Opaque` of kind "bytes"
    NAMES_FORKS: Final = "names-forks"  # Writer.fork to a new thread takes "" for its name: the store chooses one


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is. ``url`` has its password masked; ``notices`` are sentences a user should see once."""

    url: str
    kind: str  # "native" | "langgraph" | "table" | "memory" | an entry point's name
    store_id: str  # stable, names the sidecar file
    capabilities: frozenset[str]
    read_only: bool
    path: str | None = None
    notices: tuple[str, ...] = ()
