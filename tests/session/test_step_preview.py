"""What the plan of a resume says of the step: who still asks, which subgraphs go on and where, the breakpoints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.graph_threads import AGENTS, started
from tt_debug.session.plans import GraphTarget, RunRequest
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def test_half_answered(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    session = Session.open(str(path), graph=GraphTarget("crossing:builder", folder=AGENTS))
    below, left = sorted(session.approvals(), key=lambda ask: ask.node)
    session.answer(below.id, "yes", "ann")
    plan = session.plan(RunRequest("resume", session.resolve("t")))
    assert plan.nodes == ("deep", "left")
    assert plan.notes == (
        "quick has finished and keeps its results",
        f"hands the recorded answer to question {below.id}",
        f'left still waits for an answer to {{ask: "left"}} ({left.id}), and asks again',
        f"deep goes on inside at below (namespace {below.ns})",
    )
    result = session.execute(plan, lambda event: None)
    assert (result.status, result.notes) == ("waiting", ())


def test_a_replay_of_a_step_that_is_over_starts_it_anew(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    session = Session.open(str(path), graph=GraphTarget("crossing:builder", folder=AGENTS))
    plan = session.plan(RunRequest("replay", session.resolve("t@-1")))
    assert plan.notes == ("on the new thread 't-fork-1'; 't' stays as it is",)


def test_the_breakpoints_of_the_graph_once_they_are_known(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "good"}, interrupt_before=["look"])
    session = Session.open(str(path), graph=GraphTarget("steered:stops", folder=AGENTS))
    first = session.plan(RunRequest("resume", session.resolve("t")))
    assert first.notes == ()
    assert session.execute(first, lambda event: None).status == "paused"
    assert session.plan(RunRequest("resume", session.resolve("t"))).notes == (
        "the graph's own breakpoints stop before look, party, rest",
    )
