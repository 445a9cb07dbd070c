"""Figures about the demo's histories: what counts, how far it has come, what may be left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.builders import langgraph_file
from tests.engine.flows import bench, python
from tt_debug.session import metrics
from tt_debug.session.metrics import Extent
from tt_debug.session.questions import Scope, Stopped
from tt_debug.session.session import Session
from tt_debug.weighing import Scales


@pytest.mark.parametrize("which", ["native", "langgraph"])
def test_every_checkpoint_of_a_store_is_weighed_once(which: str, request: pytest.FixtureRequest) -> None:
    session: Session = request.getfixturevalue(which)
    scales = metrics.weigh(session, Extent(), Scales())
    counts = {info.thread: info.checkpoints for info in session.threads()}
    assert {name: tally.checkpoints for name, tally in scales.threads.items()} == counts
    assert scales.unread == 0
    assert 0 < scales.repeated < scales.total
    assert scales.by_size()[0][0] == "messages"


def test_a_fork_holds_again_what_its_line_held(native: Session) -> None:
    scales = metrics.weigh(native, Extent(), Scales())
    forked = next(info.thread for info in native.threads() if info.forked_from and info.thread.endswith("no-trains"))
    assert scales.threads[forked].repeated > 0.9 * scales.threads[forked].total


def test_a_line_from_a_start_counts_what_comes_after_it(native: Session) -> None:
    end, start = native.resolve("trip-planner"), native.resolve("trip-planner@15")
    whole = metrics.weigh(native, Extent(Scope(end)), Scales())
    part = metrics.weigh(native, Extent(Scope(end), start), Scales())
    assert part.checkpoints == whole.checkpoints - 17
    assert part.keys["messages"].steps == part.checkpoints - 1
    nodes = [node.node for node in metrics.node_times(native, Extent(Scope(end), start)).rows()]
    assert "rank_hotels" in nodes
    assert "read_request" not in nodes


def test_what_was_written_before_is_left_out(langgraph: Session) -> None:
    newest = max(info.updated for info in langgraph.threads() if info.updated is not None)
    recent = metrics.weigh(langgraph, Extent(since=newest - timedelta(seconds=1)), Scales())
    assert 0 < recent.checkpoints < 10
    nothing = Extent(since=datetime.now(UTC) + timedelta(days=1))
    assert metrics.weigh(langgraph, nothing, Scales()).checkpoints == 0
    assert metrics.node_times(langgraph, nothing).rows() == []


def test_it_can_be_stopped_and_what_was_weighed_stands(native: Session) -> None:
    scales = Scales()
    with pytest.raises(Stopped):
        metrics.weigh(native, Extent(), scales, lambda done, of: done < 5)
    assert scales.checkpoints == 5


@pytest.mark.parametrize("which", ["native", "langgraph"])
def test_nodes_took_their_time_by_either_clock(which: str, request: pytest.FixtureRequest) -> None:
    session: Session = request.getfixturevalue(which)
    times = {node.node: node for node in metrics.node_times(session, Extent()).rows()}
    search = times["search"].at(0.5)
    assert search is not None
    assert 1.4 < search < 1.8
    assert times["search"].errors == 0
    assert not any(name.startswith("__") for name in times)


def test_a_run_of_ours_that_failed_is_counted_with_its_node(native: Session) -> None:
    times = {node.node: node for node in metrics.node_times(native, Extent()).rows()}
    assert times["fetch_quote"].errors >= 1


def test_a_graph_s_failed_task_and_its_questions_are_told_from_its_rows(tmp_path: Path) -> None:
    session = Session.open(str(langgraph_file("lg1.2.24_sqlite3.1.2.sqlite", tmp_path)), read_only=True)
    failed = [info for info in session.threads() if info.status == "failed"]
    times = metrics.node_times(session, Extent()).rows()
    assert sum(node.errors for node in times) >= len(failed) > 0
    scales = metrics.weigh(session, Extent(), Scales())
    assert sum(spent.input for spent in scales.spent.values()) > 10_000
    session.close()


def test_a_store_without_times_has_nothing_to_say_about_them(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "trail", None)])
    on.start({}, "t")
    session = Session.open(str(on.folder / "store.sqlite"), read_only=True)
    assert metrics.node_times(session, Extent()).rows() == []
    session.close()
