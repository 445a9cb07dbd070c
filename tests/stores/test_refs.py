"""Addresses that are made when they are looked at, against a list of the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stores.model import Ref
from stores.refs import Refs, at_places, of_subgraphs

IDS = st.lists(st.text("abc", max_size=3), unique=True).map(sorted)
SPACES = st.sampled_from(["", "sub:1"])
PLACES = st.none() | st.integers(-9, 9)


@given(IDS, SPACES, PLACES, PLACES, st.sampled_from([None, 1, -1, 2]))
def test_they_read_as_a_list_of_them_would(
    ids: list[str], ns: str, start: int | None, stop: int | None, step: int | None
) -> None:
    refs, plain = Refs("t", ns, ids), [Ref("t", ns, id) for id in ids]
    assert list(refs) == plain
    assert list(reversed(refs)) == plain[::-1]
    assert len(refs) == len(plain)
    assert refs[start:stop:step] == plain[start:stop:step]
    assert [refs[at] for at in range(-len(ids), len(ids))] == plain + plain
    assert of_subgraphs(refs) == of_subgraphs(plain)
    picked = at_places(refs, places := range(len(ids))[start:stop:step])
    assert picked == at_places(plain, places) == [plain[at] for at in places]
    assert all(type(ref) is Ref for ref in picked)


@given(IDS, st.builds(Ref, st.sampled_from(["t", "u"]), SPACES, st.text("abc", max_size=3)))
def test_one_is_found_where_it_stands(ids: list[str], ref: Ref) -> None:
    refs, plain = Refs("t", "", ids), [Ref("t", "", id) for id in ids]
    assert refs.place(ref) == (plain.index(ref) if ref in plain else None)
    assert (ref in refs) == (ref in plain)
    assert [refs.place(each) for each in plain] == list(range(len(ids)))
