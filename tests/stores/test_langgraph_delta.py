"""Delta channels put together as stock LangGraph does, where rows prove how, and left in parts where they do not."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, _messages_delta_reducer
from langgraph.types import Overwrite

from stores.langgraph import reducers
from stores.langgraph.sqlite import LangGraphStore
from stores.model import MISSING, Change, Partial, Tagged, Value
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_files import CURRENT, unpack
from tests.stores.langgraph_graphs import config, record, saver_of
from tests.stores.langgraph_views import Open, header, run_on


def graph_of(channel: DeltaChannel, writes: list[Any], name: str = "log") -> StateGraph:
    """One node that goes round and writes the next of ``writes``."""
    graph = StateGraph(TypedDict("State", {name: Annotated[channel.typ, channel], "n": int}))

    def write(state: dict[str, Any]) -> dict[str, Any]:
        return {name: writes[state["n"]], "n": state["n"] + 1}

    graph.add_node("write", write)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", lambda state: "write" if state["n"] < len(writes) else END)
    return graph


def plain(value: Any) -> Any:
    """A value of the runtime's as it is stored, messages by their class and fields."""
    if isinstance(value, BaseMessage):
        return (f"{type(value).__module__}.{type(value).__name__}", value.model_dump())
    return [plain(one) for one in value] if isinstance(value, list) else value


def shown(value: Value) -> Value:
    """A value of ours in the same form."""
    if isinstance(value, Tagged):
        return (value.type_name, value.value)
    return [shown(one) for one in value] if isinstance(value, list) else value


def both(path: Path, graph: StateGraph, thread: str, name: str) -> list[tuple[Value, Value]]:
    """The channel at every checkpoint that has it: ours, and what the runtime's own history gives."""
    with saver_of(path) as saver:
        history = list(graph.compile(checkpointer=saver).get_state_history(config(thread)))
    store = LangGraphStore(path)
    states = {one.ref.id: store.load(one.ref).state for one in store.headers(thread).items if not one.ref.ns}
    store.close()
    assert len(states) == len(history)
    pairs = [(states[one.config["configurable"]["checkpoint_id"]], one.values) for one in history]
    return [(shown(ours[name]), plain(theirs[name])) for ours, theirs in pairs if name in ours]


MESSAGES: list[Any] = [
    [HumanMessage("one", id="h1"), AIMessage("two", id="a1")],
    AIMessage("three", id="a2", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c1"}]),
    [ToolMessage("four", tool_call_id="c1", id="t1"), AIMessage("two, again", id="a1")],
    [RemoveMessage(id="h1"), HumanMessage("five", id="h1")],
    [RemoveMessage(id="nobody"), AIMessage("without an id")],
    Overwrite([HumanMessage("six", id="h6")]),
    [AIMessage("seven", id="a7"), AIMessage("seven, again", id="a7")],
    [HumanMessage("gone", id="g"), RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("eight", id="h8")],
    [AIMessage("nine", id="a9")],
]


@pytest.mark.parametrize("frequency", [1, 3, 100])
def test_messages_at_every_checkpoint_are_the_runtimes(agent: Path, frequency: int) -> None:
    channel = DeltaChannel(_messages_delta_reducer, snapshot_frequency=frequency)
    graph = graph_of(channel, MESSAGES, "messages")
    record(agent, graph, "t", {"messages": [HumanMessage("zero", id="h0")], "n": 0})
    pairs = both(agent, graph, "t", "messages")
    assert len(pairs) == len(MESSAGES) + 1
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]


WRITES: list[Any] = [
    ["a"],
    ["b", "c"],
    Overwrite(["x"]),
    ["y"],
    [],
    [{"k": 1}],
    {"__overwrite__": ["z"]},
    [1.5],
    ["end"],
]


@pytest.mark.parametrize("frequency", [1, 2, 3])
def test_lists_at_every_checkpoint_are_the_runtimes(agent: Path, frequency: int) -> None:
    graph = graph_of(DeltaChannel(graphs.extend, list, snapshot_frequency=frequency), WRITES)
    record(agent, graph, "t", {"log": ["in"], "n": 0})
    pairs = both(agent, graph, "t", "log")
    assert len(pairs) == len(WRITES) + 1
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]


@pytest.mark.parametrize("frequency", [2, 100])
def test_a_run_that_saves_at_its_end_alone(agent: Path, frequency: int) -> None:
    """Its steps' writes stand on made-up tasks of one checkpoint, in the order of the steps."""
    channel = DeltaChannel(_messages_delta_reducer, snapshot_frequency=frequency)
    graph = graph_of(channel, MESSAGES, "messages")
    record(agent, graph, "t", {"messages": [HumanMessage("zero", id="h0")], "n": 0}, durability="exit")
    record(agent, graph, "t", {"messages": [HumanMessage("more", id="h1")], "n": 3}, durability="exit")
    pairs = both(agent, graph, "t", "messages")
    assert len(pairs) >= 2
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]


