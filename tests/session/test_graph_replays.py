"""A line of a user's graph run again in memory and compared: effects are given from the record, nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.errors import Unsupported
from tests.engine.graph_threads import AGENTS, started
from tt_debug.errors import UsageError
from tt_debug.session.plans import GraphTarget, RunRequest, RunResult
from tt_debug.session.session import Session


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WORLD", str(tmp_path / "world"))
    (tmp_path / "world").touch()
    return tmp_path / "world"


@pytest.fixture
def session(tmp_path: Path, world: Path) -> Iterator[Session]:
    """A finished thread whose one effect is on record, open for reading only."""
    path = started(tmp_path / "t.sqlite", "acting:at_most_once", interrupt_before=["first"])
    with_graph = GraphTarget("acting:at_most_once", folder=AGENTS)
    running = Session.open(str(path), graph=with_graph)
    running.execute(running.plan(RunRequest("resume", running.resolve("t"))), lambda event: None)
    running.close()
    looking = Session.open(str(path), graph=with_graph, read_only=True)
    yield looking
    looking.close()


def verified(session: Session, ref: str, graph: str | None = None) -> RunResult:
    target = GraphTarget(graph, folder=AGENTS) if graph else None
    request = RunRequest("replay", session.resolve(ref), mode="verify", graph=target)
    return session.execute(session.plan(request), lambda event: None)


def test_a_line_goes_as_recorded_or_its_first_divergence_is_named(
    session: Session, tmp_path: Path, world: Path
) -> None:
    before = (tmp_path / "t.sqlite").read_bytes(), world.read_text()
    plan = session.plan(RunRequest("replay", session.resolve("t@0"), mode="verify"))
    assert plan.nodes == ("first", "pay", "last")
    assert plan.notes[0].startswith("effects come from the record")
    same = verified(session, "t@0")
    assert (same.status, same.error, same.divergence) == ("done", None, None)
    assert same.notes == ("every step went as recorded",)
    other = verified(session, "t@0", "acting:noisy").divergence
    assert other is not None
    assert (other["node"], other["step"], other["what"]) == ("last", 3, "state log")
    assert (other["recorded"][-1], other["replayed"][-1]) == ("quiet", "loud")
    asked = verified(session, "t@0", "acting:changed").divergence
    assert asked is not None
    assert (asked["node"], asked["what"]) == ("pay", "effects")
    assert (asked["recorded"], asked["replayed"]) == (
        {"name": "pay", "request": None},
        {"name": "pay", "request": {"asked": "more"}},
    )
    assert ((tmp_path / "t.sqlite").read_bytes(), world.read_text()) == before
    with pytest.raises(UsageError, match="nothing is on record after step 3"):
        verified(session, "t")
    with pytest.raises(Unsupported, match="not kept by a replay from the record"):
        session.plan(RunRequest("replay", session.resolve("t@0"), mode="recorded"))


def test_of_a_line_without_our_ledger_states_and_next_are_compared_and_that_is_said(
    tmp_path: Path, world: Path
) -> None:
    path = started(tmp_path / "t.sqlite", "letters:builder")
    session = Session.open(str(path), graph=GraphTarget("letters:graph", folder=AGENTS), read_only=True)
    said = "no effects are on record: only states and what is next can be compared, and every call is made for real"
    assert session.plan(RunRequest("replay", session.resolve("t@1"), mode="verify")).notes[0] == said
    result = verified(session, "t@1")
    assert (result.status, result.divergence, result.notes) == ("done", None, ("every step went as recorded", said))
    session.close()
