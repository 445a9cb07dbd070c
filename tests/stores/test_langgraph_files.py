"""Files that are damaged, hostile, locked, old or foreign: opened safely, shown honestly, left as they were."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stores.errors import Corrupt, StoreError, Unsupported
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Header, Opaque, Tagged, Value
from tests.stores.langgraph_files import CURRENT, fingerprint, unpack

Open = Callable[[str], LangGraphStore]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a fixture in a folder of its own; closed after the test."""
    stores: list[LangGraphStore] = []

    def open_it(name: str) -> LangGraphStore:
        folder = tmp_path / f"{len(stores)}"
        folder.mkdir()
        stores.append(LangGraphStore(unpack(name, folder)))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def everything(store: LangGraphStore) -> tuple[list[Header], list[StoreError]]:
    """Every header, with every state and task loaded; and what could not be."""
    headers = [one for info in store.threads().items for one in store.headers(info.thread).items]
    errors = []
    for header in headers:
        try:
            store.load(header.ref)
        except StoreError as error:
            errors.append(error)
    return headers, errors


READABLE = [
    CURRENT,
    "special_async.sqlite",
    "hostile.sqlite",
    "wal_uncheckpointed.sqlite",
    "no_writes_table.sqlite",
    "missing_metadata_column.sqlite",
    "writes_without_task_path.sqlite",
    "empty_tables.sqlite",
    "lg0.6.11_sqlite2.0.11.sqlite",
    "lg0.2.76_sqlite2.0.1.sqlite",
    "lg0.2.20_sqlite1.0.3.sqlite",
    "lg0.1.19_builtin.sqlite",
]


@pytest.mark.parametrize("name", READABLE)
def test_looking_at_everything_changes_no_byte_and_no_file(name: str, tmp_path: Path) -> None:
    unpack(name, tmp_path)
    before = fingerprint(tmp_path)
    store = LangGraphStore(tmp_path / name)
    headers, errors = everything(store)
    assert fingerprint(tmp_path) == before
    store.close()
    assert fingerprint(tmp_path) == before
    assert errors == []
    assert [header.problem for header in headers if header.problem] == []
    assert bool(headers) == (name != "empty_tables.sqlite")


# The same, in a process of its own that tells what was started and which of the packages named were imported.
LOOK = """
import sys
from stores import open_store
STARTS = {"os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile",
          "subprocess.Popen", "pty.spawn", "pickle.find_class"}
started = []
sys.addaudithook(lambda name, args: started.append(name) if name in STARTS else None)
store = open_store(sys.argv[1])
for info in store.threads().items:
    for header in store.headers(info.thread).items:
        repr(store.load(header.ref))
store.close()
named = {"langgraph", "langchain_core", "numpy", "subprocess", "pickle", "_graphs"}
print(started, sorted(named & set(sys.modules)))
"""


