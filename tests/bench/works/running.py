"""Durable steps of a workflow: a trivial node, a state of 2 kB, every commit on the disk before the next node."""

from __future__ import annotations

import atexit
import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TypedDict

from tests.bench.harness import Amount

STEPS: Final = 200
"""Of one run; a round is one run on a new thread, and its figure is seconds a step."""

TEXT: Final = "What a node of an agent keeps in its state, again and again. " * 32


def node(state: dict[str, Any]) -> dict[str, Any]:
    """Counts."""
    return {"n": state["n"] + 1}


def steps_ours(server: bool = False, at: str | None = None) -> Callable[[], Amount]:
    """Our executor, in this very process: a run from its claim to its end. ``at`` is a store that is there."""
    from stores import create_native, open_store
    from stores.ids import new_id
    from stores.model import NewCheckpoint, Ref
    from stores.protocol import RunStore
    from stores.runs import Run
    from tt_debug.definition.load import load_workflow
    from tt_debug.engine.ownership import Heartbeat, claimed
    from tt_debug.engine.runner import Runner
    from tt_debug.engine.surroundings import Clock, Orders, StopFlag, Surroundings

    place = at or (_server() if server else str(_folder() / "ours.sqlite"))
    create_native(place)
    store = open_store(place, read_only=False)
    assert isinstance(store, RunStore)
    workflow = load_workflow(_definition())
    store.put_definition(workflow.definition())

    def work() -> Amount:
        name = uuid.uuid4().hex
        first = NewCheckpoint(Ref(name, "", new_id(-1)), None, _state(), "input", step=-1, next=(workflow.start,))
        store.create_run(Run(name, name, workflow.hash), first)
        begun = time.perf_counter()
        with claimed(store, store.run(name)) as mine, Heartbeat(store, mine) as heart:
            around = Surroundings(store, lambda event: None, StopFlag(), Clock(store.time()), heart.prolong)
            ending = Runner(mine, workflow, Orders(), around).go()
        assert ending.status == "done"
        return Amount((time.perf_counter() - begun) / STEPS)

    return work


def _definition() -> Path:
    run, last = f"{__name__}:node", STEPS - 1
    nodes = [
        {"id": f"n{n}", "type": "python", "run": run, "next": None if n == last else f"n{n + 1}"} for n in range(STEPS)
    ]
    file = _folder() / "steps.json"
    file.write_text(json.dumps({"workflow_id": "steps", "version": "1", "nodes": nodes}))
    return file


def _state() -> dict[str, Any]:
    return {"text": TEXT, "n": 0}


def _folder() -> Path:
    """A folder on a real disk, for the length of the process."""
    folder = tempfile.TemporaryDirectory(prefix="tt-debug-bench-", dir=Path.cwd())
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _server() -> str:
    """The URL of a new database of a PostgreSQL server that lives as long as the process."""
    from tests.postgres import fresh_database, running

    holder = _database(running, fresh_database)
    url = next(holder)
    atexit.register(lambda: next(holder, None))  # before the server's own, which stops it
    return url


def _database(running: Any, fresh_database: Any) -> Iterator[str]:
    with running() as server, fresh_database(server) as url:
        yield url


def steps_floor(server: bool = False) -> Callable[[], Amount]:
    """The same rows by hand: what a step of ours changes, in one transaction, under the same lock."""
    from stores import create_native

    place = _server() if server else str(_folder() / "floor.sqlite")
    create_native(place)
    return _by_hand_on_server(place) if server else _by_hand(place)


_INSERT_CHECKPOINT: Final = (
    "INSERT INTO checkpoints (thread_id, checkpoint_id, parent_id, step, source, nodes, visit, next, status, run_id,"
    " token, commit_id, workflow_hash, checksum, size, created_at, meta, state)"
    " VALUES (?, ?, ?, ?, 'step', ?, 1, ?, 'unfinished', ?, 1, ?, ?, ?, ?, ?, '{}', ?)"
)
_INSERT_STEP: Final = (
    "INSERT INTO steps (run_id, ordinal, attempt, node, visit, token, status, thread_id, base, started_at)"
    " VALUES (?, ?, 1, ?, 1, 1, 'running', ?, ?, ?)"
)
_END_STEP: Final = (
    "UPDATE steps SET status = 'completed', ended_at = ?, checkpoint_id = ?, output = ?"
    " WHERE run_id = ? AND ordinal = ? AND attempt = 1 AND status = 'running'"
)
_FENCE: Final = "UPDATE runs SET head = ?, beat_at = ? WHERE run_id = ? AND token = 1 AND status = 'running'"
_HEAD: Final = "UPDATE threads SET head = ? WHERE thread_id = ?"
_THREAD: Final = "INSERT INTO threads (thread_id, protected, created_at) VALUES (?, 0, 0)"
_RUN: Final = (
    "INSERT INTO runs (run_id, thread_id, workflow_hash, mode, status, token, recoveries, created_at)"
    " VALUES (?, ?, 'w', 'live', 'running', 1, 0, 0)"
)
_DEFINITION: Final = "INSERT INTO definitions (hash, workflow_id, version, body) VALUES ('w', 'w', '1', '{}')"


def _by_hand(place: str) -> Callable[[], Amount]:
    from stores.ids import new_id
    from stores.locks import FileLock
    from stores.native.base import lock_path

    db = sqlite3.connect(place, isolation_level=None)
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    db.execute(_DEFINITION)
    lock = FileLock(lock_path(Path(place)))

    @contextmanager
    def transaction() -> Iterator[Callable[..., object]]:
        lock.take(5)
        db.execute("BEGIN IMMEDIATE")
        yield db.execute
        db.execute("COMMIT")
        lock.free()

    return lambda: _loop(transaction, new_id)


