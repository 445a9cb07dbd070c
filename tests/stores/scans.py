"""What holds of a store that reads many states at once: nothing else than loading each gives."""

from __future__ import annotations

from typing import Final

from stores.langgraph.base import LangGraphBase
from stores.model import Ref
from stores.scanning import Scanned, Scans, Unscanned


def refs_of(store: LangGraphBase) -> list[Ref]:
    """Every checkpoint."""
    return [ref for info in store.threads(limit=1000).items for ref in store.addresses(info.thread).refs]


def states_agree(store: LangGraphBase) -> None:
    """Each state is what loading it gives."""
    assert isinstance(store, Scans)
    refs = refs_of(store)
    scanned = store.scan(refs)
    assert len(scanned) == len(refs)
    for ref, answer in zip(refs, scanned, strict=True):
        assert answer is not Unscanned.PASSED
        if isinstance(answer, Scanned):
            assert repr(answer.state) == repr(store.load(ref).state), "NaN is no other NaN"


def few_keys_agree(store: LangGraphBase) -> None:
    """A few keys are those of the state."""
    assert isinstance(store, Scans)
    refs = refs_of(store)[::5]
    for ref, answer in zip(refs, store.scan(refs), strict=True):
        for key in answer.state if isinstance(answer, Scanned) else ():
            (few,) = store.scan([ref], only=(key, "no such key"))
            assert isinstance(few, Scanned)
            assert isinstance(answer, Scanned)
            assert repr(few.state[key]) == repr(answer.state[key])
            assert "no such key" not in few.state


def passed_over_rightly(store: LangGraphBase) -> None:
    """A row that is passed over holds nothing of the kind; of another its writers are known."""
    assert isinstance(store, Scans)
    refs = refs_of(store)
    for ref, answer in zip(refs, store.scan(refs, lambda raw: b"a" in raw.lower()), strict=True):
        if isinstance(answer, Scanned):
            header = store.load(ref).header
            assert answer.meta == header.meta
            assert set(header.nodes) <= set(answer.writers)
        elif answer is Unscanned.PASSED:
            assert "a" not in repr(store.load(ref)).lower()


CHECKS: Final = (states_agree, few_keys_agree, passed_over_rightly)
