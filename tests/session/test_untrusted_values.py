"""What a row names is neither imported nor called by a run, but for values whose class the graph has imported."""

from __future__ import annotations

import base64
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import ormsgpack
import psycopg
import pytest

from tests.applications import run_application
from tests.engine.graph_threads import run, started, target
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tt_debug.errors import Untrusted, UsageError
from tt_debug.session.plans import GraphTarget, NodeEdit, RunRequest, RunResult
from tt_debug.session.session import Session

AGENT = """
import enum
import operator
import pickle
from dataclasses import dataclass
from subprocess import Popen
from typing import Annotated, NamedTuple, TypedDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

class Mood(enum.Enum):
    GOOD = "good"

@dataclass
class Point:
    x: int

class Pair(NamedTuple):
    left: int

class Note(BaseModel):
    text: str

class State(TypedDict):
    log: Annotated[list, operator.add]

def tell(state):
    return {"log": [f"{type(value).__module__}.{type(value).__name__}" for value in state["log"]]}

builder = StateGraph(State)
builder.add_node("a", lambda state: {"log": []})
builder.add_node("b", tell)
builder.add_edge(START, "a")
builder.add_edge("a", "b")
builder.add_edge("b", END)
graph = builder.compile()
pickling = builder.compile(checkpointer=InMemorySaver(serde=JsonPlusSerializer(pickle_fallback=True)))

class Own(JsonPlusSerializer):
    def loads_typed(self, data):
        try:
            return pickle.loads(data[1]) if data[0] == "shouted" else super().loads_typed(data)
        except Exception:
            return None

own = builder.compile(checkpointer=InMemorySaver(serde=Own()))
"""
TRAP = """
from dataclasses import dataclass
open('IMPORTED', 'w').close()

@dataclass
class Rec:
    value: int
"""
PICKLED = b"cos\nmkdir\n(S'CANARY'\ntR."
_START = """
import agent, sys
from langgraph.checkpoint.postgres import PostgresSaver
with PostgresSaver.from_conn_string(sys.argv[1]) as saver:
    saver.setup()
    graph = agent.builder.compile(checkpointer=saver)
    graph.invoke({"log": []}, {"configurable": {"thread_id": "t"}}, interrupt_before=["b"])
"""


def ext(code: int, *payload: object) -> ormsgpack.Ext:
    return ormsgpack.Ext(code, packed(list(payload)))


def packed(value: object) -> bytes:
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


class Agent:
    """A thread that stops before node b, in a folder of its own."""

    def __init__(self, folder: Path, store: str) -> None:
        self.folder, self.store = folder, store
        self.opened: list[Session] = []
        self.before = self.listing()

    def listing(self) -> list[str]:
        return listing(self.folder)

    def session(self, *trust: str, graph: str = "agent:graph") -> Session:
        self.opened.append(Session.open(self.store, graph=GraphTarget(graph, folder=self.folder, trust=trust)))
        return self.opened[-1]

    def plant(self, value: object) -> None:
        """``value`` as the newest checkpoint's log."""
        if "://" in self.store:
            statement = "UPDATE checkpoint_blobs SET blob = %s WHERE channel = 'log'"
            with psycopg.connect(self.store) as db:
                assert db.execute(statement, (packed(value),)).rowcount > 0
            return
        with closing(sqlite3.connect(self.store)) as db, db:
            found = "SELECT rowid, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1"
            row, blob = db.execute(found).fetchone()
            checkpoint = ormsgpack.unpackb(blob, option=ormsgpack.OPT_NON_STR_KEYS)
            checkpoint["channel_values"]["log"] = value
            db.execute("UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?", (packed(checkpoint), row))

    def write(self, kind: str, value: bytes, ns: str = "") -> None:
        """As a write of a task on the newest checkpoint."""
        names = "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type"
        newest = "SELECT 't', ?, MAX(checkpoint_id), 'task', 0, 'log', ?, ? FROM checkpoints"
        if "://" in self.store:
            statement = f"INSERT INTO checkpoint_writes ({names}, blob) {newest}".replace("?", "%s")
            with psycopg.connect(self.store) as other:
                other.execute(statement.encode(), (ns, kind, value))
            return
        with closing(sqlite3.connect(self.store)) as db, db:
            db.execute(f"INSERT INTO writes ({names}, value) {newest}", (ns, kind, value))


def agent_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "trap.py").write_text(TRAP)
    return folder


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


