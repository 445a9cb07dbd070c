"""A fork is a new thread: what is there already stays as it is, whichever name was asked for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from stores import create_native
from stores.errors import Conflict
from stores.protocol import Store
from tt_debug.errors import DefinitionChanged, UsageError
from tt_debug.session import forking
from tt_debug.session.plans import RunRequest
from tt_debug.session.session import Session

THREADS = {"native": "trip-planner", "langgraph": "trip-kyoto"}


@pytest.fixture(params=sorted(THREADS))
def opened(request: pytest.FixtureRequest) -> tuple[Session, str]:
    return request.getfixturevalue(request.param), THREADS[request.param]


def test_a_fork_to_the_threads_own_name_is_refused(opened: tuple[Session, str]) -> None:
    session, thread = opened
    head = session.resolve(thread)
    with pytest.raises(Conflict, match="exists") as caught:
        session.fork(session.resolve(f"{thread}@15"), thread)
    assert "name" in caught.value.hint
    assert session.resolve(thread) == head


def test_a_replay_to_a_name_that_is_taken_is_refused_by_its_plan(opened: tuple[Session, str]) -> None:
    session, thread = opened
    other = next(info.thread for info in session.threads() if info.thread != thread)
    for taken in (thread, other):
        with pytest.raises(Conflict, match="exists"):
            session.plan(RunRequest("replay", session.resolve(f"{thread}@15"), thread=taken))


def test_a_free_name_that_another_takes_meanwhile_is_no_conflict(
    opened: tuple[Session, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, thread = opened
    base = session.resolve(f"{thread}@15")
    first = session.free_name(thread)
    find = forking.free_name

    def too_late(store: Store, thread: str) -> str:
        monkeypatch.setattr(forking, "free_name", find)
        found = find(store, thread)
        session.fork(base, found)
        return found

    monkeypatch.setattr(forking, "free_name", too_late)
    ours = session.fork(base)
    assert ours.ref.thread != first
    assert {first, ours.ref.thread} <= {info.thread for info in session.threads()}


FLOW = """
workflow_id: flow
version: "{version}"
nodes:
  - {{id: a, type: llm_call, next: b}}
  - {{id: b, type: llm_call, next: {last}}}
  - {{id: {last}, type: llm_call, next: null}}
"""


@pytest.fixture
def flow(tmp_path: Path) -> Iterator[tuple[Session, Path]]:
    """A thread ``it's`` that has run to its end by version 1, and a file with its definition."""
    file = tmp_path / "flow.yaml"
    file.write_text(FLOW.format(version=1, last="c"))
    create_native(tmp_path / "flow.db")
    session = Session.open(str(tmp_path / "flow.db"))
    session.execute(session.plan(RunRequest("run", thread="it's", workflow=file)), lambda event: None)
    yield session, file
    session.close()


def test_the_hint_of_a_changed_definition_can_be_pasted(flow: tuple[Session, Path]) -> None:
    session, file = flow
    file.write_text(FLOW.format(version=2, last="z"))
    with pytest.raises(DefinitionChanged) as caught:
        session.plan(RunRequest("replay", session.resolve("it's@0"), workflow=file))
    command = caught.value.hint.partition("tt-debug ")[2]
    assert shlex.split(command) == ["fork", "STORE", "--adopt", str(file), "it's@0"]


def test_a_changed_definition_of_the_same_version_is_to_get_another(flow: tuple[Session, Path]) -> None:
    session, file = flow
    file.write_text(FLOW.format(version=1, last="z"))
    with pytest.raises(DefinitionChanged) as caught:
        session.plan(RunRequest("replay", session.resolve("it's@0"), workflow=file))
    assert "a version of its own" in caught.value.hint


def test_a_definition_that_cannot_go_on_from_there_is_not_adopted(flow: tuple[Session, Path]) -> None:
    session, file = flow
    file.write_text(FLOW.format(version=2, last="z"))
    with pytest.raises(Conflict, match="no node 'c', which comes next at step 1"):
        session.fork(session.resolve("it's@1"), "late", adopt=file)
    assert [info.thread for info in session.threads()] == ["it's"]
    made = session.fork(session.resolve("it's@0"), "early", adopt=file)
    assert session.plan(RunRequest("resume", made.ref)).nodes == ("b", "z")


def test_a_plan_ends_before_the_node_it_stops_at(flow: tuple[Session, Path]) -> None:
    session, _ = flow
    plan = session.plan(RunRequest("replay", session.resolve("it's@0"), until="c"))
    assert (plan.nodes, plan.stops) == (("b",), "before c")
    assert session.plan(RunRequest("replay", session.resolve("it's@0"), until="b")).nodes == ()
    with pytest.raises(UsageError, match="no node 'nosuch'"):
        session.plan(RunRequest("replay", session.resolve("it's@0"), until="nosuch"))
