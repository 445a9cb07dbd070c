"""Expressions over states, and what becomes of those that do not fit."""

from __future__ import annotations

import pytest

from stores.model import MISSING, Opaque, Partial, Tagged, Value
from tt_debug.errors import UsageError
from tt_debug.query import Failed, check_condition, compile_expr, equality_of, evaluate, holds

STATE: dict[str, Value] = {
    "plan": {"status": "draft", "steps": ["a", "b"]},
    "messages": [
        Tagged("langchain_core.messages.human.HumanMessage", {"type": "human", "content": "hi"}),
        Tagged("langchain_core.messages.tool.ToolMessage", {"type": "tool", "content": "HTTP 502"}),
    ],
    "blob": Opaque("pickle", b"123"),
    "n": 3,
    "odd.key": True,
    "nothing": None,
    "log": Partial(MISSING, ("a",)),
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plan.status", "draft"),
        ("plan.status == 'draft'", True),
        ("length(messages)", 2),
        ("messages[-1].content", "HTTP 502"),
        ("messages[?type=='tool' && contains(content, '502')] | length(@)", 1),
        ('"odd.key"', True),
        ("nothing.there", MISSING),
        ("plan.nosuch", MISSING),
        ("messages[7].content", MISSING),
        ("n.part", MISSING),
        ("nothing", None),
        ("nothing || nosuch", None),
        ('blob."$opaque"', "pickle"),
        ("n > `2`", True),
    ],
)
def test_answers(text: str, wanted: Value) -> None:
    assert evaluate(compile_expr(text), STATE) == wanted


@pytest.mark.parametrize(
    "text", ["length(n)", "sort(messages)", "sum(plan.steps)", "nosuch(n)", "abs('x')", "max_by(messages, &n)"]
)
def test_what_does_not_fit_is_an_answer(text: str) -> None:
    answer = evaluate(compile_expr(text), STATE)
    assert isinstance(answer, Failed)
    assert answer.reason
    assert "\n" not in answer.reason


@pytest.mark.parametrize(
    ("text", "reason"), [("blob.part", "blob is not decoded"), ("log[0]", "log is known in part only")]
)
def test_a_path_into_what_nobody_knows_has_no_answer(text: str, reason: str) -> None:
    assert evaluate(compile_expr(text), STATE) == Failed(reason)


@pytest.mark.parametrize("text", ["", "a ==", "plan.status = 'x'", "[", "a..b", "a b", "foo(", "'open"])
def test_what_is_no_expression_is_refused_with_the_way_to_write_it(text: str) -> None:
    with pytest.raises(UsageError, match="is not a JMESPath expression") as caught:
        compile_expr(text)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["__import__('os')", "a[?size(b) > `1`]", "length(nosuch(a))", "sort_by(a, &odd(b))"])
def test_a_condition_with_a_function_that_nobody_has_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"calls \w+\(\), which JMESPath does not have"):
        check_condition(text)


TRUE: list[Value] = [True, "x", 0, 0.0, [1], {"a": None}]
FALSE: list[Value] = [False, None, MISSING, "", [], {}, Failed("no")]


@pytest.mark.parametrize(("answer", "wanted"), [*((a, True) for a in TRUE), *((a, False) for a in FALSE)])
def test_what_counts_as_true(answer: Value, wanted: bool) -> None:
    assert holds(answer) is wanted


def test_a_state_is_not_changed_and_not_copied_without_need() -> None:
    plain_state: dict[str, Value] = {"a": {"b": [1]}}
    assert evaluate(compile_expr("a"), plain_state) is plain_state["a"]


@pytest.mark.parametrize(
    "value",
    [
        "draft",
        'it\'s `a` \\ "b"',
        "two\nlines",
        "京都 🙂",
        "",
        3,
        1.5,
        True,
        False,
        None,
        [],
        ["a", 1],
        {"a": {"b": [None]}},
    ],
)
def test_an_equality_holds_for_its_value_and_no_other(value: Value) -> None:
    path = ("a b", 0, "c")
    text = equality_of(path, {"a b": [{"c": value}]})
    assert evaluate(compile_expr(text), {"a b": [{"c": value}]}) is True
    for other in ("other", 4, [1]):
        assert evaluate(compile_expr(text), {"a b": [{"c": other}]}) is False


def test_an_equality_of_a_message_asks_for_its_payload_and_a_long_value_is_refused() -> None:
    text = equality_of(("messages", 1, "content"), STATE)
    assert text == "messages[1].content == 'HTTP 502'"
    assert evaluate(compile_expr(equality_of(("messages", 1), STATE)), STATE) is True
    for path, state in ((("n",), {"n": "x" * 3000}), ((), STATE), (("n",), {"n": float("nan")})):
        with pytest.raises(UsageError, match="written in an expression"):
            equality_of(path, state)


READING = {
    "n": {"n"},
    "plan.status == 'x' && n": {"plan", "n"},
    "length(messages) > `3`": {"messages"},
    "messages[?role == 'ai'].content | [0]": {"messages"},
    "messages[-1]": {"messages"},
    "sort_by(messages, &id)[0].id": {"messages", "id"},
    "{a: n, b: plan.status}": {"n", "plan"},
    "[n, plan]": {"n", "plan"},
    "n || plan": {"n", "plan"},
    "`3`": set(),
    "keys(@)": None,
    "*": None,
    "@.n": None,
    "[0]": None,
    "values(@)[0]": None,
}


@pytest.mark.parametrize("text", READING)
def test_an_expression_knows_the_keys_that_it_looks_at(text: str) -> None:
    expression, keys = compile_expr(text), READING[text]
    assert expression.reads == keys
    state = {"n": 3, "plan": {"status": "x"}, "messages": [{"id": "b", "role": "ai", "content": "c"}], "id": "z"}
    few = state if keys is None else {key: state[key] for key in keys}
    assert evaluate(expression, few) == evaluate(expression, state)


def test_many_states_with_the_same_messages_answer_as_each_does_alone() -> None:
    known: dict[int, tuple[Tagged, Value]] = {}
    expression = compile_expr("messages[*].content | join(' ', @)")
    messages = [Tagged("app.M", {"content": str(at), "parts": [Tagged("app.P", {"x": at})]}) for at in range(5)]
    for length in range(1, 6):
        state = {"messages": messages[:length], "n": length}
        assert evaluate(expression, state, known) == evaluate(expression, state) == " ".join("01234"[:length])
    assert evaluate(compile_expr("messages[-1].parts[0].x"), state, known) == 4
    assert len(known) == 5
