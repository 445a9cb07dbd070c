"""Whose step a subgraph's history ran in, at any depth, however it was called."""

from __future__ import annotations

import json
import operator
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Send

from stores.langgraph.sqlite import LangGraphStore
from stores.model import Header, Ref
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_graphs import record
from tests.stores.langgraph_views import Open


class State(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]


def chain(**nodes: Any) -> StateGraph:
    """The nodes in a row."""
    graph = StateGraph(State)
    names = list(nodes)
    for name, node in nodes.items():
        graph.add_node(name, node or (lambda state, name=name: {"log": [name]}))
    graph.add_edge(START, names[0])
    for one, other in pairwise(names):
        graph.add_edge(one, other)
    return graph


@pytest.fixture
def deep(agent: Path) -> Path:
    """a → mid (m → inner (p) → keeps (q, persistent)) → twice (calls a subgraph two times) → z; two turns."""
    inner = chain(p=None).compile()

    def twice(state: State) -> dict[str, Any]:
        for word in ("one", "two"):
            inner.invoke({"log": [word]})
        return {"log": ["twice"]}

    keeps = chain(q=None).compile(checkpointer=True)
    mid = chain(m=None, inner=inner, keeps=keeps).compile()
    graph = chain(a=None, mid=mid, twice=twice, z=None)
    record(agent, graph, "t", {"log": ["in"]})
    record(agent, graph, "t", {"log": ["again"]})
    return agent


def owners(store: LangGraphStore, thread: str) -> dict[str, list[tuple[str, int | None]]]:
    """Namespace without its ids → namespace, without ids, and step of what owns each of its runs' first checkpoints."""
    headers = {one.ref: one for one in store.headers(thread).items}
    found: dict[str, list[tuple[str, int | None]]] = {}
    for header in reversed(headers.values()):
        if header.ref.ns and header.source == "input":
            assert header.owner is not None
            found.setdefault(plain(header.ref.ns), []).append((plain(header.owner.ns), headers[header.owner].step))
    return found


def plain(ns: str) -> str:
    return "|".join(part.partition(":")[0] for part in ns.split("|"))


def test_subgraphs_belong_to_the_step_that_ran_them(deep: Path, opened_agent: Open) -> None:
    store = opened_agent()
    assert owners(store, "t") == {
        "mid": [("", 1), ("", 7)],
        "mid|inner": [("mid", 1), ("mid", 1)],
        "mid|keeps": [("mid", 2), ("mid", 2)],
        "twice": [("", 2), ("", 8)],
        "twice|1": [("", 2), ("", 8)],
    }
    for header in store.headers("t").items:
        assert (header.owner is None) == (header.ref.ns == "")


def test_the_owner_has_the_task_that_ran_it(deep: Path, opened_agent: Open) -> None:
    store = opened_agent()
    for header in (one for one in store.headers("t").items if one.ref.ns):
        assert header.owner is not None
        nodes = {task.id: task.node for task in store.load(header.owner).tasks}
        *_, last = [part for part in header.ref.ns.split("|") if not part.isdigit()]
        node, _, task = last.partition(":")
        assert node in nodes.values()
        assert task == "" or nodes[task] == node


def test_a_persistent_subgraph_has_one_history_in_several_steps(deep: Path, opened_agent: Open) -> None:
    store = opened_agent()
    kept = [one for one in reversed(store.headers("t").items) if one.ref.ns == "mid|keeps"]
    assert [one.step for one in kept] == [-1, 0, 1, 2, 3, 4]
    assert [one.parent for one in kept] == [None, *(one.ref for one in kept[:-1])]
    first, second = kept[0].owner, kept[3].owner
    assert [one.owner for one in kept] == [first] * 3 + [second] * 3
    assert first is not None
    assert second is not None
    assert plain(first.ns) == plain(second.ns) == "mid"
    assert first.ns != second.ns


def test_a_send_to_a_subgraph_makes_a_namespace_each(agent: Path, opened_agent: Open) -> None:
    graph = StateGraph(State)
    graph.add_node("split", lambda state: {"log": ["split"]})
    graph.add_node("worker", chain(p=None).compile())
    graph.add_edge(START, "split")
    graph.add_conditional_edges("split", lambda state: [Send("worker", {"log": [str(n)]}) for n in range(3)])
    record(agent, graph, "t", {"log": ["in"]})
    store = opened_agent()
    split = next(one for one in store.headers("t").items if one.step == 1 and not one.ref.ns)
    inside = {one.ref.ns: one.owner for one in store.headers("t").items if one.ref.ns}
    assert set(inside.values()) == {split.ref}
    assert split.next == ("worker",) * 3
    assert {ns.partition(":")[2] for ns in inside} == {task.id for task in store.load(split.ref).tasks}


def test_a_fork_to_a_new_thread_keeps_who_owns_what(deep: Path, opened_agent: Open) -> None:
    store = opened_agent()
    base = next(one for one in store.headers("t").items if one.step == 3 and not one.ref.ns)
    store.fork(base.ref, "fork")
    assert owners(store, "fork") == {ns: found[:1] for ns, found in owners(store, "t").items()}


@pytest.fixture
def without_metadata(agent: Path) -> Iterator[LangGraphStore]:
    """What was written says it as well where the metadata does not."""
    record(agent, graphs.nested([]), "t", {"log": ["in"], "n": 0})
    with closing(sqlite3.connect(agent)) as db, db:
        for rowid, metadata in db.execute("SELECT rowid, metadata FROM checkpoints").fetchall():
            left = {name: value for name, value in json.loads(metadata).items() if name != "parents"}
            db.execute("UPDATE checkpoints SET metadata = ? WHERE rowid = ?", (json.dumps(left).encode(), rowid))
    store = LangGraphStore(agent)
    yield store
    store.close()


def test_without_metadata_the_task_tells_the_owner(without_metadata: LangGraphStore) -> None:
    headers: list[Header] = list(without_metadata.headers("t").items)
    first = next(one for one in headers if one.ref.ns and one.source == "input")
    caller = next(one for one in headers if not one.ref.ns and "s" in one.next)
    assert first.owner == Ref("t", "", caller.ref.id)
