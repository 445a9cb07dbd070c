"""A user's LangGraph graph, described and run through the driver process: our side of it.

Owns the job's shape, the interpreter's name and what a refusal becomes; refuses to import LangGraph or user code.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from stores.errors import Busy, Conflict, NotFound, Unreachable
from stores.model import Ref, Value
from stores.places import state_folder
from stores.postgres_address import address_of
from stores.urls import is_postgres
from tt_debug.engine.child import ChildExit, run_child
from tt_debug.errors import ChildFailed, DefinitionChanged, GraphChanged, Untrusted, UsageError

_DRIVER: Final = Path(__file__).with_name("graph_driver.py")
_LAST_LINES: Final = 5  # of what the child printed, in an error


class Target(Protocol):
    """Which graph, and how to run it; see `tt_debug.session.plans.GraphTarget`."""

    @property
    def graph(self) -> str: ...
    @property
    def config(self) -> Mapping[str, Value]: ...
    @property
    def env_file(self) -> Path | None: ...
    @property
    def python(self) -> str | None: ...
    @property
    def folder(self) -> Path | None: ...
    @property
    def trust(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Question:
    """An open interrupt. ``id`` is LangGraph's; ``ns`` the namespace of the subgraph that asks, "" at the root."""

    id: str
    node: str
    ns: str
    prompt: Value


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """A graph and where a thread stands in it. ``release`` is like "langgraph 1.2.24".

    ``problems`` are sentences; with one of them a run is refused. ``fingerprint`` as in `graph_fingerprint`.
    """

    nodes: tuple[str, ...]
    next: tuple[str, ...]
    questions: tuple[Question, ...]
    head: Ref
    step: int
    release: str
    problems: tuple[str, ...] = ()
    fingerprint: Mapping[str, Value] = field(default_factory=dict)


def describe_graph(target: Target, store_path: str, thread: str) -> GraphFacts:
    """Import the graph in a child process and look at the thread with it; nothing is run or written.

    Raises UsageError for a target that cannot be found, NotFound for the thread, Untrusted where LangGraph would build
    what the graph has not imported, ChildFailed for the rest.
    """
    facts: list[dict[str, Value]] = []
    drive({"do": "describe", "base": None, **common(target, store_path, thread)}, target, facts.append)
    found = next((line for line in facts if line["event"] == "facts"), None)
    if found is None:
        raise ChildFailed("the driver process told nothing about the graph")
    questions = tuple(Question(q["approval"], q["node"], q["ns"], q["prompt"]) for q in found["questions"])
    head = Ref(thread, "", found["head"])
    problems = (f"{', '.join(found['lost'])} would run next, and this graph has no such node",) if found["lost"] else ()
    nodes, following = tuple(found["nodes"]), tuple(found["next"])
    return GraphFacts(
        nodes, following, questions, head, found["step"], found["release"], problems, found["fingerprint"]
    )


def check_graph(target: Target, store_path: str, base: Ref) -> Mapping[str, Value]:
    """The graph's fingerprint, once LangGraph could read checkpoint ``base``, of the root; nothing is run or written.

    Raises as `describe_graph`, and Untrusted.
    """
    facts: list[dict[str, Value]] = []
    drive({"do": "describe", "base": base.id, **common(target, store_path, base.thread)}, target, facts.append)
    found = next((line for line in facts if line["event"] == "facts"), None)
    if found is None:
        raise ChildFailed("the driver process told nothing about the graph")
    known: Mapping[str, Value] = found["fingerprint"]
    return known


def lock_of(store_path: str, thread: str) -> Path:
    """Two runs of ours must not drive one thread of one store. In our state folder, never beside a store."""
    place = address_of(store_path).place if is_postgres(store_path) else os.path.realpath(store_path)
    name = hashlib.sha256(f"{place}\n{thread}".encode("utf-8", "surrogatepass")).hexdigest()
    return state_folder() / "locks" / f"{name[:32]}.lock"


def common(target: Target, store_path: str, thread: str) -> dict[str, Value]:
    """What the driver is told in every job."""
    return {
        "graph": target.graph,
        "folder": str((target.folder or Path.cwd()).absolute()),
        "env_file": None if target.env_file is None else str(target.env_file.absolute()),
        "config": dict(target.config),
        "store": _for_driver(store_path),
        "thread": thread,
        "trust": list(target.trust),
    }


def _for_driver(store_path: str) -> Value:
    """A file's path, or what leads to a database: on the child's stdin, its password is in no list of processes."""
    if not is_postgres(store_path):
        return os.path.abspath(store_path)
    address = address_of(store_path)
    url = address.choosing().secret_url
    return {"url": url, "schema": address.schema or "public", "shown": address.shown}


def drive(
    job: Mapping[str, Value],
    target: Target,
    on_line: Callable[[dict[str, Value]], None],
    owner: Mapping[str, Value] | None = None,
) -> ChildExit:
    """Run the driver, under an ``owner`` where it drives a run; its refusal is raised here, the rest goes on."""
    refused: list[dict[str, Value]] = []

    def listen(line: dict[str, Value]) -> None:
        (refused.append if line["event"] == "refused" else on_line)(line)

    argv = [interpreter(target), str(_DRIVER)]
    if owner is None:
        end = run_child(argv, job, listen, cwd=job["folder"])
    else:
        # -P: a file in the working directory must not take the place of a module of ours.
        ours = [sys.executable, "-P", "-m", "tt_debug.engine.graph_keeper"]
        end = run_child(ours, {**owner, "argv": argv, "driver": job}, listen)
    if refused:
        raise _refusal(refused[0], end)
    if end.code != 0 and job["do"] == "describe":
        raise died(end, "while it looked at the graph")
    return end


def interpreter(target: Target) -> str:
    """The Python that runs the graph: a path, a command's name or a virtual environment's folder; ours by default."""
    if target.python is None:
        return sys.executable
    path = Path(target.python).expanduser()
    if path.is_dir():
        path = path / "bin" / "python"
    if "/" not in target.python and not path.exists():
        return shutil.which(target.python) or target.python
    return os.path.abspath(path)  # not resolved: a virtual environment is known by its link


def _refusal(line: Mapping[str, Value], end: ChildExit) -> Exception:
    text, hint = line["text"], line["hint"]
    match line["kind"]:
        case "usage":
            return UsageError(text, hint=hint)
        case "thread":
            return NotFound(text, hint=hint)
        case "conflict":
            return Conflict(text, hint=hint)
        case "changed":
            return DefinitionChanged(text, tuple(line["names"]), hint=hint)
        case "graph":
            return GraphChanged(text, tuple(line["names"]), hint=hint)
        case "untrusted":
            return Untrusted(text, tuple(line["names"]), hint=hint)
        case "Busy":
            return Busy(text, hint=hint)
        case "Conflict" | "LeaseLost":
            return Conflict(text, hint=hint)
        case "import":
            return ChildFailed(f"{text}{_quoted(end)}", hint=hint)
        case "missing":
            return ChildFailed(text, hint=hint)
    return Unreachable(text, hint=hint)


def died(end: ChildExit, when: str, hint: str = "") -> ChildFailed:
    """The error of a child that was not to end."""
    how = f"was killed by {signal.Signals(-end.code).name}" if end.code < 0 else f"ended with exit code {end.code}"
    return ChildFailed(f"the driver process {how} {when}{_quoted(end)}", hint=hint)


def _quoted(end: ChildExit) -> str:
    lines = end.last_words.splitlines()[-_LAST_LINES:]
    return "\n  ".join(["; its last words:", *lines]) if lines else ""
