"""The effect ledger of a native file: files that are older than it, and statements that are not a node's to make."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.conformance_effects import call
from stores.conformance_runs import THREAD, create
from stores.effects import EffectStatus, Slot
from stores.native import schema
from stores.native.sqlite import NativeStore, create_native


def test_a_file_with_runs_that_is_older_than_the_ledger_is_read_and_then_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    with monkeypatch.context() as past:
        past.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        create_native(path)
        with closing(NativeStore(path, read_only=False)) as store:
            head = create(store).head
    with closing(NativeStore(path)) as store:
        assert store.effects(THREAD) == ()
        assert store.effects_at(call(1).slot.key) == ()
        assert (store.run("r1").status, store.run("r1").hold_reason) == ("pending", None)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchall() == [("2",)]
    with closing(NativeStore(path, read_only=False)) as store:
        run = store.claim("r1", "me", 1, "new")
        assert store.begin_effect("r1", run.token, call(1)).effect.status == EffectStatus.INTENT
        assert store.head(THREAD) == head


def test_keys_are_the_same_wherever_and_whenever_they_are_made() -> None:
    slot = Slot("trip", "plan", "journey", 1, "send", 1)
    assert slot.key == "ik1:9937d5b79bae93163591c446e2bb221bbb6a0c38"
    others = [slot._replace(**{name: value}) for name, value in (("visit", 2), ("call_no", 2), ("business_id", "x"))]
    assert len({slot.key, *(other.key for other in others)}) == 4
