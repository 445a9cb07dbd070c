"""What runs next, and what is said about it before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.flows import python, write_flow
from tt_debug.definition.load import load_workflow
from tt_debug.definition.workflow import Workflow
from tt_debug.engine.context import DELETE
from tt_debug.engine.plan import NoWayOn, merge, next_node
from tt_debug.session.preview import calls, ends, limits, upcoming

EDGES = [{"when": "score > `5`", "to": "good"}, {"when": "tags", "to": "tagged"}, {"to": None}]


def workflow(folder: Path, *nodes: dict[str, Any]) -> Workflow:
    return load_workflow(write_flow(folder, nodes))


@pytest.fixture
def branching(tmp_path: Path) -> Workflow:
    return workflow(
        tmp_path,
        python("start", "count", EDGES),
        python("good", "count", [{"when": "again", "to": "start"}, {"when": "sum(n) > `1`", "to": None}]),
        {"id": "tagged", "type": "human_task", "next": None},
    )


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"score": 6}, "good"),
        ({"score": 5, "tags": ["x"]}, "tagged"),
        ({"score": 5, "tags": []}, None),
        ({"score": None, "tags": ""}, None),
        ({"tags": 0}, "tagged"),  # JMESPath: 0 is true
        ({}, None),
    ],
)
def test_edges_are_tried_in_order(branching: Workflow, state: dict[str, Any], expected: str | None) -> None:
    assert next_node(branching, "start", state) == expected


def test_no_edge_matches(branching: Workflow) -> None:
    with pytest.raises(NoWayOn, match="no edge matches the state"):
        next_node(branching, "good", {"n": [1]})
    with pytest.raises(NoWayOn, match="'>' not supported"):
        next_node(branching, "start", {"score": "high"})
    with pytest.raises(NoWayOn, match="cannot be evaluated"):
        next_node(branching, "good", {"n": ["a"]})
    with pytest.raises(NoWayOn, match="no node 'gone'"):
        next_node(branching, "gone", {})


def test_merge_deletes_and_leaves_both_alone() -> None:
    state, result = {"a": 1, "b": 2}, {"b": DELETE, "c": 3, "d": DELETE}
    assert merge(state, result, DELETE) == {"a": 1, "c": 3}
    assert state == {"a": 1, "b": 2}


def test_upcoming_ends_where_nobody_can_know_more(tmp_path: Path, branching: Workflow) -> None:
    line = workflow(
        tmp_path,
        python("a", "count", "b"),
        {"id": "b", "type": "llm_call", "next": "c"},
        {"id": "c", "type": "human_task", "next": "d"},
        python("d", "count", None),
    )
    assert upcoming(line, {}, ("a",)) == ("a", "b", "c")
    assert ends(line, ("a", "b", "c")) == "c waits for a human"
    assert upcoming(line, {}, ("d",)) == ("d",)
    assert ends(line, ("d",)) == "the end"
    assert upcoming(line, {}, ()) == ()
    assert upcoming(line, {}, ("gone",)) == ()
    assert upcoming(branching, {}, ("start",)) == ("start",)
    assert ends(branching, ("start",)) == "then good or tagged or the end, as start decides"


def test_calls_say_what_each_node_does(tmp_path: Path) -> None:
    flow = workflow(
        tmp_path,
        python("a", "count", "b"),
        {"id": "b", "type": "llm_call", "next": "c"},
        {"id": "c", "type": "llm_call", "provider": "mine:answer", "next": "d"},
        {"id": "d", "type": "llm_call", "provider": "recorded", "next": "e"},
        {"id": "e", "type": "human_task", "next": None, "due": "7d", "on_timeout": "reject"},
    )
    told = calls(flow, [node.id for node in flow.nodes])
    assert [line.split(":")[0] for line in told] == ["a", "b", "c", "d", "e"]
    assert "your function tests.engine.sample_nodes:count" in told[0]
    assert "no network" in told[1]
    assert "your function mine:answer" in told[2]
    assert "nothing is called" in told[3]
    assert "human" in told[4]
    assert limits(flow) == ("e: on_timeout reject after 7d takes a worker or a sweep to notice",)