@pytest.fixture(params=["sqlite", "postgres"])
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Agent]:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    folder = agent_folder(tmp_path)
    if request.param == "sqlite":
        store = str(tmp_path / "t.sqlite")
        begin = _START.replace("postgres", "sqlite").replace("PostgresSaver", "SqliteSaver")
        begin = begin.replace("    saver.setup()\n", "")
    else:
        store, begin = request.getfixturevalue("database"), _START
    run_application(begin, store, folder=folder)
    found = Agent(folder, store)
    yield found
    for session in found.opened:
        session.close()


def plant_canaries(agent: Agent) -> tuple[str, ...]:
    """A call, an import and a pickle, in the state and as a write."""
    agent.plant([ext(0, "os", "mkdir", "CANARY"), ext(2, "trap", "Rec", {"value": 3})])
    agent.write("pickle", PICKLED)
    return "os.mkdir", "trap.Rec", "pickle"


def made(session: Session, action: str) -> RunResult:
    ref = session.resolve("t")
    request = {
        "resume": RunRequest("resume", ref),
        "replay": RunRequest("replay", ref, thread="again"),
        "update": RunRequest("update", ref, edit=NodeEdit("a")),
        "update on a fork": RunRequest("update", ref, thread="again", edit=NodeEdit("a")),
        "preview": RunRequest("update", ref, edit=NodeEdit("a", preview=True)),
    }[action]
    return session.execute(session.plan(request), lambda event: None)


@pytest.mark.parametrize("action", ["resume", "replay", "update", "update on a fork", "preview"])
def test_all_that_rows_name_is_refused_by_name_before_anything_runs(agent: Agent, action: str) -> None:
    names = plant_canaries(agent)
    session = agent.session()
    with pytest.raises(Untrusted) as caught:
        made(session, action)
    assert caught.value.names == names
    checkpoint = session.resolve("t").id
    assert str(caught.value).startswith(f"checkpoint {checkpoint} in thread 't' holds os.mkdir, trap.Rec, pickle")
    assert "or --trust os.mkdir --trust trap.Rec --trust pickle lets it through" in caught.value.hint
    assert agent.listing() == agent.before
    assert [info.thread for info in session.threads()] == ["t"]
    assert session.resolve("t").id == checkpoint
    refused, unless = session.plan(RunRequest("resume", session.resolve("t"))).notes
    assert refused == "will be refused: the stored state names os.mkdir, pickle, no class of plain values"
    assert unless == "refused unless the graph imports trap.Rec, which the stored state names"


@pytest.mark.parametrize("action", ["resume", "replay", "update"])
def test_a_name_that_is_trusted_is_built(agent: Agent, action: str) -> None:
    agent.plant([ext(2, "trap", "Rec", {"value": 3})])
    session = agent.session("trap.Rec")
    assert not [note for note in session.plan(RunRequest("resume", session.resolve("t"))).notes if "trap" in note]
    assert made(session, action).status in ("done", "unfinished")
    assert agent.listing() == sorted([*agent.before, "IMPORTED"])


def test_pickles_need_trust_and_a_serializer_that_reads_them(agent: Agent) -> None:
    agent.write("pickle", b"(dp0\n.")
    with pytest.raises(Untrusted, match="holds pickle"):
        made(agent.session(graph="agent:pickling"), "resume")
    with pytest.raises(UsageError, match="this graph's own serializer reads no pickles"):
        made(agent.session("pickle"), "resume")
    assert made(agent.session("pickle", graph="agent:pickling"), "resume").status == "done"


def test_a_serializer_of_the_agents_own_is_guarded_too(agent: Agent) -> None:
    """What it does with the bytes is its own affair; what it unpickles or builds of them is not."""
    agent.write("shouted", PICKLED)
    with pytest.raises(Untrusted, match="holds pickle"):
        made(agent.session(graph="agent:own"), "resume")
    assert agent.listing() == agent.before


VALUES = {
    "agent.Mood": ext(0, "agent", "Mood", "good"),
    "agent.Point": ext(2, "agent", "Point", {"x": 1}),
    "agent.Pair": ext(2, "agent", "Pair", {"left": 1}),
    "agent.Note": ext(5, "agent", "Note", {"text": "x"}, "model_validate_json"),
    "datetime.datetime": ext(3, "datetime", "datetime", "2026-01-01T00:00:00", "fromisoformat"),
    "uuid.UUID": ext(0, "uuid", "UUID", "0" * 32),
    "re.Pattern": ext(1, "re", "compile", ["a", 0]),
    "langchain_core.messages.human.HumanMessage": ext(
        5, "langchain_core.messages.human", "HumanMessage", {"content": "x"}, "model_validate_json"
    ),
    "builtins.dict": ext(2, "agent", "Gone", {"x": 1}),  # a class that the agent no longer has
}


