"""What could be freed: that nothing is deleted by asking, and that what stays is enough."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from stores.errors import NotFound
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Checkpoint, Ref
from tests.builders import langgraph_file, table_file
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.langgraph_postgres import load, opened
from tt_debug.pruning import Why
from tt_debug.session.pruning import Advice, Policy, Sum
from tt_debug.session.questions import Stopped
from tt_debug.session.session import Session


def advice(session: Session, policy: Policy = Policy()) -> dict[str, Advice]:  # noqa: B008  # frozen
    return {each.thread: each for each in session.pruning.advice(policy)}


def test_threads_that_are_not_done_stay_whole_and_forks_keep_their_line(native: Session) -> None:
    found = advice(native)
    for info in native.threads():
        each = found[info.thread]
        assert each.checkpoints == info.checkpoints
        if info.status not in ("done", "cancelled"):
            assert set(each.reasons) == {Why.STANDING}
    forked = next(info.forked_from for info in native.threads() if info.forked_from)
    line = native.open_thread(forked.thread).line(forked)
    (alone,) = native.pruning.advice(Policy(), forked.thread)
    stays = {header.ref: why for header, why in alone.kept}
    assert {stays[ref] for ref in line} == {Why.FORKED}
    assert alone.freed > 0
    assert 0 < alone.free < alone.total


def test_what_is_protected_named_or_young_stays(native: Session) -> None:
    (before,) = native.pruning.advice(Policy(), "trip-planner")
    assert before.freed > 0
    native.marks.put(native.resolve("trip-planner@15"), "good")
    (named,) = native.pruning.advice(Policy(), "trip-planner")
    assert named.reasons[Why.MARKED][0] == 1
    (young,) = native.pruning.advice(Policy(age=timedelta(days=3650)), "trip-planner")
    assert set(young.reasons) == {Why.RECENT}
    native.operations.protect("trip-planner", True)
    (protected,) = native.pruning.advice(Policy(), "trip-planner")
    assert set(protected.reasons) == {Why.PROTECTED}
    assert protected.freed == 0


def test_it_can_be_stopped_and_an_unknown_thread_is_told(native: Session) -> None:
    with pytest.raises(Stopped):
        list(native.pruning.advice(Policy(), on_progress=lambda done, of: done < 1))
    with pytest.raises(NotFound):
        list(native.pruning.advice(Policy(), "nowhere"))


def test_of_a_mapped_table_the_ends_stay(tmp_path: Path) -> None:
    session = Session.open(
        f"sqlite:///{table_file(tmp_path / 'app.db')}?table=history&thread=run&id=id&parent=prev&state=payload"
    )
    found = advice(session)
    assert sum(each.freed for each in found.values()) > 0
    assert all(each.reasons for each in found.values())
    session.close()


def standing(store: LangGraphStore, ref: Ref) -> tuple[object, ...]:
    """What a runtime, or a person, gets of a checkpoint: which steps ran before it is history that is gone."""
    point: Checkpoint = store.load(ref)
    tasks = [(task.id, task.node, task.status, task.writes, task.interrupts) for task in point.tasks]
    return repr(dict(point.state)), point.header.next, point.header.status, repr(tasks)  # NaN differs from itself


@pytest.mark.parametrize(
    "name", ["lg1.2.24_sqlite3.1.2.sqlite", "lg0.2.20_sqlite1.0.3.sqlite", "lg0.6.11_sqlite2.0.11.sqlite"]
)
def test_what_stays_is_the_same_without_what_could_go(name: str, tmp_path: Path) -> None:
    """On a copy the rows are really deleted, delta channels and pending Sends and all: no state that stays changes."""
    whole = langgraph_file(name, tmp_path)
    cut = shutil.copy(whole, tmp_path / "cut.sqlite")
    session = Session.open(str(whole), read_only=True)
    stays: list[Ref] = []
    freed, total = 0, Sum()
    with closing(sqlite3.connect(cut)) as db, db:
        for info in session.threads():
            (each,) = session.pruning.advice(Policy(), info.thread)
            total.add(each)
            kept = {header.ref for header, _ in each.kept}
            stays += kept
            for header in session.headers_of(info.thread):
                if header.ref not in kept:
                    freed += 1
                    for table in ("checkpoints", "writes"):
                        where = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
                        db.execute(f"DELETE FROM {table} WHERE {where}", header.ref)
    session.close()
    assert (total.freed, total.exact) == (freed, True)
    assert freed > 100
    before, after = LangGraphStore(whole), LangGraphStore(Path(cut))
    differing = [ref for ref in stays if standing(before, ref) != standing(after, ref)]
    left = sum(after.room(info.thread, ()).total for info in after.threads(limit=500).items)
    before.close()
    after.close()
    assert differing == []
    assert left == total.total - total.free, "and the bytes are those that were said"


def test_in_postgresql_a_value_that_one_that_stays_needs_is_not_counted_as_free(database: str) -> None:
    load("lg1.2.24_pg3.2.0.sql", database)
    store = opened(database)
    session = Session.open(database, read_only=True)
    said = {each.thread: each for each in session.pruning.advice(Policy())}
    name = "agent-linear"
    (each,) = session.pruning.advice(Policy(), name)
    kept = {header.ref.id for header, _ in each.kept}
    used: set[tuple[str, str]] = set()
    for ref in (header.ref for header, _ in each.kept):
        used |= {(channel, str(version)) for channel, version in store.load(ref).internals["channel_versions"].items()}
    with psycopg.connect(database) as db:
        blobs = db.execute(
            "SELECT channel, version, pg_column_size(blob) FROM checkpoint_blobs WHERE thread_id = %s", (name,)
        ).fetchall()
        rows = db.execute(
            "SELECT checkpoint_id, pg_column_size(checkpoint) + pg_column_size(metadata) FROM checkpoints "
            "WHERE thread_id = %s UNION ALL "
            "SELECT checkpoint_id, pg_column_size(blob) FROM checkpoint_writes WHERE thread_id = %s",
            (name, name),
        ).fetchall()
    free = sum(size or 0 for channel, version, size in blobs if (channel, version) not in used)
    free += sum(size or 0 for id, size in rows if id not in kept)
    assert each.free == free > 0
    assert each.total == sum(size or 0 for *_, size in [*blobs, *rows])
    assert Why.REBUILDS in said["delta-nosnapshot"].reasons
    session.close()
    store.close()
