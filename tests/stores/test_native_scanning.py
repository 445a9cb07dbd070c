"""Many native states at once: what `load` would tell of each, or that it has to be asked, or that it cannot hold it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stores.conformance import SAMPLE
from stores.errors import Corrupt
from stores.model import NewCheckpoint, Ref
from stores.native import chunks
from stores.native.by_id import rows_at
from stores.native.rows import HEADER_COLUMNS, WENT_ON
from stores.native.sqlite import NativeStore
from stores.scanning import Scanned, Scans, Unscanned
from tests.builders import native_file
from tests.stores.native_states import MESSAGES, append, chat, path, store

__all__ = ["path", "store"]


def anew(path: Path) -> Any:
    return closing(NativeStore(path))


def test_it_tells_what_load_tells(tmp_path: Path) -> None:
    with anew(native_file(tmp_path / "sample.sqlite")) as sample:
        assert isinstance(sample, Scans)
        refs = [new.ref for new in SAMPLE]
        for answer, ref in zip(sample.scan(refs), refs, strict=True):
            assert isinstance(answer, Scanned)
            assert answer.state == sample.load(ref).state
        answers = sample.scan(refs, holds=lambda raw: True)
        for answer, ref in zip(answers, refs, strict=True):
            header = sample.load(ref).header
            assert (answer.state, answer.meta, answer.writers) == (sample.load(ref).state, header.meta, header.nodes)
        assert sample.scan([]) == []
        assert sample.scan([Ref("no", "", "where"), Ref(refs[0].thread, "ns", refs[0].id)]) == [Unscanned.ALONE] * 2


def test_large_states_share_what_is_equal_and_unchanged_keys_are_one_object(store: NativeStore, path: Path) -> None:
    plan = {"steps": [f"step {n}" for n in range(200)]}
    refs, parent = [], None
    for step in range(20, 60):
        parent = append(store, {"plan": plan if step < 50 else {}, "messages": MESSAGES[:step], "n": step}, parent).ref
        refs.append(parent)
    with anew(path) as reader:
        states = [answer.state for answer in reader.scan(refs)]
        assert [state["messages"] for state in states] == [MESSAGES[:step] for step in range(20, 60)]
        assert len({id(state["messages"][7]) for state in states}) == 1
    with anew(path) as reader:
        narrow = [answer.state for answer in reader.scan(refs, only=["plan"])]
        assert [state["plan"] for state in narrow] == [state["plan"] for state in states]
        assert len({id(state) for state in narrow}) == 2
        # What only a part was read of is not taken for all of it.
        assert reader.load(refs[-1]).state == states[-1]


def test_small_states_with_the_same_text_are_one_object(store: NativeStore, path: Path) -> None:
    refs, parent = [], None
    for n in (1, 1, 1.0, True, 1):
        parent = append(store, {"n": n}, parent).ref
        refs.append(parent)
    with anew(path) as reader:
        states = [answer.state for answer in reader.scan(refs)]
    assert [repr(state["n"]) for state in states] == ["1", "1", "1.0", "True", "1"]
    assert [state is before for before, state in pairwise(states)] == [True, False, False, False]


def test_of_large_states_only_what_is_asked_for_is_fetched(
    store: NativeStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs = [header.ref for header in chat(store, 40)]
    asked: list[int] = []
    fetched = chunks.fetched
    monkeypatch.setattr(chunks, "fetched", lambda db, names: asked.append(len(names)) or fetched(db, names))
    with anew(path) as reader:
        assert [answer.state["n"] for answer in reader.scan(refs, only=["n"])] == list(range(1, 41))
        assert sum(asked) == 0
        reader.scan(refs)
        # Of a list's forty states each new one has its own node, and a message that no other before it has.
        assert sum(asked) <= 130


def test_rows_that_cannot_hold_it_are_passed_over(store: NativeStore, path: Path) -> None:
    headers = chat(store, 40)
    refs = [header.ref for header in headers]
    for number in (3, 37):
        text = MESSAGES[number]["content"][100:130].encode()
        with anew(path) as reader:
            answers = reader.scan(refs, holds=lambda raw, text=text: text in raw)
        assert [isinstance(answer, Scanned) for answer in answers] == [step >= number for step in range(40)]
        assert {answer for answer in answers if not isinstance(answer, Scanned)} == {Unscanned.PASSED}


def test_what_is_told_elsewhere_or_broken_is_asked_alone(store: NativeStore, path: Path) -> None:
    refs = [header.ref for header in chat(store, 40)]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO inbox (id, kind, thread_id, checkpoint_id, status, created_at) VALUES"
                   " ('q', 'approval', 'chat', ?, 'open', 1)", (refs[2].id,))  # fmt: skip
        db.execute("DELETE FROM chunks WHERE hash = (SELECT hash FROM chunks ORDER BY rowid DESC LIMIT 1)")
    with anew(path) as reader:
        found = reader.scan(refs[:30], holds=lambda raw: b"m1" in raw)
        assert [number for number, answer in enumerate(found) if answer is Unscanned.ALONE] == [2]
        with pytest.raises(Corrupt):
            reader.scan(refs)
        assert all(isinstance(answer, Scanned) for answer in reader.scan(refs[:39]))


def test_a_checkpoint_without_a_readable_state_hides_none_of_the_others(store: NativeStore, path: Path) -> None:
    refs = [header.ref for header in chat(store, 5)]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE checkpoints SET state = x'00ff' WHERE checkpoint_id = ?", (refs[2].id,))
    with anew(path) as reader:
        answers = reader.scan(refs)
        assert [isinstance(answer, Scanned) for answer in answers] == [True, True, False, True, True]
    first = store.append(NewCheckpoint(Ref("other", "", "1"), None, {"n": 1}, "input"))
    assert [answer.state for answer in store.scan([refs[0], first.ref])] == [store.load(refs[0]).state, {"n": 1}]


def test_checkpoints_are_looked_up_by_id_however_many_are_asked_for(store: NativeStore, path: Path) -> None:
    refs = [header.ref for header in chat(store, 20)]
    plans: list[list[str]] = []
    with closing(sqlite3.connect(path)) as db:

        class Explained:
            def execute(self, sql: str, values: Any = ()) -> Any:
                plans.append([row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values)])
                return ()

        for columns in (f"{HEADER_COLUMNS}, {WENT_ON}", "c.state, c.size", "c.next"):
            for count in (1, 5, 20):
                assert not list(rows_at(Explained(), refs[:count], columns))
    assert len(plans) == 9
    for first, second, *_ in plans:
        assert "checkpoints_by_id (thread_id=? AND checkpoint_id=?)" in first
        assert "(rowid=?)" in second
