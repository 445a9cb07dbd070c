"""``tt_debug.effect`` in the nodes of a user's graph: recorded, given again, and asked about where nobody is sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.native.elsewhere import RunsElsewhere, open_for_runs
from tests.engine.graph_threads import AGENTS, records, run, started, stored_log, target
from tt_debug.errors import ChildFailed


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the other side was asked for, a line each."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WORLD", str(tmp_path / "world"))
    monkeypatch.syspath_prepend(AGENTS)
    (tmp_path / "world").touch()
    return tmp_path / "world"


@pytest.fixture
def kept() -> Iterator[RunsElsewhere]:
    with closing(open_for_runs(records())) as found:
        yield found


def calls(world: Path) -> Counter[str]:
    """How often the other side was asked for what, by name."""
    return Counter(line.partition(" ")[0] for line in world.read_text().splitlines())


def keys(world: Path, name: str) -> list[str]:
    return [line.split()[1] for line in world.read_text().splitlines() if line.startswith(f"{name} ")]


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Three threads before their first node, which the graphs of one shape can all go on with."""
    path = tmp_path_factory.mktemp("begun") / "t.sqlite"
    for thread in ("t", "fork", "other"):
        started(path, "acting:idempotent", thread=thread, interrupt_before=["first"])
    return path.read_bytes()


@pytest.fixture
def store(tmp_path: Path, threads: bytes) -> Path:
    path = tmp_path / "t.sqlite"
    path.write_bytes(threads)
    return path


def killed(store: Path, graph: str, at: str) -> None:
    """A run whose owner dies at a write point; the process with the user's code goes with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TT_DEBUG_KILL_AT", at)
        with pytest.raises(ChildFailed, match="SIGKILL before the run ended") as caught:
            run(store, target(f"acting:{graph}"))
    assert caught.value.hint.endswith(f"go on with: tt-debug resume STORE t --graph acting:{graph}")


POINTS = [
    "run.effect-called",
    pytest.param("run.effect-begun", marks=pytest.mark.soak),
    pytest.param("run.effect-ended", marks=pytest.mark.soak),
]


@pytest.mark.parametrize("at", POINTS)
def test_a_call_whose_owner_was_killed_is_made_again_under_its_key(
    store: Path, world: Path, kept: RunsElsewhere, at: str
) -> None:
    killed(store, "idempotent", at)
    assert run(store, target("acting:idempotent")).end.status == "done"
    assert stored_log(store) == ["in", "quiet", "pay", "quiet"]
    assert calls(world)["pay"] == {"run.effect-called": 2}.get(at, 1)
    assert len(set(keys(world, "pay"))) == 1
    [done] = {use.effect.key: use.effect for use in kept.effects("t")}.values()
    assert (done.status, done.result, done.key) == ("done", {"done": "pay"}, keys(world, "pay")[0])
    [only] = kept.runs("t")
    assert (only.status, only.recoveries) == ("completed", 1)


@pytest.mark.parametrize("at", ["run.effect-called", pytest.param("run.effect-begun", marks=pytest.mark.soak)])
def test_a_call_that_is_made_at_most_once_stops_the_run_and_asks(
    store: Path, world: Path, kept: RunsElsewhere, at: str
) -> None:
    killed(store, "at_most_once", at)
    before = calls(world)["pay"]
    held = run(store, target("acting:at_most_once"))
    assert (held.end.status, held.end.error) == (
        "held",
        "pay in pay (at_most_once): it may have been done: its process died while it was called",
    )
    assert held.nodes("step_failed") == []
    [asked] = kept.approvals("t")
    assert (asked.kind, asked.node, held.the("waiting").fields["approval"]) == ("unknown_effect", "pay", asked.id)
    assert kept.runs("t")[0].shown == "held"
    kept.answer(asked.id, {"as": "done", "result": {"done": "by hand"}}, "ada")
    assert run(store, target("acting:at_most_once")).end.status == "done"
    assert stored_log(store) == ["in", "quiet", "by hand", "quiet"]
    assert calls(world)["pay"] == before


def test_what_is_on_record_is_given_and_not_called(store: Path, world: Path, kept: RunsElsewhere) -> None:
    """The node had its result and its process was killed before LangGraph had it."""
    killed(store, "at_most_once", "run.effect-ended")
    assert run(store, target("acting:at_most_once")).end.status == "done"
    assert calls(world) == {"pay": 1}
    assert [use.called for use in kept.effects("t")] == [True, False]
    steps = [(step.node, step.attempt, step.status) for step in kept.steps(kept.runs("t")[0].run_id)]
    assert steps == [
        ("first", 1, "completed"),
        ("pay", 1, "abandoned"),
        ("pay", 2, "completed"),
        ("last", 1, "completed"),
    ]


def test_every_call_of_a_graph_has_a_place_of_its_own(tmp_path: Path, world: Path, kept: RunsElsewhere) -> None:
    """Calls by one node and in its loop, a try again, awaited nodes, a subgraph, tasks that were sent."""
    store = started(tmp_path / "everywhere.sqlite", "acting:everywhere", interrupt_before=["begin"])
    outcome = run(store, target("acting:everywhere"))
    assert (outcome.end.status, outcome.end.error) == ("done", None)
    assert stored_log(store)[-2:] == ["work", "work"]
    assert calls(world) == {
        "mail": 2, "book": 1, "thank": 1, "await": 2, "round": 2, "deep": 1, "work": 2,
    }  # fmt: skip
    every = [line.split()[1] for line in world.read_text().splitlines()]
    assert len(set(every)) == len(every)
    places = Counter((slot.node, slot.name, slot.visit) for use in kept.effects("t") for slot in [use.effect.slot])
    assert places == {
        ("twice", "mail", 1): 2,
        ("tried", "book", 1): 2,
        ("tried", "thank", 1): 1,
        ("awaited", "await1", 1): 1,
        ("awaited", "await2", 1): 1,
        ("round", "round", 1): 1,
        ("round", "round", 2): 1,
        ("worker_start/inner", "deep", 1): 1,
        ("worker[0]", "work", 1): 1,
        ("worker[1]", "work", 1): 1,
    }


def test_another_thread_shares_no_effect_and_a_fork_does(store: Path, world: Path, kept: RunsElsewhere) -> None:
    graph = target("acting:at_most_once")
    run(store, graph, business_id="trip")
    refused = run(store, graph, thread="other", business_id="other", allow=("repeatable",))
    assert refused.end.error == "FatalError: the effect pay is at_most_once; this run may call only repeatable"
    run(store, graph, thread="other", business_id="other")
    assert len(set(keys(world, "pay"))) == 2
    assert run(store, graph, thread="fork", business_id="trip").end.status == "done"
    assert calls(world) == {"pay": 2}
