"""Calling nodes: the user's functions, the offline models, and what may become state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.engine.flows import NoLedger, python, write_flow
from tt_debug.definition.load import load_workflow
from tt_debug.definition.prompts import MissingName, fill, prompt_faults
from tt_debug.engine import calling, nodes
from tt_debug.engine.context import Context
from tt_debug.engine.retry import FatalError


def call(folder: Path, node: dict[str, Any], state: dict[str, Any], visit: int = 1, **top: Any) -> nodes.NodeResult:
    workflow = load_workflow(write_flow(folder, [node], **top))
    ctx = Context("r", "t", node["id"], visit, 1, lambda _text: None, NoLedger())
    return nodes.call_node(workflow, workflow.nodes[0], json.dumps(state).encode(), ctx)


def state_after(folder: Path, node: dict[str, Any], state: dict[str, Any], visit: int = 1, **top: Any) -> Any:
    return json.loads(call(folder, node, state, visit, **top).state)


def model(**fields: Any) -> dict[str, Any]:
    return {"id": "m", "type": "llm_call", "next": None, **fields}


def test_a_mapping_is_merged_and_none_is_nothing(tmp_path: Path) -> None:
    assert state_after(tmp_path, python("a", "count", None), {"n": 1, "x": 2}) == {"n": 2, "x": 2}
    assert call(tmp_path, python("a", "nothing", None), {"x": 2}).output == {}


def test_deleting_a_key(tmp_path: Path) -> None:
    result = call(tmp_path, python("a", "forgets", None), {"city": "Kyoto", "x": 1})
    assert json.loads(result.state) == {"x": 1, "kept": 1}
    assert result.output == {"city": None, "kept": 1}


def test_changing_the_given_state_changes_nothing(tmp_path: Path) -> None:
    state = {"n": 1, "inner": {"x": 1}}
    assert state_after(tmp_path, python("a", "mutates", None), state) == {**state, "seen": True}


def test_tuples_and_dict_subclasses_become_plain(tmp_path: Path) -> None:
    result = call(tmp_path, python("a", "shapes", None), {})
    assert result.output == {"pair": [1, 2], "found": {"a": 1}, "ordered": {"b": 1}}


class Unhashable:
    """A callable that compares by its content, as one made of a plain dataclass does."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable)

    def __call__(self, state: Any) -> Any:
        return [state]


@dataclass(frozen=True)
class HashedByFields:
    """A callable whose hash is made of its fields, one of which has none."""

    kept: list[Any]

    def __call__(self, state: Any) -> Any:
        return [state]


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda state: [state], [1]),
        (lambda state, ctx: [state, ctx], [1, 2]),
        (lambda *given: list(given), [1, 2]),
        (lambda state, *, ctx=None: [state, ctx], [1, None]),
        (Unhashable(), [1]),
        (HashedByFields([]), [1]),
    ],
)
def test_a_function_gets_as_much_as_it_takes_every_time(function: Any, result: Any) -> None:
    assert calling.call(function, (1, 2), 1) == calling.call(function, (1, 2), 1) == result


def test_an_async_function_is_awaited(tmp_path: Path) -> None:
    assert state_after(tmp_path, python("a", "waits", None), {}) == {"async": True}


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("connection", r"plan\.db\[0\].*sqlite3\.Connection"),
        ("huge", r"numbers\[1\].*64 bits"),
        ("nan", r"score.*nan"),
        ("a_list", "returned list"),
        ("not_callable", "is a int, not a function"),
        ("gone", "has no 'gone'"),
    ],
)
def test_what_cannot_be_state_is_fatal_and_named(tmp_path: Path, run: str, words: str) -> None:
    with pytest.raises(FatalError, match=words):
        call(tmp_path, python("a", run, None), {})


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="no module 'no_such_module'"):
        call(tmp_path, python("a", "no_such_module:f", None), {})


def test_a_module_whose_name_is_taken_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("def f(state): return {}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(FatalError, match=r"json\.py beside the workflow is hidden"):
        call(tmp_path, python("a", "json:f", None), {})


def test_the_state_schema_is_checked(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert state_after(tmp_path, python("a", "count", None), {}, state_schema=schema) == {"n": 1}
    with pytest.raises(FatalError, match=r"state_schema: n: 'many' is not of type 'integer'"):
        call(tmp_path, python("a", "wrong_type", None), {}, state_schema=schema)


def test_a_node_that_runs_too_long_times_out(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match=r"longer than 0\.05 s"):
        call(tmp_path, python("a", "slow", None, timeout_s=0.05), {})


def test_template(tmp_path: Path) -> None:
    state = {"city": "京都", "plan": {"days": [{"name": "temple"}]}, "n": 3, "none": None}
    prompt = "Plan {city}: {plan.days[0].name}, {plan.days} {{raw}} {n} {none}"
    answer = state_after(tmp_path, model(prompt=prompt, output="text"), state)["text"]
    assert answer == 'Plan 京都: temple, [{"name": "temple"}] {raw} 3 null'
    with pytest.raises(FatalError, match=r"prompt of m cannot be filled: \{town\}: the state has no 'town'"):
        call(tmp_path, model(prompt="{town}"), state)


def test_without_a_prompt_the_text_depends_on_the_input_alone(tmp_path: Path) -> None:
    one = state_after(tmp_path, model(), {"a": 1})["m"]
    assert one == state_after(tmp_path, model(), {"a": 1})["m"]
    assert one != state_after(tmp_path, model(), {"a": 2})["m"]
    assert one.startswith("m(a) #")


def test_scripted_answers_go_by_visit(tmp_path: Path) -> None:
    node = model(provider="scripted", script=["first", {"second": 2}])
    assert state_after(tmp_path, node, {}, visit=1)["m"] == "first"
    assert state_after(tmp_path, node, {}, visit=2)["m"] == {"second": 2}
    with pytest.raises(FatalError, match="has 2 answers and this is visit 3"):
        call(tmp_path, node, {}, visit=3)


def test_seeded_choices_are_stable_and_depend_on_seed_and_input(tmp_path: Path) -> None:
    def choice(seed: int, city: str) -> Any:
        node = model(provider="seeded", choices=list(range(1000)), seed=seed, prompt="{city}")
        return state_after(tmp_path, node, {"city": city})["m"]

    assert choice(1, "a") == choice(1, "a")
    assert len({choice(1, "a"), choice(2, "a"), choice(1, "b")}) > 1


def test_a_providers_own_function(tmp_path: Path) -> None:
    node = model(provider="tests.engine.sample_nodes:model", prompt="hi {x}")
    assert state_after(tmp_path, node, {"x": 1})["m"] == "m heard 'hi 1'"


@pytest.mark.parametrize("prompt", ["{", "a } b", "{a b}", "{}", '{"json": 1}', "{a!r}", "{a.b()[}"])
def test_prompts_that_can_never_be_filled(prompt: str) -> None:
    assert list(prompt_faults(prompt))


def test_prompts_never_run_code() -> None:
    with pytest.raises(MissingName):
        fill("{a.__class__}", {"a": 1})
    with pytest.raises(MissingName, match="gives nothing"):
        fill("{a[3]}", {"a": [1]})
    with pytest.raises(MissingName):
        fill("{sum(a)}", {"a": ["x"]})
    with pytest.raises(MissingName, match="Unknown function"):
        fill("{__import__('os')}", {})
    with pytest.raises(MissingName):
        fill("{a[?b > `1`]}", {"a": [{"b": "x"}]})
    assert fill("{length(a)}", {"a": [1, 2]}) == "2"
