"""Lineage across threads and namespaces, and graphs that are not as they should be."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.model import Header, Ref
from tt_debug.graph import CheckpointGraph, Orphan, enclosing


def at(name: str, thread: str = "t", ns: str = "") -> Ref:
    return Ref(thread, ns, name)


def header(name: str, parent: Ref | None = None, thread: str = "t", ns: str = "", **meta: object) -> Header:
    return Header(at(name, thread, ns), parent, None, "loop", None, meta=meta)


def chain(*names: str, thread: str = "t", first: Ref | None = None) -> list[Header]:
    found = [header(names[0], first, thread)]
    for name in names[1:]:
        found.append(header(name, found[-1].ref, thread))
    return found


def names(refs: tuple[Ref, ...]) -> str:
    return " ".join(ref.id for ref in refs)


def test_lineage_goes_through_forks_into_the_thread_they_came_from() -> None:
    graph = CheckpointGraph([*chain("a", "b", "c"), *chain("x", "y", thread="fork", first=at("b"))])
    assert names(graph.lineage(at("y", "fork"))) == "a b x y"
    assert graph.common_ancestor(at("y", "fork"), at("c")) == at("b")
    assert graph.common_ancestor(at("b"), at("c")) == at("b")
    assert graph.common_ancestor(at("c"), at("c")) == at("c")
    assert graph.heads() == (at("c"), at("y", "fork"))
    assert graph.roots() == (at("a"),)
    assert graph.children(at("b")) == (at("c"), at("x", "fork"))
    assert graph.orphans() == ()
    assert graph.cycles() == ()


def test_a_tip_stays_a_tip_when_another_thread_forks_there() -> None:
    graph = CheckpointGraph([*chain("a", "b"), *chain("x", thread="fork", first=at("b"))])
    assert graph.heads() == (at("b"), at("x", "fork"))


def test_a_subgraph_hangs_under_the_checkpoint_that_ran_it() -> None:
    inner, deeper, again = "sub:1", "sub:1|leaf:2", "sub:1|1"
    graph = CheckpointGraph(
        [
            *chain("a", "b"),
            header("s1", ns=inner, parents={"": "a"}),
            header("s2", at("s1", ns=inner), ns=inner, parents={"": "a"}),
            header("d1", ns=deeper, parents={"": "a", inner: "s1"}),
            header("r1", ns=again, parents={"": "b"}),
            header("alone", ns="p:9"),
        ]
    )
    assert names(graph.lineage(at("s2", ns=inner))) == "a s1 s2"
    assert names(graph.lineage(at("d1", ns=deeper))) == "a s1 d1"
    assert names(graph.lineage(at("r1", ns=again))) == "a b r1"
    assert graph.parent(at("alone", ns="p:9")) is None
    assert graph.common_ancestor(at("d1", ns=deeper), at("b")) == at("a")
    assert at("b") in graph.heads()
    assert at("s2", ns=inner) in graph.heads()


def test_orphans_are_told_with_what_hangs_on_them() -> None:
    graph = CheckpointGraph([*chain("a"), *chain("c", "d", "e", first=at("gone"))])
    assert graph.orphans() == (Orphan(at("c"), at("gone"), 3),)
    assert names(graph.lineage(at("e"))) == "c d e"
    assert graph.common_ancestor(at("e"), at("a")) is None
    assert graph.roots() == (at("a"),)


def test_cycles_are_told_and_never_followed_for_ever() -> None:
    ring = [header("a", at("c")), header("b", at("a")), header("c", at("b")), header("tail", at("b"))]
    graph = CheckpointGraph([*ring, header("self", at("self")), *chain("x", "y")])
    assert [names(cycle) for cycle in graph.cycles()] == ["a b c", "self"]
    assert names(graph.lineage(at("tail"))) == "c a b tail"
    assert names(graph.lineage(at("self"))) == "self"
    assert graph.common_ancestor(at("tail"), at("c")) == at("c")


def test_an_address_counts_once() -> None:
    graph = CheckpointGraph([*chain("a", "b"), header("b")])
    assert len(graph) == 2
    assert graph.parent(at("b")) == at("a")


def test_unknown_addresses_are_refused() -> None:
    graph = CheckpointGraph(chain("a"))
    assert at("a") in graph
    with pytest.raises(KeyError):
        graph.lineage(at("b"))
    with pytest.raises(KeyError):
        graph.common_ancestor(at("a"), at("b"))


def test_a_chain_of_20_000_does_not_recurse() -> None:
    graph = CheckpointGraph(chain(*map(str, range(20_000))))
    assert len(graph.lineage(at("19999"))) == 20_000
    assert len(graph.descendants(at("0"))) == 19_999
    assert graph.cycles() == ()


@given(st.lists(st.integers(0, 30), min_size=2, max_size=25), st.data())
def test_common_ancestors_are_those_networkx_finds(choices: list[int], data: st.DataObject) -> None:
    headers = [header("0")]
    for number, choice in enumerate(choices, start=1):
        headers.append(header(str(number), headers[choice % number].ref))
    graph = CheckpointGraph(headers)
    a, b = (headers[data.draw(st.integers(0, len(choices)))].ref for _ in "ab")
    assert graph.common_ancestor(a, b) == nx.lowest_common_ancestor(graph.digraph, a, b)
    assert set(graph.lineage(a)) == nx.ancestors(graph.digraph, a) | {a}


@pytest.mark.parametrize(
    ("ns", "noted", "wanted"),
    [
        pytest.param("", {"": "a"}, None, id="the root's own"),
        pytest.param("sub:1", {}, None, id="nothing noted"),
        pytest.param("sub:1", {"": "a"}, at("a"), id="called by the root"),
        pytest.param("sub:1|leaf:2", {"sub:1": "s", "": "a"}, at("s", ns="sub:1"), id="the innermost, in any order"),
        pytest.param("sub:1|1", {"": "a"}, at("a"), id="the second that a task calls"),
        pytest.param("outer|mid", {"": "a", "outer:7": "o"}, at("o", ns="outer:7"), id="one that keeps its state"),
        pytest.param("sub:1", {"": "a", "sub:1": "s"}, at("a"), id="never itself"),
        pytest.param("sub:1", {"": "a", "other:2": "o"}, at("a"), id="never another graph's"),
        pytest.param("sub:1", {"": 7}, None, id="no id"),
        pytest.param("sub:1", "a", None, id="no mapping"),
    ],
)
def test_what_called_a_subgraph(ns: str, noted: object, wanted: Ref | None) -> None:
    assert enclosing(header("x", ns=ns, parents=noted)) == wanted
