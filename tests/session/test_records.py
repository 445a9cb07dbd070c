"""A checkpoint as one plain object: the same wherever it is printed, and there even where it cannot be read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.engine.flows import bench, python
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.session.records import log_record, show_record
from tt_debug.session.session import Session


def test_log_and_show_tell_the_same_of_every_checkpoint(tmp_path: Path) -> None:
    """A subgraph's first row has no parent; in the graph it hangs below what ran it, which is no parent of its own."""
    session = Session.open(str(unpack(CURRENT, tmp_path)))
    seen = 0
    for thread in ("subgraph-nested", "subgraph-persistent", "agent-fork"):
        for ref, header in session.open_thread(thread).headers.items():
            listed = log_record(header)
            assert listed.items() <= show_record(session.load(ref)).items()
            seen += bool(ref.ns)
    assert seen > 10


def test_an_unreadable_checkpoint_is_exported_with_its_problem_and_hides_no_neighbour(tmp_path: Path) -> None:
    session = Session.open(str(unpack("undecodable.sqlite", tmp_path)))
    view = session.open_thread("agent-linear")
    written = list(session.export("agent-linear"))
    assert {record["id"] for record in written} == {ref.id for ref in view.headers}
    assert [record["step"] for record in written] == sorted(header.step or 0 for header in view.headers.values())
    unread = [record for record in written if "state" not in record]
    assert len(unread) == 8
    assert all(record["problem"] for record in unread)
    assert all("tasks" in record for record in written if "state" in record)


def test_a_checkpoint_of_ours_has_its_place_inputs_outputs_context_and_times(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])
    on.start({"city": "Oslo"})
    on.go(until="b")
    with closing(Session.open(str(tmp_path / "store.sqlite"))) as session:
        ref = session.resolve("t")
        record = show_record(session.load(ref), session.steps(ref), completed=session.executor.completed(ref))
    assert (record["nodes"], record["next"], record["completed"]) == (["a"], ["b"], {"a": 1})
    (step,) = record["steps"]
    assert (step["input"], step["output"]) == ({"city": "Oslo"}, {"trail": ["a1"]})
    assert record["state"] == {"city": "Oslo", "trail": ["a1"]}
    assert (step["attempt"], step["error"], step["status"]) == (1, None, "completed")
    assert step["started"] <= step["ended"]
    assert step["duration_ms"] is not None
