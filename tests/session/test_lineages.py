"""A line across native threads: the same by addresses as by every header of the family, and for less."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.errors import Corrupt, NotFound
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore
from stores.past import PastCheckpoint, PastThread
from tests.builders import native_file
from tt_debug import blame
from tt_debug.demo import DemoFiles
from tt_debug.session import questions
from tt_debug.session.headers import AROUND
from tt_debug.session.questions import Scope
from tt_debug.session.session import Session

# Parents by their place among those before, the thread of each, and its value; ids are of another kind than ours, and
# sort in another order than the one they came in.
ROWS = st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=30)


def history_of(rows: Sequence[tuple[int, str, int]]) -> list[NewCheckpoint]:
    made: list[NewCheckpoint] = []
    for at, (back, thread, value) in enumerate(rows):
        parent = made[max(0, at - 1 - back)].ref if made else None
        ref = Ref(thread, "", f"{at * 7 % 1009:04}")
        state = {"n": value, "at": at} if value > 1 else {"n": 1} if value else {"at": at}
        made.append(NewCheckpoint(ref, parent, state, "step" if made else "input", nodes=(f"node{at % 3}",)))
    return made


@contextmanager
def opened(path: Path) -> Iterator[Session]:
    session = Session.open(str(path), read_only=True)
    try:
        yield session
    finally:
        session.close()


@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_a_line_and_its_headers_are_those_of_the_whole_family(rows: Sequence[tuple[int, str, int]]) -> None:
    made = history_of(rows)
    with TemporaryDirectory() as folder, opened(native_file(Path(folder) / "native.sqlite", made)) as session:
        for new in made:
            family, lineage = session.open_thread(new.ref.thread), session.lineage(new.ref.thread)
            line = lineage.line(new.ref)
            assert line == family.line(new.ref)
            assert [lineage.headers[ref] for ref in line] == [family.headers[ref] for ref in line]
            assert lineage.head == family.head == session.resolve(new.ref.thread)


@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_questions_of_a_line_answer_what_its_checkpoints_say(rows: Sequence[tuple[int, str, int]]) -> None:
    made = history_of(rows)
    with TemporaryDirectory() as folder, opened(native_file(Path(folder) / "native.sqlite", made)) as session:
        end = made[-1].ref
        family = session.open_thread(end.thread)
        line = [(ref, session.load(ref)) for ref in family.line(end)]
        for path in (("n",), ("at",), ("nothing",), ()):
            book = blame.Book(family.headers.__getitem__, lambda ref: session.load(ref).tasks)
            newest_first = [(ref, found.state) for ref, found in reversed(line)]
            assert list(questions.history(session, end, path)) == list(blame.history(newest_first, book, path))
        hits = questions.find(session, "n == `2`", Scope(end)).hits
        assert [hit.ref for hit in hits] == [ref for ref, found in line if found.state.get("n") == 2]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many headers were asked for, each time that some were."""
    counts: list[int] = []
    at_addresses = NativeStore.headers_at

    def counted(self: NativeStore, thread: str, refs: Sequence[Ref]) -> Any:
        counts.append(len(refs))
        return at_addresses(self, thread, refs)

    monkeypatch.setattr(NativeStore, "headers_at", counted)
    return counts


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A thousand checkpoints of one thread, whose value changes in the middle."""
    path = native_file(tmp_path / "native.sqlite", [])
    with closing(NativeStore(path, read_only=False)) as store:
        store.restore([PastThread("a")], map(PastCheckpoint, LONG))
    return path


LONG = history_of([(0, "a", at // 500) for at in range(1_000)])


def test_only_headers_that_are_shown_are_read(long: Path, read: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(long) as session:
        end = session.resolve("a")  # asks whether there is such a thread, by its newest header
        monkeypatch.setattr(NativeStore, "headers", None)
        assert not list(questions.find(session, "n == `7`", Scope(end)).hits)
        assert not list(questions.history(session, end, ("nothing",)))
        assert not read
        (stop,) = questions.history(session, end, ("n",))
        assert (stop.ref, stop.nodes) == (LONG[500].ref, LONG[500].nodes)
        assert sum(read) <= 2 * AROUND


def test_a_thread_without_forks_is_opened_by_its_addresses(
    long: Path, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(long) as session:
        whole = session.open_thread("a", on_page=lambda _: True)
        assert not read
        monkeypatch.setattr(NativeStore, "headers", None)
        view = session.open_thread("a")
        assert (view.refs, view.line(), view.head) == (whole.refs, whole.line(), whole.head)
        assert not read
        assert list(view.headers.values()) == list(whole.headers.values())
        assert sum(read) == len(LONG)


def test_a_family_is_in_the_order_of_its_headers_whatever_its_ids(tmp_path: Path, read: list[int]) -> None:
    made = history_of([(0, "a", 1), (0, "a", 2), (0, "b", 2), (0, "a", 1), (1, "b", 2)])
    with opened(native_file(tmp_path / "native.sqlite", made)) as session:
        assert list(session.open_thread("b").refs) == list(session.open_thread("a", on_page=lambda _: True).refs)
        assert not read


def test_a_parent_in_a_thread_that_is_gone_is_told_of(tmp_path: Path) -> None:
    orphan = NewCheckpoint(Ref("b", "", "2"), Ref("a", "", "1"), {"n": 1}, "fork")
    path = native_file(tmp_path / "native.sqlite", [])
    with closing(NativeStore(path, read_only=False)) as store:
        store.restore([PastThread("b")], [PastCheckpoint(orphan)])
    with opened(path) as session:
        lineage = session.lineage("b")
        assert lineage.line() == (orphan.ref,)
        assert lineage.headers[orphan.ref].problem == "its parent is not in the store"
        with pytest.raises(NotFound):
            session.lineage("a")


def test_the_tasks_of_many_are_those_of_each(demo: DemoFiles) -> None:
    with closing(NativeStore(demo.native)) as store:
        refs = [header.ref for info in store.threads().items for header in store.headers(info.thread).items]
        told = store.tasks_of([*refs, Ref("nobody", "", "0")])
        assert told == {ref: store.load(ref).tasks for ref in refs}
        assert {task.status for tasks in told.values() for task in tasks} >= {"done", "failed", "waiting"}


def test_steps_that_cannot_be_read_keep_no_others_from_being_told(tmp_path: Path) -> None:
    made = history_of([(0, "a", 2)] * 9)
    path = native_file(tmp_path / "native.sqlite", made)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute(
            "INSERT INTO steps (run_id, ordinal, attempt, node, visit, token, status, thread_id, base, output)"
            " VALUES ('r', 1, 1, 'node1', 1, 1, 'completed', 'a', ?, 'no JSON')",
            (made[3].ref.id,),
        )
    with opened(path) as session:
        stops = questions.history(session, made[-1].ref, ("at",))
        assert [next(stops).new for _ in range(4)] == [8, 7, 6, 5]
        with pytest.raises(Corrupt):
            next(stops)
        below = questions.history(session, made[3].ref, ("at",))
        assert [stop.new for stop in below] == [3, 2, 1, 0]