def test_what_is_rebuilt_says_how(agent: Path, opened_agent: Open) -> None:
    graph = graph_of(DeltaChannel(graphs.extend, list, snapshot_frequency=3), WRITES)
    record(agent, graph, "t", {"log": ["in"], "n": 0})
    store = opened_agent()
    said = [store.load(one.ref).rebuilt.get("log") for one in reversed(store.headers("t").items)]
    joined = "lists joined, as snapshots prove"
    assert said == [None, joined, joined, None, None, joined, joined, None, None, joined, joined]


def test_what_was_not_written_since_its_snapshot_is_told_apart(agent: Path, opened_agent: Open) -> None:
    channel = DeltaChannel(graphs.extend, list, snapshot_frequency=2)
    graph = graph_of(channel, [["a"]])
    graph.add_node("quiet", lambda state: {"n": state["n"] + 1})
    graph.add_edge("write", "quiet")
    record(agent, graph, "t", {"log": ["in"], "n": 0})
    store = opened_agent()
    head = store.load(store.head("t"))
    assert (head.state["log"], head.rebuilt) == (["in", "a"], {"log": "unchanged since its snapshot"})


def last_two(total: list[Any], writes: list[list[Any]]) -> list[Any]:
    """Keeps the end of a list."""
    return [*total, *(item for write in writes for item in write)][-2:]


def test_a_reducer_that_no_snapshot_bears_out_is_not_guessed(agent: Path, opened_agent: Open) -> None:
    writes = [[1], [2], [3], [4], [5], [6], [7]]
    record(agent, graph_of(DeltaChannel(last_two, list, snapshot_frequency=3), writes), "t", {"log": [0], "n": 0})
    store = opened_agent()
    head = store.load(store.head("t"))
    assert (head.state["log"], head.rebuilt) == (Partial([4, 5], ([6], [7])), {})


def test_lists_that_nothing_proves_stay_in_parts(agent: Path, opened_agent: Open) -> None:
    record(agent, graphs.delta_chain([]), "t", {"log": ["in"], "n": 0})
    store = opened_agent()
    assert store.load(store.head("t")).state["log"] == Partial(MISSING, (["in"], *([name] for name in "abcdef")))


def test_snapshots_of_another_thread_of_the_graph_prove_as_well(agent: Path, opened_agent: Open) -> None:
    graph = graph_of(DeltaChannel(graphs.extend, list, snapshot_frequency=6), [[n] for n in range(4)])
    record(agent, graph, "short", {"log": ["in"], "n": 0})
    store = opened_agent()
    assert isinstance(store.load(store.head("short")).state["log"], Partial)
    record(
        agent,
        graph_of(DeltaChannel(graphs.extend, list, snapshot_frequency=6), [[n] for n in range(9)]),
        "long",
        {"log": ["in"], "n": 0},
    )
    head = store.load(store.head("short"))
    assert (head.state["log"], head.rebuilt) == (["in", 0, 1, 2, 3], {"log": "lists joined, as snapshots prove"})


def test_a_mapping_that_is_merged_stays_in_parts(agent: Path, opened_agent: Open) -> None:
    def merge(total: dict[str, Any], writes: list[dict[str, Any]]) -> dict[str, Any]:
        return {key: value for part in (total, *writes) for key, value in part.items()}

    writes = [{"a": 1}, {"b": 2}, {"a": 3}, {"c": 4}]
    record(agent, graph_of(DeltaChannel(merge, dict, snapshot_frequency=2), writes), "t", {"log": {"z": 0}, "n": 0})
    store = opened_agent()
    values = [store.load(one.ref).state.get("log") for one in reversed(store.headers("t").items)]
    assert values == [
        None,
        Partial(MISSING, ({"z": 0},)),
        {"z": 0, "a": 1},
        Partial({"z": 0, "a": 1}, ({"b": 2},)),
        {"z": 0, "a": 3, "b": 2},
        Partial({"z": 0, "a": 3, "b": 2}, ({"c": 4},)),
    ]


