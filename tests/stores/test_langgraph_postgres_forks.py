"""Forks and edits in PostgreSQL made by us, read back and run on by stock LangGraph on its PostgresSaver."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.types import Command

from stores.errors import Conflict, Invalid, NotFound, ReadOnly, Unsupported
from stores.langgraph.postgres import LangGraphPostgresStore
from stores.langgraph.postgres_writing import PostgresWriting
from stores.langgraph.rows import CheckpointRow
from stores.model import STUCK, Change, Opaque, Ref, Status
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_graphs import config
from tests.stores.langgraph_postgres import opened, rows_of
from tests.stores.langgraph_stock import header, record, run_on, saver_of
from tests.stores.langgraph_stock import store as store

Stock = Callable[..., Any]
KEY = "0123456789abcdef"


# --- the plain case: a → … → f, forked after c


def test_a_fork_runs_on_from_its_base_and_leaves_the_original(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    original = rows_of(database, "t")
    base = header(store, "t", step=3)

    fork = store.fork(base.ref, "fork")

    assert fork.ref == Ref("fork", "", base.ref.id)
    assert (fork.next, fork.status, fork.nodes) == (("d",), Status.UNFINISHED, ("c",))
    assert store.head("fork") == fork.ref
    ran.clear()
    values, coming, end = run_on(database, graph, "fork")
    assert (values, coming) == ({"log": ["a", "b", "c"], "n": 3}, ("d",))
    assert (end, ran) == ({"log": list("abcdef"), "n": 6}, ["d", "e", "f"])
    assert rows_of(database, "t") == original


def test_copies_are_known_by_their_rows_alone(store: LangGraphPostgresStore, database: str) -> None:
    graph = graphs.chain([])
    for thread in ("t", "another"):
        record(database, graph, thread, {"log": [], "n": 0})
    assert store.copies() == {}
    third, second = header(store, "t", step=3).ref, header(store, "t", step=2).ref
    store.fork(third, "copy")
    run_on(database, graph, "copy")
    store.fork(Ref("copy", "", second.id), "copy of the copy")
    store.fork(header(store, "copy", step=5).ref, "late")
    assert store.copies() == {
        "copy": third,
        "copy of the copy": second,
        "late": Ref("copy", "", header(store, "copy", step=5).ref.id),
    }


def test_an_edited_fork_shows_the_edit_and_runs_on_with_it(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    original = rows_of(database, "t")
    base = header(store, "t", step=3)

    changes = [Change("change", ("n",), 3, 100), Change("add", ("log", 0), new="first")]
    fork = store.fork(base.ref, "fork", changes, meta={"author": "me"})

    assert (fork.source, fork.step, fork.parent) == ("fork", 4, Ref("fork", "", base.ref.id))
    assert (fork.next, fork.meta) == (base.next, {"parents": {}, "author": "me"})
    assert store.load(fork.ref).state == {"log": ["first", "a", "b", "c"], "n": 100}
    assert store.load(Ref("fork", "", base.ref.id)).state == store.load(base.ref).state
    ran.clear()
    values, coming, end = run_on(database, graph, "fork")
    assert (values, coming) == ({"log": ["first", "a", "b", "c"], "n": 100}, ("d",))
    assert (end["n"], end["log"][:2], ran) == (103, ["first", "a"], ["d", "e", "f"])
    assert rows_of(database, "t") == original


def test_scalars_go_into_the_row_and_the_rest_apart_as_the_saver_does(
    store: LangGraphPostgresStore, database: str
) -> None:
    record(database, graphs.chain([]), "t", {"log": [], "n": 0})
    before = rows_of(database, "t")["checkpoint_blobs"]
    store.fork(
        header(store, "t", step=3).ref, "fork", [Change("change", ("n",), 3, 9), Change("change", ("log",), [], ["x"])]
    )
    blobs = rows_of(database, "fork")["checkpoint_blobs"]
    copied = {row[1:] for row in before}
    assert [(row[2], row[4]) for row in blobs if row[1:] not in copied] == [("log", "msgpack")]
    newest = rows_of(database, "fork")["checkpoints"][-1][5]
    assert newest["channel_values"]["n"] == 9
    assert "log" not in newest["channel_values"]
    assert newest["channel_versions"]["n"] == newest["channel_versions"]["log"]


def test_an_edit_in_the_thread_itself_is_one_of_its_head(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.chain(ran)
    record(database, graph, "t", {"log": [], "n": 0}, interrupt_before=["d"])
    original = rows_of(database, "t")
    base = header(store, "t", step=3)
    with pytest.raises(Conflict, match=base.ref.id):
        store.fork(header(store, "t", step=1).ref, "t", [Change("change", ("n",), 1, 2)])
    edit = store.fork(base.ref, "t", [Change("remove", ("log", 1), "b")])
    assert store.head("t") == edit.ref
    assert set(map(str, original["checkpoint_blobs"])) < set(map(str, rows_of(database, "t")["checkpoint_blobs"]))
    ran.clear()
    assert run_on(database, graph, "t")[2] == {"log": list("acdef"), "n": 6}
    assert ran == ["d", "e", "f"]


def test_of_many_edits_of_one_head_at_once_one_is_made(store: LangGraphPostgresStore, database: str) -> None:
    record(database, graphs.chain([]), "t", {"log": [], "n": 0})
    head = store.head("t")

    def edit(number: int) -> str:
        try:
            return store.fork(head, "t", [Change("change", ("n",), 6, number)]).ref.id
        except Conflict:
            return ""

    with ThreadPoolExecutor(4) as pool:
        made = [id for id in pool.map(edit, range(10, 18)) if id]
    assert len(made) == 1
    assert store.head("t").id == made[0]


def test_what_the_application_stores_meanwhile_is_not_overtaken(
    store: LangGraphPostgresStore, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graphs.chain([])
    record(database, graph, "t", {"log": [], "n": 0}, interrupt_before=["d"])
    insert = PostgresWriting.insert

    def and_meanwhile(self: PostgresWriting, thread: str, row: CheckpointRow) -> None:
        run_on(database, graph, "t")
        insert(self, thread, row)

    head = store.head("t")
    monkeypatch.setattr(PostgresWriting, "insert", and_meanwhile)
    with pytest.raises(Conflict, match="in this very moment"):
        store.fork(head, "t", [Change("change", ("n",), 3, 9)])
    assert store.load(store.head("t")).state == {"log": list("abcdef"), "n": 6}


def test_a_removed_channel_has_no_value(store: LangGraphPostgresStore, database: str) -> None:
    record(database, graphs.chain([]), "t", {"log": [], "n": 0})
    fork = store.fork(header(store, "t", step=3).ref, "fork", [Change("remove", ("n",), 3), Change("remove", ("log",))])
    assert store.load(fork.ref).state == {}
    assert run_on(database, graphs.chain([]), "fork")[0] == {"log": []}


# --- values


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a\0b", r"cannot store n .*U\+0000"),
        (math.nan, r"cannot store n .*nan"),
        (math.inf, r"cannot store n .*inf"),
        ("\ud800", r"cannot store n .*surrogate"),
        ({"deep": ["\ud800"]}, r"cannot store n\.deep\[0\] as msgpack"),
    ],
)
def test_what_postgresql_would_refuse_is_refused_with_its_path(
    store: LangGraphPostgresStore, database: str, value: object, reason: str
) -> None:
    record(database, graphs.chain([]), "t", {"log": [], "n": 0})
    base, before = header(store, "t", step=3).ref, rows_of(database, "t")
    with pytest.raises(Invalid, match=reason):
        store.fork(base, "fork", [Change("change", ("n",), 3, value)])
    with pytest.raises(Invalid, match=r"metadata\.why.*U\+0000"):
        store.fork(base, "fork", [Change("change", ("n",), 3, 4)], meta={"why": "a\0b"})
    assert (rows_of(database, "t"), rows_of(database, "fork")["checkpoints"]) == (before, [])


@pytest.mark.parametrize("value", [1e300, -0.0, 2.0, 0.1, True, None, "Łódź 🦜", 2**80, {"a": ["b\0c", math.inf]}, []])
def test_values_come_back_exactly_as_they_went_in_to_us_and_to_langgraph(
    store: LangGraphPostgresStore, database: str, value: Any
) -> None:
    record(database, graphs.chain([]), "t", {"log": [], "n": 0})
    fork = store.fork(header(store, "t", step=3).ref, "fork", [Change("change", ("n",), 3, value)])
    with saver_of(database) as saver:
        stock = graphs.chain([]).compile(checkpointer=saver).get_state(config("fork")).values["n"]
    for found in (store.load(fork.ref).state["n"], stock):
        assert repr(found) == repr(value)


def test_a_step_whose_result_postgresql_refused_is_shown_for_what_it_is(
    store: LangGraphPostgresStore, database: str
) -> None:
    """The task's writes are stored, and then the checkpoint with their result is not: a text with U+0000 in a row."""
    graph = graphs.chain([], c=lambda state: {"n": "a\0b"})
    with saver_of(database) as saver, pytest.raises(psycopg.DataError):
        graph.compile(checkpointer=saver).invoke({"log": [], "n": 0}, config("t"), durability="sync")
    head = store.load(store.head("t"))
    assert (head.header.step, head.header.status, head.header.problem) == (2, Status.FAILED, STUCK)
    (task,) = [one for one in head.tasks if one.node == "c"]
    assert [write.value for write in task.writes if write.channel == "n"] == ["a\0b"]
    fork = store.fork(head.header.ref, "fork", [Change("change", ("n",), 2, 7)])
    assert run_on(database, graphs.chain([]), fork.ref.thread)[2] == {"log": list("abcdef"), "n": 11}


