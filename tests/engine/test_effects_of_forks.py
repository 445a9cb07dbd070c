"""What a fork makes of the effects on record: given again, asked anew, or decided by a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.model import Change
from tests.engine import effect_nodes as nodes
from tests.engine.effect_flows import HERE, again, flow
from tests.engine.effect_flows import fresh_world as fresh_world
from tests.engine.flows import bench

EDIT = Change("change", ("to",), "anna", "otto")


def test_an_edited_fork_asks_a_repeatable_effect_anew_without_a_word(tmp_path: Path) -> None:
    on = flow(tmp_path, "sends")
    first = on.start({"to": "anna", "cls": "repeatable"}).base
    on.go()
    assert first is not None
    again(on, first, "u", EDIT)
    assert on.go("run-u").status == "done"
    (one, two) = (key for _, key, _ in nodes.asked)
    assert two == f"{one}~f1"
    again(on, first, "v", EDIT)
    assert on.go("run-v").status == "done"
    assert len(nodes.asked) == 2


@pytest.mark.parametrize(
    ("decision", "sent", "calls"),
    [("new", {"no": 2, "to": "otto"}, 2), ("reuse", {"no": 1, "to": "anna"}, 1), ("skip", None, 1)],
)
@pytest.mark.parametrize("before", [True, False])
def test_an_edited_fork_meets_a_conflict_that_is_decided_once(
    tmp_path: Path, decision: str, sent: Any, calls: int, before: bool
) -> None:
    on = flow(tmp_path, "sends")
    first = on.start({"to": "anna", "cls": "at_most_once"}).base
    on.go()
    assert first is not None
    again(on, first, "u", EDIT)
    if before:
        assert on.go("run-u", on_conflict=decision).status == "done"
    else:
        assert on.go("run-u").status == "held"
        (asked,) = on.store.approvals()
        assert asked.kind == "effect_conflict"
        on.store.answer(asked.id, {"as": decision}, "anna")
        assert on.go("run-u").status == "done"
    assert on.state("u")["sent"] == sent
    assert len(nodes.asked) == calls
    assert on.state("t")["sent"] == {"no": 1, "to": "anna"}


@pytest.mark.parametrize(
    ("decision", "sent", "calls"),
    [("new", {"no": 2, "to": "otto"}, 2), ("reuse", {"no": 1, "to": "anna"}, 1), ("skip", None, 1)],
)
def test_a_fork_that_says_how_does_not_wait_for_its_siblings_question(
    tmp_path: Path, decision: str, sent: Any, calls: int
) -> None:
    on = flow(tmp_path, "sends")
    first = on.start({"to": "anna", "cls": "at_most_once"}).base
    on.go()
    assert first is not None
    again(on, first, "asks", EDIT)
    assert on.go("run-asks").status == "held"
    again(on, first, "says", EDIT)
    assert on.go("run-says", on_conflict=decision).status == "done"
    (asked,) = on.store.approvals("asks")
    on.store.answer(asked.id, {"as": "new"}, "anna")
    assert on.go("run-asks").status == "done"
    assert [on.state(thread)["sent"] for thread in ("says", "asks")] == [sent, sent]
    assert len(nodes.asked) == calls


def test_a_model_call_is_repeated_only_for_another_prompt(tmp_path: Path) -> None:
    ask = {"id": "a", "type": "llm_call", "provider": f"{HERE}:model", "prompt": "hi {to}", "next": None}
    on = bench(tmp_path, [ask])
    first = on.start({"to": "anna"}).base
    assert on.go().status == "done"
    assert first is not None
    again(on, first, "u")
    on.go("run-u")
    assert nodes.names() == ["model"]
    again(on, first, "v", EDIT)
    on.go("run-v")
    assert (nodes.names(), on.state("v")["a"]) == (["model", "model"], "heard hi otto")


def test_the_provider_recorded_gives_what_another_answered(tmp_path: Path) -> None:
    ask = {"id": "a", "type": "llm_call", "prompt": "hi {to}", "next": None}
    live = bench(tmp_path, [{**ask, "provider": f"{HERE}:model"}])
    live.start({"to": "anna"}, business_id="case")
    live.go()
    (tmp_path / "later").mkdir()
    later = bench(tmp_path / "later", [{**ask, "provider": "recorded"}], version="2")
    on = replace(later, store=live.store)
    on.start({"to": "anna"}, "u", business_id="case")
    assert on.go("run-u").status == "done"
    assert (on.state("u")["a"], nodes.names()) == ("heard hi anna", ["model"])
    on.start({"to": "otto"}, "v", business_id="case")
    ending = on.go("run-v")
    assert ending.status == "failed"
    assert "no answer to this prompt is on record" in str(ending.error)
