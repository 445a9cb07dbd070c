"""Nodes that end in odd ways: in their own process, whose run says what happened and stays as it should."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.engine import odd_nodes
from tests.engine.flows import Bench, bench
from tt_debug.engine.worker import RunEnd, WorkflowJob, run_workflow


def ran(folder: Path, name: str, **fields: Any) -> tuple[Bench, RunEnd]:
    shutil.copy(odd_nodes.__file__, folder / "odd_nodes.py")
    on = bench(folder, [{"id": "N", "type": "python", "run": f"odd_nodes:{name}", "next": None}])
    on.start({})
    return on, run_workflow(WorkflowJob(on.store.info.path or "", "run-t", **fields), on.events.append)


def printed(on: Bench) -> list[Any]:
    return [event.fields["text"] for event in on.events if event.kind == "output"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mute", "Mute: its text cannot be made"),
        ("half_a_pair", "ValueError: half \\ud800 a pair\x1b[2J"),
        ("closes", "ValueError: after closing stderr"),
        ("falls", "RecursionError: maximum recursion depth exceeded"),
        ("deep", "cannot be saved: cannot store deep"),
        ("circle", "cannot be saved: cannot store circle"),
    ],
)
def test_a_failure_is_kept_whatever_it_is(tmp_path: Path, name: str, says: str) -> None:
    on, ended = ran(tmp_path, name)
    assert ended.status == "failed"
    assert says in (ended.error or "")
    (step,) = on.store.steps("run-t")
    assert (step.status, step.error) == ("failed", ended.error)


def test_what_a_node_said_is_kept_as_text(tmp_path: Path) -> None:
    on, _ = ran(tmp_path, "half_a_pair")
    (step,) = on.store.steps("run-t")
    assert step.log[0] == "said \\ud800"


def test_a_message_of_a_megabyte_is_cut_and_counted(tmp_path: Path) -> None:
    _, ended = ran(tmp_path, "endless")
    assert len(ended.error or "") < 5_000
    assert (ended.error or "").endswith("… (1,000,000 characters in all)")


def test_a_trace_begins_with_the_users_code_and_stays_short(tmp_path: Path) -> None:
    on, _ = ran(tmp_path, "falls")
    lines = printed(on)
    assert "odd_nodes.py" in lines[1]
    assert len(lines) < 150
    assert not any("tt_debug/engine" in line for line in lines)


def test_what_we_refuse_has_no_trace(tmp_path: Path) -> None:
    on, _ = ran(tmp_path, "deep")
    assert printed(on) == []
    (tmp_path / "other").mkdir()
    on, ended = ran(tmp_path / "other", "no_such_node")
    assert "has no 'no_such_node'" in (ended.error or "")
    assert printed(on) == []


def test_a_forked_copy_that_comes_back_ends_there(tmp_path: Path) -> None:
    on, ended = ran(tmp_path, "copies_itself")
    assert (ended.status, on.state()) == ("done", {"copy": False})
    assert len(on.store.headers("t").items) == 2


def test_a_forked_copy_exits_with_its_own_code(tmp_path: Path) -> None:
    on, ended = ran(tmp_path, "copies_and_exits")
    assert (ended.status, on.state()) == ("done", {"exit": 3})
    assert on.kinds().count("run_ended") == 1


def test_a_thread_that_a_node_left_behind_ends_with_the_run(tmp_path: Path) -> None:
    on, ended = ran(tmp_path, "leaves_a_thread", linger=0.2)
    assert ended.status == "done"
    assert on.store.head("t") == ended.head
    assert printed(on) == ["left running by a node, and ended with the run: left behind", "bye"]


def test_an_idle_pool_of_threads_ends_by_itself(tmp_path: Path) -> None:
    on, ended = ran(tmp_path, "leaves_a_pool", linger=60)
    assert (ended.status, printed(on)) == ("done", [])
