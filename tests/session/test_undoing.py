"""Taking back forks and edits of our own: only where nothing came after, and without deleting anything."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.errors import Conflict, NotFound, ReadOnly
from stores.model import Change
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.demo import DemoFiles
from tt_debug.session.plans import RunRequest
from tt_debug.session.session import Session

THREADS = {"native": "trip-planner", "langgraph": "trip-kyoto"}
CHEAPER = (Change("change", ("budget", "per_night"), 96000, 32000),)


@pytest.fixture(params=sorted(THREADS))
def opened(request: pytest.FixtureRequest) -> tuple[Session, str]:
    return request.getfixturevalue(request.param), THREADS[request.param]


def names(session: Session, *, hidden: bool = False) -> set[str]:
    whole, brief = ({info.thread for info in session.threads(hidden=hidden, brief=brief)} for brief in (False, True))
    assert brief == whole
    return whole


def test_an_edit_is_taken_back_by_a_checkpoint_with_the_values_from_before(opened: tuple[Session, str]) -> None:
    session, thread = opened
    before = session.resolve(thread)
    edited = session.edit(before, CHEAPER)
    plan = session.undoing.plan()
    assert plan.title == f"Undo the edit of {thread} at step {session.load(before).header.step}"
    assert "budget.per_night" in plan.lines()[0]
    assert "Nothing is deleted" in plan.lines()[1]
    done = session.undoing.do(plan)
    assert done.header is not None
    assert session.resolve(thread) == done.header.ref
    assert session.load(done.header.ref).state == session.load(before).state
    assert session.load(done.header.ref).header.next == session.load(before).header.next
    assert session.load(edited.ref).state["budget"] != session.load(before).state["budget"]
    with pytest.raises(NotFound, match="not taken back already"):
        session.undoing.plan()
    with pytest.raises(Conflict, match="taken back already"):
        session.undoing.plan(edited.ref)


def test_edits_are_taken_back_one_after_the_other(opened: tuple[Session, str]) -> None:
    session, thread = opened
    before = session.resolve(thread)
    first = session.edit(before, CHEAPER)
    session.edit(first.ref, (Change("change", ("budget", "per_night"), 32000, 1),))
    for wanted in (first.ref, before):
        session.undoing.do(session.undoing.plan())
        assert session.load(session.resolve(thread)).state == session.load(wanted).state


def test_a_fork_is_put_out_of_sight_and_its_rows_stay(opened: tuple[Session, str]) -> None:
    session, thread = opened
    base = session.resolve(f"{thread}@15")
    made = session.fork(base, "mine", CHEAPER)
    session.fork(base, "plain")
    for name in ("plain", "mine"):
        plan = session.undoing.plan()
        assert plan.write.ref.thread == name
        assert session.undoing.do(plan).header is None
    assert not {"mine", "plain"} & names(session)
    assert {"mine", "plain"} <= names(session, hidden=True)
    assert not {"mine", "plain"} & {ref.thread for ref in session.open_thread(thread).headers}
    assert session.open_thread("mine").head == made.ref
    session.undoing.bring_back("mine")
    assert "mine" in names(session)
    with pytest.raises(NotFound, match="not put out of sight"):
        session.undoing.bring_back("mine")


def test_what_happens_to_a_fork_brings_it_back(opened: tuple[Session, str]) -> None:
    session, thread = opened
    base = session.resolve(f"{thread}@15")
    for name in ("edited", "origin"):
        session.fork(base, name)
        session.undoing.do(session.undoing.plan())
    session.edit(session.resolve("edited"), CHEAPER)
    session.fork(session.resolve("origin"), "grandchild")
    assert {"edited", "origin", "grandchild"} <= names(session)
    with pytest.raises(Conflict, match="'grandchild' was forked from 'origin': it stays"):
        session.undoing.plan(thread="origin")


def test_a_write_that_something_came_after_stays(opened: tuple[Session, str]) -> None:
    session, thread = opened
    base = session.resolve(f"{thread}@15")
    made = session.fork(base, "ran", CHEAPER)
    plan = session.undoing.plan()
    session.execute(session.plan(RunRequest("resume", ref=made.ref, single_step=True)), lambda event: None)
    with pytest.raises(Conflict, match="'ran' has gone on since that fork"):
        session.undoing.do(plan)
    assert "ran" in names(session)
    head = session.resolve("ran")
    edited = session.edit(head, (Change("change", ("budget", "per_night"), 32000, 5),))
    session.execute(session.plan(RunRequest("resume", ref=edited.ref, single_step=True)), lambda event: None)
    with pytest.raises(Conflict, match="has gone on since that edit") as caught:
        session.undoing.plan()
    assert "tt-debug fork" in caught.value.hint


def test_results_of_tasks_count_though_no_checkpoint_came(langgraph: Session, demo: DemoFiles) -> None:
    made = langgraph.fork(langgraph.resolve("trip-kyoto@15"), "half", CHEAPER)
    row = ("half", "", made.ref.id, "some-task", "", 0, "verdict", "msgpack", b"\xa2ok")
    with closing(sqlite3.connect(demo.langgraph)) as db, db:
        db.execute(
            "INSERT INTO writes"
            " (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    with pytest.raises(Conflict, match="something ran on 'half'"):
        langgraph.undoing.plan()


def test_a_copy_with_open_questions_has_nothing_of_its_own(tmp_path: Path) -> None:
    session = Session.open(str(unpack(CURRENT, tmp_path)))
    waiting = [info for info in session.threads(status="waiting") if info.head is not None]
    assert len(waiting) > 3
    for info in waiting:
        assert info.head is not None
        session.fork(info.head, f"{info.thread}-copy")
        session.undoing.do(session.undoing.plan())
        assert f"{info.thread}-copy" not in names(session)
    session.close()


def test_looking_and_read_only_change_nothing(native: Session, demo: DemoFiles, own_home: Path) -> None:
    looking = Session.open(str(demo.native), read_only=True)
    assert looking.undoing.writes() == ()
    with pytest.raises(NotFound, match="no fork or edit is on record as ours"):
        looking.undoing.plan()
    assert not own_home.exists()
    native.fork(native.resolve("trip-planner@15"), "mine")
    plan = looking.undoing.plan()
    with pytest.raises(ReadOnly):
        looking.undoing.do(plan)
    assert "mine" in names(looking)
    looking.close()
