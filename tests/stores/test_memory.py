"""The reference adapter passes the contract that it illustrates."""

from __future__ import annotations

import pytest

from stores.conformance import (
    SAMPLE,
    TRIP,
    EffectsConformance,
    RunStoreConformance,
    StoreConformance,
    WriterConformance,
    sample_ref,
)
from stores.memory import MemoryStore
from stores.model import NewCheckpoint, Ref


@pytest.fixture
def sample() -> MemoryStore:
    store = MemoryStore()
    for new in SAMPLE:
        store.append(new)
    return store


@pytest.fixture
def frozen(sample: MemoryStore) -> MemoryStore:
    return sample.frozen()


class TestMemory(StoreConformance, WriterConformance, RunStoreConformance, EffectsConformance):
    pass


def test_namespaces_have_heads_of_their_own(sample: MemoryStore) -> None:
    inner = Ref(TRIP, "plan:1", sample_ref(9, 0).id)
    sample.append(NewCheckpoint(inner, SAMPLE[2].ref, {"inner": True}, "step"))
    assert sample.head(TRIP, "plan:1") == inner
    assert sample.head(TRIP) == SAMPLE[5].ref
    assert sample.threads().items[0].head == SAMPLE[5].ref
    assert sample.headers(TRIP).items[0].ref == inner
