"""Files that LangGraph's EncryptedSerializer wrote: closed without the key, and read and forked with it."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from stores.codec.aes import Seal
from stores.errors import Corrupt, Invalid, Unsupported
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Change, Opaque, Status
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_files import fingerprint, unpack
from tests.stores.langgraph_graphs import config

KEY = "0123456789abcdef"
FILE = "special_encrypted.sqlite"
CLEAR = "the names of threads, nodes and channels, and all metadata, lie in the store in clear text."


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    (tmp_path / "db").mkdir()
    return unpack(FILE, tmp_path / "db")


def test_without_the_key_it_is_marked_and_what_is_not_encrypted_is_said(path: Path) -> None:
    store = LangGraphStore(path)
    assert store.info.notices == (f"Values are encrypted: set LANGGRAPH_AES_KEY to read them; {CLEAR}",)
    headers = store.headers("encrypted").items
    assert len(headers) == 3
    assert {header.problem for header in headers} == {
        "encrypted, and there is no key that opens it: its state and next nodes cannot be read"
    }
    checkpoint = store.load(headers[0].ref)
    sealed = checkpoint.state["checkpoint"]
    assert isinstance(sealed, Opaque)
    assert (sealed.kind, sealed.size) == ("msgpack+aes", headers[0].size)
    assert {task.node: task.status for task in checkpoint.tasks} == {"approve": "waiting", "audit": "done"}
    assert headers[0].status == Status.WAITING
    assert all(isinstance(write.value, Opaque) for task in checkpoint.tasks for write in task.writes)


def test_without_the_key_it_can_be_copied_and_not_edited(path: Path) -> None:
    store = LangGraphStore(path, read_only=False)
    head = store.head("encrypted")
    fork = store.fork(head, "fork")
    assert store.load(fork.ref).state == store.load(head).state
    with pytest.raises(Unsupported, match="msgpack\\+aes"):
        store.fork(head, "encrypted")


def test_with_the_key_it_is_read_as_any_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY)
    before = fingerprint(path.parent)
    store = LangGraphStore(path)
    assert store.info.notices == (f"Values are encrypted, and shown by the key in LANGGRAPH_AES_KEY; {CLEAR}",)
    head = store.load(store.head("encrypted"))
    assert (head.header.problem, head.header.next, head.header.status) == (None, ("approve", "audit"), "waiting")
    assert head.state == {"amount": 3, "log": ["prepare 3"]}
    asked = {task.node: [one.value for one in task.interrupts] for task in head.tasks}
    assert asked == {"approve": [{"question": "Approve payment of 3 €?", "options": ["yes", "no"]}], "audit": []}
    store.close()
    assert fingerprint(path.parent) == before


def test_with_the_key_a_fork_is_encrypted_again(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stock LangGraph goes on from it, and nothing of the edit lies in the file in clear text."""
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY)
    ran: list[str] = []
    with closing(sqlite3.connect(agent, check_same_thread=False)) as db:
        saver = SqliteSaver(db, serde=EncryptedSerializer.from_pycryptodome_aes())
        app = graphs.chain(ran).compile(checkpointer=saver)
        app.invoke({"log": ["in"], "n": 0}, config("t"))
        store = LangGraphStore(agent, read_only=False)
        base = next(one for one in store.headers("t").items if one.step == 3)
        edit = [Change("change", ("log", 0), "in", "a-secret-answer")]
        fork = store.fork(base.ref, "fork", edit)
        assert store.load(fork.ref).state == {"log": ["a-secret-answer", "a", "b", "c"], "n": 3}
        store.close()
        types = db.execute("SELECT DISTINCT type FROM checkpoints WHERE thread_id = 'fork'").fetchall()
        assert types == [("msgpack+aes",)]
        ran.clear()
        state: Any = app.invoke(None, config("fork"))
    assert (state["log"], ran) == (["a-secret-answer", *"abcdef"], ["d", "e", "f"])
    assert b"a-secret-answer" not in agent.read_bytes()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("fedcba9876543210", "shown by the key in LANGGRAPH_AES_KEY"),
        ("short", "stay closed: LANGGRAPH_AES_KEY has 5 bytes: a key has 16, 24 or 32; "),
    ],
)
def test_another_key_opens_nothing(path: Path, monkeypatch: pytest.MonkeyPatch, key: str, said: str) -> None:
    monkeypatch.setenv("LANGGRAPH_AES_KEY", key)
    store = LangGraphStore(path)
    assert said in store.info.notices[0]
    assert key not in store.info.notices[0]
    header = store.headers("encrypted").items[0]
    assert header.problem is not None
    assert header.problem.startswith("encrypted, and there is no key that opens it")
    assert isinstance(store.load(header.ref).state["checkpoint"], Opaque)


def test_without_pycryptodome_it_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY)
    monkeypatch.setitem(sys.modules, "Crypto.Cipher", None)
    notice = LangGraphStore(path).info.notices[0]
    assert "only be read with pycryptodome (pip install 'tt-debug[crypto]')" in notice


def test_a_seal_opens_what_it_closed_and_nothing_else() -> None:
    seal = Seal(KEY)
    kind, data = seal.close("msgpack", b"\x01")
    assert (kind, seal.open(kind, data)) == ("msgpack+aes", ("msgpack", b"\x01"))
    for wrong in (data[:-1], data[:20], b"", bytes(len(data))):
        with pytest.raises(Corrupt):
            seal.open(kind, wrong)
    with pytest.raises(Corrupt, match="no encryption by AES"):
        seal.open("msgpack+gcm", data)
    with pytest.raises(Corrupt, match="another key"):
        Seal("fedcba9876543210").open(kind, data)
    with pytest.raises(Invalid, match="5 bytes"):
        Seal("short")
