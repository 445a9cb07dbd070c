"""What front ends pass to the session and get from it about running code: requests, plans, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from stores.model import Diff, Ref, Value
from stores.runs import Definition
from tt_debug.engine.events import Event
from tt_debug.text import safe_text

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """A user's LangGraph graph: ``module:attr``, ``./file.py:attr`` or a name in langgraph.json, and how to run it.

    ``config`` may hold ``configurable``, ``context`` and ``recursion_limit``. ``python`` is the interpreter of the
    agent's own environment, ours when None. ``trust`` are names of stored values ("module.Class", or "pickle") that
    may be imported and called although the graph has not imported them.
    """

    graph: str
    config: Mapping[str, Value] = field(default_factory=dict)
    env_file: Path | None = None
    python: str | None = None
    folder: Path | None = None
    trust: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeEdit:
    """An edit as the update of a node: the graph says what comes out, and what runs next.

    ``changes`` are replaced exactly, or with ``by_reducer`` handed to the graph's reducers. ``preview`` stores nothing.
    """

    as_node: str
    changes: Diff = ()
    by_reducer: bool = False
    preview: bool = False


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a user asks to be run. ``answer`` (a JSON value) is present only when ``has_answer``.

    ``action`` "run" starts ``thread`` with ``input``; "resume" goes on at the head ``ref``; "replay" runs again
    from ``ref`` on a new thread; "update" makes ``edit`` at ``ref``, in the thread itself or on a new ``thread``.
    ``accept_graph`` agrees to a graph that is not the one that last ran the thread. ``until`` stops before a node,
    ``single_step`` after one node. ``again`` is for a batch that is repeated: a thread that was started with this
    very input is gone on with, or left when it is done. ``on_conflict`` (`stores.effects.OnConflict`) says what to do
    where an effect on record meets another request; None stops there and asks. ``allow`` are the classes of effects
    that a replay may call, all of them when empty. ``mode`` of a replay: "live" calls everything again; "recorded" runs
    the nodes and calls nothing, "verify" ends at the first divergence from the record; None is "recorded" where there
    is a record, else "live". ``check_refs``: before anything runs, servers on the web are asked whether what the state
    refers to there is still there, and is what it was.
    """

    action: Literal["run", "resume", "replay", "update"]
    ref: Ref | None = None
    thread: str | None = None
    input: Mapping[str, Value] = field(default_factory=dict)
    business_id: str | None = None
    until: str | None = None
    single_step: bool = False
    answer: Value = None
    has_answer: bool = False
    answered_by: str = ""
    workflow: Path | None = None
    graph: GraphTarget | None = None
    again: bool = False
    edit: NodeEdit | None = None
    accept_graph: bool = False
    mode: Literal["live", "recorded", "verify"] | None = None
    on_conflict: str | None = None
    allow: tuple[str, ...] = ()
    check_refs: bool = False


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What would run, for the confirm dialog and exit 6. Nothing has happened yet.

    ``nodes`` are those that run first, in order as far as it is known; ``stops`` says in words where it ends.
    ``calls`` are model calls, human tasks and other work seen on this path, one line each. ``ended`` is what a
    repeated request came to before: it runs nothing more. ``does`` are the lines of a plan that runs no node.
    ``recorded`` are the effects on record that come next, "name in node (class)" each; ``differing`` those of them that
    are not simply called where the request is another one by now.
    """

    title: str
    request: RunRequest
    runner: Literal["workflow", "graph", "server"]
    thread: str
    base: Ref | None
    step: int | None
    nodes: tuple[str, ...]
    stops: str
    calls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    definition: Definition | None = None  # what will run, for a workflow
    instead_of: Definition | None = None  # what its thread was bound to, where another takes over from that
    code: str = ""  # what is imported: "nodes.py beside trip.yaml", "agent.py:graph in ~/agent/.venv"
    ended: RunResult | None = None
    does: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    on_web: int = 0  # things on the web that the state refers to

    @property
    def from_record(self) -> bool:
        """Whether it is a replay that calls nothing, and after which the thread is as it was."""
        return self.request.action == "replay" and self.request.mode in ("recorded", "verify")

    def lines(self) -> tuple[str, ...]:
        """The plan as text, one fact a line: no name in it makes another."""
        first = " → ".join(self.nodes) if self.nodes else "nothing"
        where = f"from step {self.step}" if self.step is not None else "from its start"
        runs = (f"will execute  {first}  {where}", f"until         {self.stops}")
        parts = [self.title, *(self.does or runs)]
        if self.code:
            parts.append(f"code          {self.code}")
        parts += [f"calls         {call}" for call in self.calls]
        parts += [f"on record     {line}" for line in self._on_record()]
        if self.on_web:
            things = f"{self.on_web} thing{'s' * (self.on_web != 1)} on the web"
            asked = "looked at before anything runs" if self.request.check_refs else "not looked at (--check-refs)"
            parts.append(f"refers to     {things}: {asked}")
        parts += [f"note          {note}" for note in self.notes]
        return tuple(safe_text(part) for part in parts)

    def _on_record(self) -> tuple[str, ...]:
        """What becomes of the effects on record, in words."""
        if not self.recorded:
            return ()
        if self.request.action == "replay":
            return (f"{_few(self.recorded)}: called again, under new keys",)
        told = (f"{_few(self.recorded)}: given from the record where it asks for the same",)
        if not self.differing:
            return told
        then = {"new": "called under a new key", "reuse": "the recorded result all the same", "skip": "skipped"}
        decided = then.get(self.request.on_conflict or "", "stops there and asks, unless that is decided before")
        return (*told, f"{_few(self.differing)}: with another request by now, {decided}")


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 5 else ""
    return ", ".join(names if len(names) <= 5 else names[:4]) + more


@dataclass(frozen=True, slots=True)
class Updated:
    """What came of a `NodeEdit`: the states before and after as plain JSON, the changes, and what runs next."""

    before: Mapping[str, Value]
    after: Mapping[str, Value]
    changes: Diff
    next: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended. ``status`` as in `stores.model.Status`; ``head`` is the thread's newest checkpoint.

    ``notes`` are sentences: where what ran was not what was announced, or somebody else wrote meanwhile.
    ``divergence`` is where a replay left the record: node, step, what, recorded, replayed.
    """

    run: str
    thread: str
    status: str
    head: Ref | None
    error: str | None = None
    notes: tuple[str, ...] = ()
    updated: Updated | None = None
    divergence: Mapping[str, Value] | None = None
