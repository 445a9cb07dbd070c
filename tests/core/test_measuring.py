"""Where bytes lie, what nodes took and what calls used, of checkpoints that are made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from stores.model import Checkpoint, Header, Opaque, Partial, Ref, Tagged, Task, Value, Write
from tt_debug.errors import UsageError
from tt_debug.sizes import json_size, weigh
from tt_debug.timing import Step, Timetable, step_seconds
from tt_debug.usage import Price, Prices, Usage, read_prices, usages
from tt_debug.weighing import Scales

START = datetime(2026, 1, 1, tzinfo=UTC)


def header(number: int, *, source: str = "loop", after: float = 1.0, thread: str = "t") -> Header:
    parent = Ref(thread, "", str(number - 1)) if number else None
    at = START + timedelta(seconds=number * after)
    return Header(Ref(thread, "", str(number)), parent, number, source, at, nodes=("plan",))


def checkpoint(
    number: int, state: dict[str, Value], *, thread: str = "t", writes: tuple[Write, ...] = ()
) -> Checkpoint:
    return Checkpoint(header(number, thread=thread), state, (Task("1", "plan", "", "done", writes),))


def ai(id: str | None, tokens: int, model: str | None = "gpt-4o-mini") -> dict[str, Value]:
    usage = {"input_tokens": tokens, "output_tokens": 1, "input_token_details": {"cache_read": 2}}
    return {"type": "ai", "id": id, "usage_metadata": usage, "response_metadata": {"model_name": model}}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("京都", 6),
        ([1, 22], 6),
        ({1: "a"}, 9),
        (Opaque("bytes", b"12345"), 5),
        (Tagged("m.C", {"a": 1}, b"raw bytes"), 4 + 9),
        (Tagged("m.C", {"a": 1}), 7),
        (Partial([1], (2,)), 7),
    ],
)
def test_a_value_is_as_large_as_it_is_as_json_and_what_is_not_decoded_as_its_bytes(value: Value, size: int) -> None:
    assert json_size(value) == size


@pytest.mark.parametrize("odd", ["\ud83d", 2**70, {"deep": "\ud83d"}, [2**70, Opaque("x", b"12")]])
def test_what_no_json_holds_has_a_size_and_a_fingerprint_too(odd: Value) -> None:
    other = [odd, 1]
    assert weigh([odd]).size > 0
    assert weigh([odd]) == weigh([odd])
    assert weigh([odd]).mark != weigh(other).mark


def test_a_nest_of_a_thousand_levels_is_weighed() -> None:
    value: Value = 1
    for _ in range(1000):
        value = [value]
    assert weigh(value).size >= 1000


def test_keys_grow_change_and_stand_there_again() -> None:
    scales = Scales()
    messages: list[Value] = []
    for number in range(4):
        messages = [*messages, {"text": "x" * 10, "n": number}]
        scales.put(checkpoint(number, {"messages": messages, "vector": [number, 2.5], "fixed": "always"}))
    grows, vector, fixed = (scales.keys[key] for key in ("messages", "vector", "fixed"))
    assert (grows.checkpoints, grows.changes, grows.steps) == (4, 3, 3)
    each = len('{"text":"xxxxxxxxxx","n":0},')
    assert grows.growth == each
    assert grows.repeated == (3 + 2 + 1) * each, "of each list, the elements that were there before"
    assert (vector.changes, vector.repeated, vector.rewritten) == (3, 0, True)
    assert (fixed.changes, fixed.repeated, fixed.total) == (0, 18, 24)
    assert not grows.rewritten
    assert scales.by_size()[0][0] == "messages"
    assert scales.threads_by_size()[0][1].total == scales.total


def test_another_family_has_nothing_in_common() -> None:
    scales = Scales()
    scales.put(checkpoint(0, {"a": "text"}))
    scales.put(checkpoint(0, {"a": "text"}, thread="fork"))
    scales.next_family()
    scales.put(checkpoint(0, {"a": "text"}, thread="other"))
    assert {name: tally.repeated for name, tally in scales.threads.items()} == {"t": 0, "fork": 4, "other": 0}


def test_what_tasks_wrote_is_counted_apart() -> None:
    scales = Scales()
    scales.put(checkpoint(0, {"a": "text"}, writes=(Write("a", "more"), Write("b", "else"))))
    assert (scales.keys["a"].written, scales.keys["a"].total) == (4, 4)
    assert (scales.keys["b"].written, scales.keys["b"].checkpoints) == (4, 0)


def test_a_call_counts_once_however_many_checkpoints_hold_its_message() -> None:
    scales = Scales()
    first, second, nameless = ai("m1", 10), ai("m2", 20), ai(None, 5)
    scales.put(checkpoint(0, {"messages": [first]}))
    scales.put(checkpoint(1, {"messages": [first, second, nameless]}))
    scales.put(checkpoint(2, {"messages": [{**first, "edited": True}, second, nameless], "last": nameless}))
    ((node, model, spent, cost),) = scales.by_cost(Prices({"gpt-4o": Price(2.0, 10.0, 1.0)}))
    assert (node, model, spent.calls, spent.input, spent.output, spent.cached) == ("plan", "gpt-4o-mini", 3, 35, 3, 6)
    assert cost == pytest.approx((29 * 2.0 + 6 * 1.0 + 3 * 10.0) / 1e6)


def test_what_no_price_is_known_for_costs_nothing_that_could_be_said() -> None:
    scales = Scales()
    scales.put(checkpoint(0, {"messages": [ai("m1", 10, model=None)]}))
    assert scales.by_cost(Prices({"gpt-4o": Price(2.0, 10.0)}))[0][3] is None


@pytest.mark.parametrize(
    ("message", "usage"),
    [
        ({"usage_metadata": {"input_tokens": 3, "output_tokens": 4}}, Usage(3, 4)),
        (
            {"response_metadata": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 4}, "model": "m"}},
            Usage(3, 4, model="m"),
        ),
        (
            {
                "role": "assistant",
                "model": "claude",
                "id": "1",
                "usage": {"input_tokens": 3, "output_tokens": 4},
            },
            Usage(3, 4, model="claude", id="1"),
        ),
        (
            {
                "lc": 1,
                "type": "constructor",
                "kwargs": {"response_metadata": {"tokenUsage": {"promptTokens": 3, "completionTokens": 4}}},
            },
            Usage(3, 4),
        ),
        (Tagged("AIMessage", {"usage_metadata": Tagged("U", {"input_tokens": 3, "output_tokens": 4})}), Usage(3, 4)),
    ],
)
def test_usage_is_read_as_libraries_write_it(message: Value, usage: Usage) -> None:
    assert list(usages({"any": [message]})) == [usage]


@pytest.mark.parametrize(
    "message",
    [
        {"usage_metadata": None},
        {"usage_metadata": {"input_tokens": -1}},
        {"usage_metadata": {"input_tokens": True, "output_tokens": "4"}},
        {"usage": {"input_tokens": 3}},
        "usage_metadata",
    ],
)
def test_what_is_no_usage_is_not_taken_for_one(message: Value) -> None:
    assert list(usages([message])) == []


def test_prices_are_the_users_and_the_longest_beginning_of_a_name_counts() -> None:
    table = {"prices": {"gpt": {"input": 1, "output": 2}, "gpt-4o": {"input": 3, "output": 4, "cached": 0}}}
    prices = read_prices({**table, "currency": "€"}, "config.toml")
    assert prices.currency == "€"
    assert prices.of(Usage(1_000_000, 0, 500_000, "gpt-4o-2024")) == 1.5
    assert prices.of(Usage(0, 1_000_000, 0, "gpt-3")) == 2
    assert prices.of(Usage(1, 1, 0, "claude")) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"prices": 3},
        {"prices": {"m": 3}},
        {"prices": {"m": {"input": 1}}},
        {"prices": {"m": {"input": 1, "output": -2}}},
        {"prices": {"m": {"input": 1, "output": "2"}}},
        {"prices": {"m": {"input": 1, "output": float("nan")}}},
        {"prices": {"m": {"input": 1, "output": 2, "per": 1000}}},
        {"currency": 3},
    ],
)
def test_a_price_that_is_none_is_refused_with_its_place(wrong: dict[str, Value]) -> None:
    with pytest.raises(UsageError, match=r"config\.toml: ") as refused:
        read_prices(wrong, "config.toml")
    assert refused.value.hint


def test_a_node_at_its_median_and_near_its_worst() -> None:
    times = Timetable()
    for seconds in range(1, 101):
        times.put(Step(("plan",), float(seconds), at=START, ref=Ref("t", "", str(seconds))))
    times.put(Step(("plan", "other", "__start__"), 1000.0))
    times.put(Step(("ask",), 60.0, waited=True, at=START))
    times.put(Step(("__start__",), 60.0, at=START))
    plan, other, ask = times.rows()
    assert (plan.node, plan.at(0.5), plan.at(0.95), plan.shared) == ("plan", 51.0, 96.0, 1)
    assert (other.node, other.total) == ("other", 1000.0)
    assert (ask.at(0.5), ask.waits, ask.waited, ask.total) == (None, 1, 60.0, 0)
    assert [ref.id for _, ref in plan.slowest] == ["100", "99", "98", "97", "96"]
    assert len(times.course) == 200, "what is not a person's, and when it was"


def test_between_two_people_no_step_took_any_time() -> None:
    line = {each.ref: each for each in [header(0, source="input"), header(1), header(2, source="update"), header(3)]}
    assert [step_seconds(each, line) for each in line.values()] == [None, 1.0, None, None]
