"""What a store that tells addresses has to prove: they are those of its headers, and lead to the same headers."""

from __future__ import annotations

from typing import Any

import pytest

from stores.conformance_sample import HEADS, NOBODY, SAMPLE, TRIP
from stores.errors import NotFound, Unreachable
from stores.protocol import TellsAddresses

AnyStore = Any


class AddressConformance:
    """`stores.protocol.TellsAddresses`."""

    @pytest.fixture
    def told(self, frozen: AnyStore) -> AnyStore:
        """The sample in a store that tells addresses."""
        if not isinstance(frozen, TellsAddresses):
            pytest.skip("this store does not tell addresses")
        return frozen

    def test_addresses_are_those_of_the_headers_oldest_first(self, told: AnyStore) -> None:
        for thread in HEADS:
            headers = told.headers(thread).items[::-1]
            found = told.addresses(thread)
            assert list(found.refs) == [header.ref for header in headers]
            parents = [found.refs[above] if above >= 0 else found.missing.get(at) for at, above in _above(found)]
            assert parents == [header.parent for header in headers]
            assert all(above < at for at, above in _above(found))

    def test_headers_at_addresses_are_the_listed_ones(self, told: AnyStore) -> None:
        listed = {header.ref: header for header in told.headers(TRIP).items}
        asked = [SAMPLE[3].ref, SAMPLE[0].ref, SAMPLE[5].ref, NOBODY._replace(thread=TRIP)]
        found = told.headers_at(TRIP, asked)
        assert {header.ref: header for header in found} == {ref: listed[ref] for ref in asked[:3]}
        assert len(found) == 3
        assert list(told.headers_at(TRIP, [])) == []
        assert list(told.headers_at(NOBODY.thread, [NOBODY])) == []

    def test_there_are_no_addresses_of_an_unknown_thread_or_after_closing(self, told: AnyStore) -> None:
        with pytest.raises(NotFound):
            told.addresses(NOBODY.thread)
        told.close()
        with pytest.raises(Unreachable):
            told.addresses(TRIP)
        with pytest.raises(Unreachable):
            told.headers_at(TRIP, [SAMPLE[0].ref])


def _above(found: Any) -> list[tuple[int, int]]:
    return list(enumerate(found.parents))