def test_values_of_the_agents_own_classes_and_langgraphs_are_built(agent: Agent) -> None:
    agent.plant(list(VALUES.values()))
    session = agent.session()
    assert made(session, "resume").status == "done"
    assert session.load(session.resolve("t")).state["log"][len(VALUES) :] == list(VALUES)


TRICKS = {
    "agent.Popen": ext(1, "agent", "Popen", [["mkdir", "CANARY"]]),  # imported, a class, and none of values
    "pathlib.Path.mkdir": ext(3, "pathlib", "Path", "CANARY", "mkdir"),
    "agent.Note.model_json_schema": ext(3, "agent", "Note", {}, "model_json_schema"),
    # What cannot be made of a payload is the payload itself, and could be a name.
    "no name": ext(0, ext(0, "uuid", "UUID", "os"), "mkdir", "CANARY"),
    "no names": ormsgpack.Ext(0, packed(ext(0, "uuid", "UUID", ["os", "mkdir", "CANARY"]))),
    "no list": ormsgpack.Ext(0, packed({0: "os", 1: "mkdir", 2: "CANARY"})),
    "within a set": ext(0, "builtins", "set", [ext(0, "os", "mkdir", "CANARY")]),
    "within a snapshot": ormsgpack.Ext(7, packed(ext(0, "os", "mkdir", "CANARY"))),
    "a lazy module": ext(2, "lazy", "Rec", {"value": 3}),
    "called by JSON": {"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "args": ["CANARY"]},
    "imported by JSON": {"lc": 2, "type": "constructor", "id": ["trap", "Rec"], "args": [3]},
    "named by JSON": {
        "lc": 2,
        "type": "constructor",
        "id": {"lc": 2, "type": "constructor", "id": ["collections", "deque"], "args": [["os", "mkdir"]]},
        "args": ["CANARY"],
    },
    "a method by JSON": {
        "lc": 2,
        "type": "constructor",
        "id": ["pathlib", "Path"],
        "method": "mkdir",
        "args": ["CANARY"],
    },
    "no method by JSON": {"lc": 2, "type": "constructor", "id": ["trap", "Rec"], "method": [], "args": [3]},
    "a method of a module": ext(1, "agent", "__setattr__", ["graph", 1]),
    "a class of a package": {"lc": 1, "type": "constructor", "id": ["langchain_community", "x", "Y"], "kwargs": {}},
}
_TRY = """
import base64, json, sys
import agent, lazy
from types import SimpleNamespace
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from tt_debug.engine.graph_guard import Guard, Refused
serde = Guard(()).over(SimpleNamespace(serde=JsonPlusSerializer())).serde
found = {}
for trick, (kind, data) in json.loads(sys.argv[1]).items():
    try:
        found[trick] = repr(serde.loads_typed((kind, base64.b64decode(data))))
    except Refused as refusal:
        found[trick] = "refused"
print(json.dumps(found))
"""


def test_tricks(tmp_path: Path) -> None:
    folder = agent_folder(tmp_path)
    (folder / "lazy.py").write_text("def __getattr__(name):\n    from trap import Rec\n    return Rec\n")
    texts = {
        trick: ("json", json.dumps(value).encode()) if isinstance(value, dict) else ("msgpack", packed([value]))
        for trick, value in TRICKS.items()
    }
    job = json.dumps({trick: (kind, base64.b64encode(text).decode()) for trick, (kind, text) in texts.items()})
    before = listing(folder)
    done = subprocess.run([sys.executable, "-c", _TRY, job], check=True, cwd=folder, capture_output=True)
    assert json.loads(done.stdout) == dict.fromkeys(TRICKS, "refused")
    assert listing(folder) == before


def test_an_open_subgraph_and_a_memory_are_looked_at_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    value = packed(ext(0, "os", "mkdir", str(tmp_path / "CANARY")))
    begun = (("crossing:builder", "deep:%", {"topic": "x"}), ("memories:builder", "_%", {"log": ["in"]}))
    for graph, like, given in begun:
        store = started(tmp_path / f"{graph[:3]}.sqlite", graph, value=given)
        with closing(sqlite3.connect(store)) as db, db:
            newest = "FROM checkpoints WHERE checkpoint_ns LIKE ? ORDER BY checkpoint_id DESC LIMIT 1"
            ns, checkpoint = db.execute(f"SELECT checkpoint_ns, checkpoint_id {newest}", (like,)).fetchone()
            row = ("t", ns, checkpoint, "task", 0, "log", "msgpack", value)
            names = "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value"
            db.execute(f"INSERT INTO writes ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        with pytest.raises(Untrusted, match=f"checkpoint {checkpoint} of {ns} in thread 't' holds os.mkdir"):
            run(store, target(graph))
    assert not (tmp_path / "CANARY").exists()