# --- questions


def test_a_fork_at_an_open_question_keeps_it_open(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.asking(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    fork = store.fork(store.head("t"), "fork")
    assert fork.status == Status.WAITING
    ran.clear()
    run_on(database, graph, "fork", Command(resume="yes"))
    assert run_on(database, graph, "fork", Command(resume="me"))[2]["log"][-1] == "pay"
    assert "audit" not in ran
    assert store.load(store.head("t")).header.status == Status.WAITING


def test_an_edit_that_keeps_what_is_open_is_in_the_copy_itself(store: LangGraphPostgresStore, database: str) -> None:
    ran: list[str] = []
    graph = graphs.asking(ran)
    record(database, graph, "t", {"log": [], "n": 0})
    fork = store.fork(store.head("t"), "fork", [Change("change", ("n",), 1, 50)], keep_results=True)
    loaded = store.load(fork.ref)
    assert (fork.status, loaded.state) == (Status.WAITING, {"log": ["prepare"], "n": 50})
    ran.clear()
    run_on(database, graph, "fork", Command(resume="yes"))
    run_on(database, graph, "fork", Command(resume="me"))
    assert "audit" not in ran


# --- encrypted


@pytest.fixture
def sealed(database: str) -> str:
    """A database that stock LangGraph wrote with a key."""
    with saver_of(database, EncryptedSerializer.from_pycryptodome_aes(key=KEY.encode())) as saver:
        graphs.chain([]).compile(checkpointer=saver).invoke({"log": [], "n": 0}, config("t"))
    return database


def test_without_the_key_what_is_encrypted_is_marked(sealed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    store = opened(sealed, read_only=False)
    assert "set LANGGRAPH_AES_KEY" in store.info.notices[0]
    base = header(store, "t", step=3)
    state = store.load(base.ref).state
    # Texts and numbers stand in the row, which LangGraph does not encrypt.
    assert state["n"] == 3
    assert isinstance(state["log"], Opaque)
    assert (state["log"].kind, base.next) == ("msgpack+aes", ("d",))
    store.fork(base.ref, "copy")
    with pytest.raises(Unsupported, match="log is encrypted"):
        store.fork(base.ref, "fork", [Change("change", ("log",), None, [])])
    store.close()


def test_with_the_key_it_is_read_and_what_is_written_is_encrypted(sealed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY)
    store = opened(sealed, read_only=False)
    base = header(store, "t", step=3)
    assert store.load(base.ref).state == {"log": ["a", "b", "c"], "n": 3}
    fork = store.fork(base.ref, "fork", [Change("add", ("log", 3), new="secret")])
    assert store.load(fork.ref).state["log"] == ["a", "b", "c", "secret"]
    assert all(b"secret" not in bytes(row[5] or b"") for row in rows_of(sealed, "fork")["checkpoint_blobs"])
    with saver_of(sealed, EncryptedSerializer.from_pycryptodome_aes(key=KEY.encode())) as saver:
        end = graphs.chain([]).compile(checkpointer=saver).invoke(None, config("fork"))
    assert end == {"log": ["a", "b", "c", "secret", "d", "e", "f"], "n": 6}
    store.close()


# --- refusals


def test_what_cannot_be_written_writes_nothing(store: LangGraphPostgresStore, database: str) -> None:
    record(database, graphs.chain([]), "t", {"log": [], "n": 0})
    record(database, graphs.chain([]), "other", {"log": [], "n": 0})
    ref = header(store, "t", step=3).ref
    with pytest.raises(Conflict, match="other"):
        store.fork(ref, "other")
    with pytest.raises(NotFound):
        store.fork(ref._replace(id="1f1ec304-5c98-68fb-8003-3e575cea2e1d"), "fork")
    for name in ("", "\ud800", "a\0b"):
        with pytest.raises(Invalid):
            store.fork(ref, name)
    looking = opened(database)
    with pytest.raises(ReadOnly):
        looking.fork(ref, "fork")
    looking.close()
    assert [one.thread for one in store.threads().items] == ["other", "t"]
    with psycopg.connect(database) as db:
        assert db.execute("SELECT count(*) FROM checkpoint_blobs WHERE thread_id NOT IN ('t', 'other')").fetchone() == (
            0,
        )
