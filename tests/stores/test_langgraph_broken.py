"""What each damaged, odd or foreign file says of itself, and how much of it can be read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from stores import open_store
from stores.errors import Corrupt, NotFound, StoreError, Unsupported
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Header
from stores.protocol import Store
from tests.stores.langgraph_files import fingerprint, unpack


class Told(NamedTuple):
    """The notices of a file; threads, rows listed and rows that load; and what single rows say of themselves."""

    notices: tuple[str, ...] = ()
    threads: int = 0
    rows: int = 0
    loaded: int = 0
    problems: frozenset[str] = frozenset()


STUCK = (
    "Every task of its step has finished and no checkpoint followed: the runtime refused to apply the updates "
    "(InvalidUpdateError) or the database to store what came of them, it was stopped at that moment, or the checkpoint "
    "was deleted."
)

OPEN = {
    "empty_tables.sqlite": Told(("There are no checkpoints in it.",)),
    "hostile.sqlite": Told((), 1, 3, 3),
    "missing_metadata_column.sqlite": Told(
        (
            "The table of checkpoints has no metadata: who wrote a checkpoint and why is unknown, steps are those of "
            "the ids, and nothing can be forked.",
        ),
        2,
        8,
        8,
    ),
    "no_writes_table.sqlite": Told(
        ("The file has no table of writes: tasks, errors and questions are unknown.",), 2, 8, 8
    ),
    "orphan_parent.sqlite": Told(
        (
            "2 checkpoints name a parent that is not in the file.",
            "There are writes for 6 checkpoints that are not in the file: deleted, or yet to be saved.",
        ),
        5,
        63,
        63,
        frozenset({STUCK, "its parent is not in the store"}),
    ),
    "parent_cycle.sqlite": Told(
        ("The parents of 18 checkpoints go round in a circle.",),
        5,
        69,
        69,
        frozenset({STUCK, "its parents go round in a circle"}),
    ),
    "readonly.sqlite": Told((), 1, 3, 3),
    "truncated_60pct.sqlite": Told(
        (
            "The file is damaged and ends after 52 of 87 pages: 31 rows of checkpoints, 5 rows of writes could be read "
            "(7 of them in part), what else it held is lost.",
            "1 checkpoint is stored in a way that cannot be read.",
            "There are writes for 3 checkpoints that are not in the file: deleted, or yet to be saved.",
        ),
        2,
        31,
        29,
        frozenset({"cannot be decoded: not msgpack: unexpected end of file", "its content is lost"}),
    ),
    "undecodable.sqlite": Told(
        ("4 checkpoints are stored in a way that cannot be read.",),
        5,
        69,
        61,
        frozenset(
            {
                "cannot be decoded: not msgpack: unexpected end of file",
                "encrypted, and there is no key that opens it: its state and next nodes cannot be read",
                "it holds the content of checkpoint 1f1ec15e-2273-61b0-800d-68aad9d632f7",
                "its content is lost",
                "its content is not a checkpoint",
                "its metadata cannot be read",
                "its metadata is no object",
                "stored as a pickle, which is never opened, as that can run code: its state and next nodes cannot be "
                "read",
                "stored by another serializer than LangGraph's, as protobuf: its state and next nodes cannot be read",
                "stored without a type: its state and next nodes cannot be read",
            }
        ),
    ),
    "wal_uncheckpointed.sqlite": Told((), 4, 49, 49),
    "writes_without_task_path.sqlite": Told((), 2, 8, 8),
}

REFUSED = {
    "empty_file.sqlite": (Corrupt, "{path} is an empty file"),
    "foreign_schema.sqlite": (
        Unsupported,
        "no checkpoints that tt-debug knows in {path} (tables: checkpoints, writes)",
    ),
    "not_a_database.sqlite": (Corrupt, "{path} is not an SQLite database"),
    "truncated_header.sqlite": (Corrupt, "{path} is damaged: it ends after 57 of the 100 bytes of its header"),
}


def loads(store: Store) -> Callable[[Header], bool]:
    """Whether a checkpoint's state can be had; if not, the error says what its header says."""

    def of(header: Header) -> bool:
        if header.problem is None:
            return bool(store.load(header.ref))
        with contextlib.suppress(Corrupt):
            return bool(store.load(header.ref))
        with pytest.raises(Corrupt, match=re.escape(header.problem)):
            store.load(header.ref)
        return False

    return of


@pytest.mark.parametrize("name", OPEN)
def test_what_can_be_read_is_shown_and_the_rest_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    path = unpack(name, tmp_path)
    path.chmod(0o444 if name == "readonly.sqlite" else 0o644)
    before = fingerprint(tmp_path)
    store = open_store(str(path))
    headers = [one for info in store.threads().items for one in store.headers(info.thread).items]
    loaded = sum(map(loads(store), headers))
    problems = frozenset(header.problem for header in headers if header.problem)
    assert Told(store.info.notices, len(store.threads().items), len(headers), loaded, problems) == OPEN[name]
    store.close()
    assert fingerprint(tmp_path) == before


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_opened_says_why_and_what_to_do(name: str, tmp_path: Path) -> None:
    path = unpack(name, tmp_path)
    kind, said = REFUSED[name]
    with pytest.raises(StoreError) as caught:
        open_store(str(path))
    assert isinstance(caught.value, kind)
    assert str(caught.value) == said.format(path=path)
    assert caught.value.hint


@pytest.fixture
def cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LangGraphStore]:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    (tmp_path / "db").mkdir()
    store = LangGraphStore(unpack("truncated_60pct.sqlite", tmp_path / "db"), read_only=False)
    yield store
    store.close()


def test_what_is_left_of_a_file_cut_short_can_be_looked_at_and_not_written(
    cut_short: LangGraphStore, tmp_path: Path
) -> None:
    before = fingerprint(tmp_path / "db")
    store = cut_short
    last_whole = store.headers("agent-linear").items[1].ref
    assert "messages" in store.load(last_whole).state
    assert "fork" not in store.info.capabilities
    with pytest.raises(Corrupt):
        store.fork(last_whole, "fork")
    assert fingerprint(tmp_path / "db") == before


def test_a_row_whose_end_is_lost_keeps_its_place(cut_short: LangGraphStore) -> None:
    """Its neighbours are not affected, and its metadata, which lies behind the lost part, is not made up."""
    store = cut_short
    cut = [one for one in store.headers("agent-linear").items if one.problem]
    assert [(one.step, one.source, one.problem) for one in cut] == [
        (28, "unknown", "cannot be decoded: not msgpack: unexpected end of file")
    ]
    others = [one for one in store.headers("agent-linear").items if not one.problem and one.step != -1]
    assert len(others) > 15
    assert all(store.load(one.ref).state for one in others)
    with pytest.raises(NotFound):
        store.headers("nobody")