def _by_hand_on_server(place: str) -> Callable[[], Amount]:
    import psycopg

    from stores.ids import new_id

    db = psycopg.connect(place, autocommit=True)
    db.execute("SET search_path TO tt_debug")
    db.execute(_DEFINITION)

    def execute(sql: str, values: tuple[object, ...]) -> object:
        return db.execute(sql.replace("?", "%s").encode(), values)

    @contextmanager
    def transaction() -> Iterator[Callable[..., object]]:
        with db.transaction():
            yield execute

    return lambda: _loop(transaction, new_id)


def _loop(transaction: Any, new_id: Callable[..., str]) -> Amount:
    import orjson

    name, head = uuid.uuid4().hex, None
    state, checksum = _state(), ""
    with transaction() as execute:
        execute(_THREAD, (name,))
        execute(_RUN, (name, name))
        execute(_INSERT_STEP, (name, 0, "n0", name, None, 0))
    begun = time.perf_counter()
    for step in range(STEPS):
        result = node(state)
        state = {**state, **result}
        text = orjson.dumps(state)
        id = new_id(step, head)
        at = time.time_ns() // 1000
        checksum = hashlib.sha256(text + checksum.encode()).hexdigest()
        nodes, following = orjson.dumps([f"n{step}"]).decode(), orjson.dumps([f"n{step + 1}"]).decode()
        with transaction() as execute:
            execute(_FENCE, (id, at, name))
            execute(
                _INSERT_CHECKPOINT,
                (
                    name, id, head, step, nodes, following, name, f"{name}/{step}", "w", checksum, len(text), at,
                    text.decode(),
                ),
            )  # fmt: skip
            execute(_HEAD, (id, name))
            execute(_END_STEP, (at, id, orjson.dumps(result).decode(), name, step))
            execute(_INSERT_STEP, (name, step + 1, f"n{step + 1}", name, id, at))
        head = id
    return Amount((time.perf_counter() - begun) / STEPS)


class _State(TypedDict):
    text: str
    n: int


def steps_langgraph(server: bool = False) -> Callable[[], Amount]:
    """LangGraph with its own saver, durable after every step."""
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(_State)
    graph.add_node("n", lambda state: {"n": state["n"] + 1})
    graph.add_edge(START, "n")
    graph.add_conditional_edges("n", lambda state: "n" if state["n"] < STEPS else END, ["n", END])
    compiled = graph.compile(checkpointer=_saver(server))

    def work() -> Amount:
        config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}, "recursion_limit": STEPS + 10}
        begun = time.perf_counter()
        assert compiled.invoke(_state(), config, durability="sync")["n"] == STEPS  # type: ignore[call-overload]
        return Amount((time.perf_counter() - begun) / STEPS)

    return work


def _saver(server: bool) -> Any:
    if not server:
        from langgraph.checkpoint.sqlite import SqliteSaver

        return SqliteSaver(sqlite3.connect(_folder() / "langgraph.sqlite", check_same_thread=False))
    from langgraph.checkpoint.postgres import PostgresSaver

    saver = atexit_stack().enter_context(PostgresSaver.from_conn_string(_server()))
    saver.setup()
    return saver


def atexit_stack() -> ExitStack:
    """What is left at the end of the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack


def steps_dbos() -> Callable[[], Amount]:
    """DBOS on SQLite: a workflow of as many steps."""
    from dbos import DBOS

    DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{_folder() / 'dbos.sqlite'}"})

    @DBOS.step()
    def step(state: dict[str, Any]) -> dict[str, Any]:
        return {**state, **node(state)}

    @DBOS.workflow()
    def workflow(state: dict[str, Any]) -> int:
        for _ in range(STEPS):
            state = step(state)
        return int(state["n"])

    DBOS.launch()

    def work() -> Amount:
        begun = time.perf_counter()
        assert workflow(_state()) == STEPS
        return Amount((time.perf_counter() - begun) / STEPS)

    return work


def child(place: str) -> None:
    """One of many: makes itself ready, runs its run once it is told to, and says when that has ended."""
    run = steps_ours(at=place)
    print("ready", flush=True)  # noqa: T201
    sys.stdin.readline()
    run()
    print("done", flush=True)  # noqa: T201


def runs_at_once(processes: int) -> Callable[[], Amount]:
    """As many runs of ours at once, each in a process of its own, on one file: seconds a step, over all of them.

    From the word to start to the last run's end: what a process takes to start and to end is no part of a step.
    """
    from stores import create_native

    place = str(_folder() / "many.sqlite")
    create_native(place)
    code = f"import sys; from {__name__} import child; child(*sys.argv[1:])"

    def work() -> Amount:
        argv = [sys.executable, "-c", code, place]
        children = [
            subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
        ]
        _hear(children, "ready\n")
        begun = time.perf_counter()
        for each in children:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        _hear(children, "done\n")
        taken = time.perf_counter() - begun
        for each in children:
            each.communicate()
        return Amount(taken / STEPS / processes)

    return work


def _hear(children: Sequence[subprocess.Popen[str]], line: str) -> None:
    """Wait until every one of them has said the line."""
    for each in children:
        assert each.stdout is not None
        assert each.stdout.readline() == line