def test_a_delta_channel_of_a_subgraph(agent: Path) -> None:
    inner = graph_of(DeltaChannel(_messages_delta_reducer), MESSAGES[:3], "messages")
    outer = StateGraph(TypedDict("Outer", {"messages": Annotated[list, operator.add], "n": int}))
    outer.add_node("sub", inner.compile())
    outer.add_edge(START, "sub")
    record(agent, outer, "t", {"messages": [HumanMessage("zero", id="h0")], "n": 0})
    store = LangGraphStore(agent)
    inside = [one.ref for one in store.headers("t").items if one.ref.ns]
    newest = shown(store.load(inside[0]).state["messages"])
    assert [fields["content"] for _, fields in newest] == ["zero", "one", "two, again", "three", "four"]
    store.close()


def test_a_rebuilt_value_is_edited_and_forked_like_any_other(agent: Path, opened_agent: Open) -> None:
    graph = graph_of(DeltaChannel(_messages_delta_reducer), MESSAGES[:5], "messages")
    record(agent, graph, "t", {"messages": [HumanMessage("zero", id="h0")], "n": 0})
    store = opened_agent()
    base = header(store, "t", step=2)
    before = store.load(base.ref)
    assert before.rebuilt == {"messages": "messages merged by id"}
    changed = [Change("change", ("messages", 0, "content"), "zero", "ZERO"), Change("remove", ("messages", 1))]
    fork = store.load(store.fork(base.ref, "fork", changed).ref)
    assert [one.value["content"] for one in fork.state["messages"]] == ["ZERO", "two", "three"]
    assert fork.rebuilt == {}
    assert fork.state["messages"][2].raw == before.state["messages"][3].raw
    values, coming, end = run_on(agent, graph, "fork")
    assert ([one.content for one in values["messages"]], coming) == (["ZERO", "two", "three"], ("write",))
    assert [one.content for one in end["messages"]][:4] == ["ZERO", "two, again", "three", "four"]
    pairs = both(agent, graph, "fork", "messages")
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]


def test_an_edit_of_another_key_keeps_rebuilt_values(agent: Path, opened_agent: Open) -> None:
    graph = graph_of(DeltaChannel(_messages_delta_reducer), MESSAGES[:5], "messages")
    record(agent, graph, "t", {"messages": [HumanMessage("zero", id="h0")], "n": 0})
    store = opened_agent()
    base = header(store, "t", step=3)
    fork = store.fork(base.ref, "fork", [Change("change", ("n",), 3, 4)])
    assert store.load(fork.ref).state["messages"] == store.load(base.ref).state["messages"]
    run_on(agent, graph, "fork")
    pairs = both(agent, graph, "fork", "messages")
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]


def test_a_step_that_wrote_while_another_was_open_is_told_in_the_runtimes_order(agent: Path) -> None:
    """Two nodes of one step write one channel: by their paths, not by what their ids happen to be."""
    fields = {"log": Annotated[list, DeltaChannel(graphs.extend, list, snapshot_frequency=3)], "n": int}
    graph = StateGraph(TypedDict("State", fields))
    for name in "zyxa":
        graph.add_node(name, lambda state, name=name: {"log": [name]})
        graph.add_edge(START, name)
    graph.add_node("end", lambda state: {"log": ["end"]})
    graph.add_edge(["z", "y", "x", "a"], "end")
    record(agent, graph, "t", {"log": ["in"], "n": 0})
    record(agent, graph, "t", {"log": ["again"]})
    pairs = both(agent, graph, "t", "log")
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]
    assert pairs[0][0] == ["in", "a", "x", "y", "z", "end", "again", "a", "x", "y", "z", "end"]


def test_the_recorded_delta_threads(tmp_path: Path) -> None:
    store = LangGraphStore(unpack(CURRENT, tmp_path))
    head = store.load(store.head("delta-nosnapshot"))
    assert [one["text"] for one in head.state["log"]] == ["input", *(f"entry {n} ✎" for n in range(14))]
    assert head.rebuilt == {"log": "lists joined, as snapshots prove"}
    whole = [one.step for one in store.headers("delta-snap5").items if not store.load(one.ref).rebuilt]
    assert whole == [8, 14, 9, 4, -1]
    store.close()


@pytest.mark.parametrize(
    ("write", "whole"),
    [
        (Tagged("langgraph.types.Overwrite", {"value": [1]}), [1]),
        ({"__overwrite__": [1]}, [1]),
        ({"value": [1], "type": "__overwrite__"}, [1]),
        ({"__overwrite__": [1], "more": 2}, None),
        ([1], None),
    ],
)
def test_what_sets_a_channel_as_a_whole(write: Value, whole: Value) -> None:
    base, left = reducers.since_overwrite(["seed"], [["before"], write, ["after"]])
    if whole is None:
        assert (base, left) == (["seed"], [["before"], write, ["after"]])
    else:
        assert (base, left) == (whole, [["after"]])