@pytest.mark.parametrize("name", ["hostile.sqlite", CURRENT])
def test_nothing_that_a_file_names_is_imported_or_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    path = unpack(name, tmp_path / "db")
    (tmp_path / "home").mkdir()
    said = subprocess.run(
        [sys.executable, "-c", LOOK, str(path)],
        cwd=Path(__file__).parents[2],
        env={
            "PATH": "",
            "HOME": str(tmp_path / "home"),
            "TMPDIR": str(tmp_path / "home"),
            "TT_DEBUG_HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "[] []"
    assert said.stderr == ""
    assert [one.name for one in (tmp_path / "db").iterdir()] == [name]
    assert list((tmp_path / "home").iterdir()) == []


def classes_in(value: Value) -> set[str]:
    if isinstance(value, Tagged):
        return {value.type_name} | classes_in(value.value)
    if isinstance(value, dict):
        return {name for item in value.values() for name in classes_in(item)}
    return {name for item in value for name in classes_in(item)} if isinstance(value, list) else set()


def test_what_a_hostile_file_would_run_is_shown_as_data(opened: Open) -> None:
    store = opened("hostile.sqlite")
    writes = {
        write.channel: write.value for task in store.load(store.head("hitl-waiting")).tasks for write in task.writes
    }
    assert writes["os_system"].value == "touch /tmp/lg_pwned_ext0"
    assert classes_in(writes) >= {"os.system", "subprocess.Popen", "subprocess.run"}
    kinds = {name: value.kind for name, value in writes.items() if isinstance(value, Opaque)}
    assert kinds == {
        "array32": "undecodable",
        "bad_ndarray": "ndarray",
        "deep_array": "undecodable",
        "neg_ext": "msgpack extension -1",
        "pickle": "pickle",
        "unknown_ext": "msgpack extension 99",
    }


def test_a_log_that_was_not_written_back_is_seen(opened: Open, tmp_path: Path) -> None:
    assert len(opened("wal_uncheckpointed.sqlite").threads().items) == 4
    alone = unpack("wal_uncheckpointed.sqlite", tmp_path)
    Path(f"{alone}-wal").unlink()
    store = LangGraphStore(alone)
    assert len(store.threads().items) == 2
    store.close()


def test_a_damaged_row_does_not_hide_its_neighbours(opened: Open) -> None:
    store = opened("undecodable.sqlite")
    headers = store.headers("agent-linear").items
    assert len(headers) == 32
    damaged = {header.step: header.problem for header in headers if header.problem}
    assert set(damaged) == {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16, 17}
    assert damaged[5] == "it holds the content of checkpoint 1f1ec15e-2273-61b0-800d-68aad9d632f7"
    readable = [header for header in headers if not header.problem or "metadata" in header.problem]
    assert len(readable) == 20
    assert all("messages" in store.load(header.ref).state for header in readable if header.source != "input")
    kinds = {
        header.step: store.load(header.ref).state["checkpoint"].kind
        for header in headers
        if header.problem and header.problem.startswith(("stored as", "stored by", "encrypted"))
    }
    assert kinds == {17: "pickle", 7: "msgpack+aes", 2: "protobuf"}
    assert damaged[17].startswith("stored as a pickle, which is never opened, as that can run code")
    assert damaged[2].startswith("stored by another serializer than LangGraph's, as protobuf")
    errors = everything(store)[1]
    assert {type(error) for error in errors} == {Corrupt}
    assert len(errors) == 8
    assert all("agent-linear" in str(error) and error.hint for error in errors)


def test_parents_that_are_gone_and_parents_in_a_circle(opened: Open) -> None:
    orphans = opened("orphan_parent.sqlite")
    headers = orphans.headers("agent-linear").items
    present = {header.ref for header in headers}
    assert sum(1 for header in headers if header.parent and header.parent not in present) == 1
    inner = next(info for info in orphans.threads().items if info.thread == "subgraph-nested")
    assert (inner.head, inner.checkpoints, inner.last_node) == (None, 8, "inner")
    circle = opened("parent_cycle.sqlite")
    assert len(circle.headers("agent-linear").items) == 32
    assert everything(circle)[1] == []


def test_a_file_without_its_writes_says_so(opened: Open) -> None:
    store = opened("no_writes_table.sqlite")
    assert "no table of writes" in store.info.notices[0]
    assert store.headers("hitl-waiting").items[0].next == ("approve", "audit")
    assert {task.status for task in store.load(store.head("hitl-waiting")).tasks} == {"pending"}


def test_tasks_are_named_without_their_paths(opened: Open) -> None:
    store = opened("writes_without_task_path.sqlite")
    tasks = store.load(store.head("hitl-waiting")).tasks
    assert {task.node: task.status for task in tasks} == {"approve": "waiting", "audit": "done"}
    assert [header.nodes for header in reversed(store.headers("fanout-send").items)][3:] == [
        ("side", "worker"),
        ("join",),
    ]


def test_tables_of_another_application_are_refused(opened: Open) -> None:
    with pytest.raises(Unsupported, match="no LangGraph tables"):
        opened("foreign_schema.sqlite")
