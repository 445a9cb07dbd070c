"""Which checkpoints of a made-up thread stay, and why."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from stores.model import Header, Ref
from tt_debug.pruning import Facts, Why, kept


def at(id: str, ns: str = "") -> Ref:
    return Ref("t", ns, id)


def line(*pairs: tuple[str, str | None], ns: str = "", owner: Ref | None = None) -> list[Header]:
    """(id, parent), parents first."""
    return [
        Header(at(id, ns), at(parent, ns) if parent else None, None, "loop", None, size=10, owner=owner)
        for id, parent in pairs
    ]


STRAIGHT = line(("1", None), ("2", "1"), ("3", "2"), ("4", "3"), ("5", "4"))
FORKED = line(("1", None), ("2", "1"), ("3", "2"), ("4", "3"), ("3b", "2"), ("4b", "3b"))


def why(headers: Sequence[Header], facts: Facts) -> dict[str, Why]:
    return {ref.id: reason for ref, reason in kept(headers, facts).items()}


def test_of_a_straight_line_the_head_stays() -> None:
    assert why(STRAIGHT, Facts(frozenset({at("5")}))) == {"5": Why.HEAD}


def test_the_newest_stay_that_are_asked_for() -> None:
    heads = frozenset({at("5")})
    assert why(STRAIGHT, Facts(heads, newest=3)) == {"5": Why.HEAD, "4": Why.NEWEST, "3": Why.NEWEST}
    assert why(STRAIGHT, Facts(heads, newest=0)) == {"5": Why.HEAD}


@pytest.mark.parametrize("whole", [Why.PROTECTED, Why.STANDING, Why.RECENT])
def test_a_thread_that_stays_stays_whole(whole: Why) -> None:
    assert set(why(STRAIGHT, Facts(frozenset({at("5")}), whole)).values()) == {whole}
    assert len(why(STRAIGHT, Facts(frozenset(), whole))) == 5


def test_a_branch_stays_joined_to_the_root_and_of_the_heads_own_line_the_rest_could_go() -> None:
    assert why(FORKED, Facts(frozenset({at("4b")}))) == {
        "4b": Why.HEAD,
        "4": Why.TIP,
        "3": Why.FORKED,
        "2": Why.FORKED,
        "1": Why.FORKED,
    }


def test_where_a_fork_in_another_thread_hangs_the_line_above_stays() -> None:
    facts = Facts(frozenset({at("5")}), forked=frozenset({at("2"), Ref("other", "", "9")}))
    assert why(STRAIGHT, facts) == {"5": Why.HEAD, "2": Why.FORKED, "1": Why.FORKED}


def test_what_has_a_name_stays() -> None:
    assert why(STRAIGHT, Facts(frozenset({at("5")}), marked=frozenset({at("3")})))["3"] == Why.MARKED


def test_what_one_that_stays_is_put_together_from_stays() -> None:
    needs = {at("5"): [at("3"), at("elsewhere")], at("3"): [at("1")]}
    found = why(STRAIGHT, Facts(frozenset({at("5")}), needed=lambda ref: needs.get(ref, ())))
    assert found == {"5": Why.HEAD, "3": Why.REBUILDS}, "only of what itself stays: its rows are enough"


def test_a_head_that_is_not_there_keeps_nothing_and_the_tip_stays() -> None:
    assert why(STRAIGHT, Facts(frozenset({at("gone")}))) == {"5": Why.TIP}


def test_subgraphs_that_keep_their_state_have_heads_and_calls_go_with_what_called_them() -> None:
    called, lasting = "sub:0a", "memory"
    headers = [
        *line(("1", None), ("2", "1")),
        *line(("c1", None), ("c2", "c1"), ns=called, owner=at("1")),
        *line(("m1", None), ("m2", "m1"), ns=lasting, owner=at("1")),
    ]
    assert why(headers, Facts(frozenset({at("2")}))) == {"2": Why.HEAD, "m2": Why.TIP}
    named = why(headers, Facts(frozenset({at("2")}), marked=frozenset({at("1")})))
    assert named["c1"] == named["c2"] == Why.SUBGRAPH


def test_parents_that_go_round_in_a_circle_end() -> None:
    headers = line(("1", "2"), ("2", "1"), ("3", "3"))
    assert why(headers, Facts(frozenset({at("1")}), forked=frozenset({at("2"), at("3")}))) == {
        "1": Why.HEAD,
        "2": Why.FORKED,
        "3": Why.FORKED,
    }
