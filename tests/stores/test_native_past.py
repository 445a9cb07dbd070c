"""History from elsewhere in a native store: as it was, whole threads or nothing, also in files of an older schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stores.conformance import HEADS, ODD, SAMPLE, TRIP
from stores.errors import Conflict, Invalid, ReadOnly, Unsupported
from stores.model import NewCheckpoint, Ref, Task, Write
from stores.native import schema
from stores.native.sqlite import NativeStore, create_native
from stores.past import PastCheckpoint, PastThread, Restorer
from stores.runs import Approval, Definition, Run, RunStatus, StepRecord
from tests.builders import native_file

THREADS = (PastThread(TRIP), PastThread(ODD))
PAST = tuple(PastCheckpoint(new, datetime(2020, 1, 2, 3, 4, 5, number, UTC)) for number, new in enumerate(SAMPLE))
FLOW = Definition("ab" * 32, "flow", "1", '{"workflow_id":"flow"}', "/somewhere/flow.yaml")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[NativeStore]:
    create_native(tmp_path / "new.db")
    with closing(NativeStore(tmp_path / "new.db", read_only=False)) as opened:
        yield opened


def test_what_was_appended_elsewhere_reads_the_same(store: NativeStore, tmp_path: Path) -> None:
    assert isinstance(store, Restorer)
    store.restore(THREADS, PAST)
    with closing(NativeStore(native_file(tmp_path / "origin.db"))) as origin:
        for thread in (TRIP, ODD):
            ours, theirs = store.headers(thread).items, origin.headers(thread).items
            assert [replace(header, created=None) for header in ours] == [
                replace(header, created=None) for header in theirs
            ]
            assert [header.created for header in reversed(ours)] == [
                past.created for past in PAST if past.new.ref.thread == thread
            ]
            assert store.head(thread) == HEADS[thread]
        assert all(store.load(new.ref).state == new.state for new in SAMPLE)


def test_the_head_is_the_one_that_was_and_not_the_last(store: NativeStore) -> None:
    store.restore(THREADS, [replace(past, is_head=past.new.ref == SAMPLE[2].ref) for past in PAST])
    assert (store.head(TRIP), store.head(ODD)) == (SAMPLE[2].ref, HEADS[ODD])


def test_an_error_of_the_source_leaves_nothing_behind(store: NativeStore) -> None:
    def torn() -> Iterator[PastCheckpoint]:
        yield from PAST[:7]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        store.restore(THREADS, torn())
    bad = PastCheckpoint(replace(SAMPLE[7], state={"x": float("nan")}))
    with pytest.raises(Invalid, match="x"):
        store.restore(THREADS, [*PAST[:7], bad])
    with pytest.raises(Invalid, match="no checkpoint"):
        store.restore((*THREADS, PastThread("empty")), PAST)
    assert store.threads().items == ()


def test_nothing_that_is_there_is_touched(store: NativeStore) -> None:
    store.restore(THREADS[:1], PAST[:6])
    before = store.headers(TRIP)
    with pytest.raises(Conflict, match="trip"):
        store.restore(THREADS, PAST)
    assert store.headers(TRIP) == before
    assert [info.thread for info in store.threads().items] == [TRIP]


def test_a_parent_that_is_nowhere_stays_named(store: NativeStore) -> None:
    elsewhere = Ref("gone", "", "1f000000-0001-6000-8000-000000000001")
    orphan = replace(SAMPLE[6], parent=elsewhere)
    store.restore(THREADS[1:], [PastCheckpoint(orphan), PAST[7]])
    assert store.headers(ODD).items[1].parent == elsewhere
    assert store.threads().items[0].forked_from == elsewhere
    assert store.fork(SAMPLE[7].ref, "fork").parent == SAMPLE[7].ref


def test_runs_steps_and_questions_are_as_they_were_and_a_running_one_has_lost_its_owner(store: NativeStore) -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    run = Run("r1", TRIP, FLOW.hash, RunStatus.RUNNING, base=SAMPLE[0].ref, head=SAMPLE[5].ref, token=3, created=at)
    asked = Approval(
        "q1", TRIP, "", SAMPLE[4].ref.id, "ask", {"sure": True}, None, "answered", at, "r1", [1], "ada", at
    )
    done = StepRecord(
        "r1", 0, "plan", 2, status="completed", output={"n": 1}, started=at, ended=at, log=("hi",),
        base=SAMPLE[0].ref.id, checkpoint=SAMPLE[1].ref.id,
    )  # fmt: skip
    failed = StepRecord(
        "r1", 0, "plan", 1, status="failed", error="no", error_class="E", retryable=True, base=done.base
    )
    steps = {SAMPLE[1].ref: (failed, done), SAMPLE[5].ref: (StepRecord("r1", 1, "book", base=SAMPLE[5].ref.id),)}
    known = PastThread(TRIP, "case-7", (FLOW,), (run,), (asked,))
    store.restore([known], [replace(past, steps=steps.get(past.new.ref, ())) for past in PAST[:6]])
    assert store.runs(TRIP) == (replace(run, status=RunStatus.CRASHED),)
    assert store.approvals(TRIP, status=None) == (asked,)
    assert store.definition(FLOW.hash) == FLOW
    found = [step._replace(input=None) for step in store.steps(ref=SAMPLE[1].ref)]
    assert sorted(found, key=lambda step: step.attempt) == [failed, done]
    assert [step.status for step in store.steps(ref=SAMPLE[5].ref)] == ["abandoned"]
    assert store.threads().items[0].meta["business_id"] == "case-7"
    with pytest.raises(Conflict, match="r1"):
        store.restore([replace(known, thread=ODD)], PAST[6:])
    assert [info.thread for info in store.threads().items] == [TRIP]


def test_tasks_as_a_runtime_elsewhere_told_of_them(store: NativeStore) -> None:
    task = Task("t1", "plan", "p", "failed", (Write("plan", {"a": [1]}),), "ValueError: no")
    store.restore(THREADS, [replace(past, tasks=(task,) if past.new.ref == SAMPLE[4].ref else ()) for past in PAST])
    assert store.load(SAMPLE[4].ref).tasks == (task,)
    assert [found.status for found in store.load(SAMPLE[2].ref).tasks] == ["pending"]


def test_what_a_native_store_cannot_hold_or_may_not_write_is_refused(store: NativeStore, tmp_path: Path) -> None:
    inner = NewCheckpoint(Ref("t", "sub:1", "x"), None, {}, "loop")
    with pytest.raises(Unsupported, match="namespace"):
        store.restore([PastThread("t")], [PastCheckpoint(inner)])
    with closing(NativeStore(native_file(tmp_path / "frozen.db"))) as frozen, pytest.raises(ReadOnly):
        frozen.restore([PastThread("t")], [])
    assert store.threads().items == ()


def test_a_file_of_the_first_schema_is_read_and_then_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.db"
    with monkeypatch.context() as past:
        past.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        native_file(path)
    with closing(NativeStore(path)) as store:
        assert [task.node for task in store.load(SAMPLE[2].ref).tasks] == ["plan"]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchall() == [("1",)]
    with closing(NativeStore(path, read_only=False)) as store:
        renamed = replace(SAMPLE[6], ref=SAMPLE[6].ref._replace(thread="new"))
        store.restore([PastThread("new")], [PastCheckpoint(renamed, tasks=(Task("t", "n", "", "done"),))])
        assert store.load(renamed.ref).tasks == (Task("t", "n", "", "done"),)
        assert store.load(SAMPLE[4].ref).state == SAMPLE[4].state
