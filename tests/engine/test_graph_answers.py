"""How an answer goes in, and what a question is called, in the releases of LangGraph that differ in it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from xxhash import xxh3_128_hexdigest

from tt_debug.engine import graph_driver, graph_standing
from tt_debug.engine.graph_target import Refused

ONE, TWO = "1" * 32, "2" * 32


class Nameless:
    """An `Interrupt` of langgraph 0.2."""


class Placed(Nameless):
    """Of langgraph 0.4: its id is made of where it was asked."""

    interrupt_id = ""


class Named(Placed):
    """Since langgraph 0.6."""

    id = ""


@dataclass
class Command:
    resume: Any


def given(monkeypatch: pytest.MonkeyPatch, kind: type, asked: list[str], answers: dict[str, Any]) -> Any:
    release = ModuleType("langgraph.types")
    vars(release).update(Command=Command, Interrupt=kind)
    monkeypatch.setitem(sys.modules, "langgraph.types", release)
    before = SimpleNamespace(questions=[{"approval": identity} for identity in asked], next=["n"])
    found: Any = graph_driver.answer({"answers": answers, "has_answer": False}, before)  # type: ignore[arg-type]
    return found.resume


@pytest.mark.parametrize(
    ("kind", "asked", "answers", "goes_in"),
    [
        (Named, [ONE], {ONE: "a"}, {ONE: "a"}),
        (Named, [ONE, TWO], {TWO: "b"}, {TWO: "b"}),
        (Named, ["placeholder-id"], {"placeholder-id": "a"}, "a"),
        # By id it would be forgotten when the task asks again.
        (Placed, [ONE], {ONE: "a"}, "a"),
        (Placed, [ONE, TWO], {ONE: "a"}, {ONE: "a"}),
        (Nameless, [ONE], {ONE: {ONE: "a"}}, {ONE: "a"}),
    ],
)
def test_an_answer(
    monkeypatch: pytest.MonkeyPatch, kind: type, asked: list[str], answers: dict[str, Any], goes_in: Any
) -> None:
    assert given(monkeypatch, kind, asked, answers) == goes_in


def test_a_release_that_takes_one_answer_is_not_given_one_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match="answers only one"):
        given(monkeypatch, Nameless, [ONE, TWO], {ONE: "a"})


@pytest.mark.parametrize(
    ("interrupt", "name"),
    [
        (SimpleNamespace(value="q", id=ONE), ONE),
        (SimpleNamespace(value="q", ns=["a:1", "b:2"], interrupt_id=TWO), TWO),
        (SimpleNamespace(value="q", ns=["a:1", "b:2"]), xxh3_128_hexdigest(b"a:1|b:2")),
        (SimpleNamespace(value="q", ns=None, interrupt_id="placeholder-id"), "task"),
        (SimpleNamespace(value="q"), "task"),
    ],
)
def test_a_question_is_called_what_the_store_calls_it(interrupt: Any, name: str) -> None:
    """The store's name is that of ``stores.langgraph.tasks``; answers recorded under it have to find the question."""
    task = SimpleNamespace(id="task", name="n", state=None, interrupts=[interrupt])
    [question] = graph_standing._questions(task)
    assert question["approval"] == name
