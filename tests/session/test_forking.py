"""A fork is a new thread: what is there already stays as it is, whichever name was asked for."""

from __future__ import annotations

import pytest

from stores.errors import Conflict
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
