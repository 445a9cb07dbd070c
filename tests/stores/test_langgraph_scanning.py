"""Many states at once: each is what loading it gives, and no row that may hold a text is passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stores.langgraph.base import LangGraphBase
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Ref
from stores.registry import open_store
from stores.scanning import Scanned, Unscanned
from tests.stores.handmade import Row, Wrote, ext, handmade, uuid
from tests.stores.langgraph_files import CURRENT, unpack
from tests.stores.scans import CHECKS

FILES = (
    CURRENT, "lg0.1.19_builtin.sqlite", "lg0.2.20_sqlite1.0.3.sqlite", "lg0.6.11_sqlite2.0.11.sqlite",
    "js_lg1.7.3_sqlite1.0.4.sqlite", "hostile.sqlite", "special_async.sqlite", "special_encrypted.sqlite",
    "special_pickle.sqlite", "undecodable.sqlite", "parent_cycle.sqlite", "missing_metadata_column.sqlite",
)  # fmt: skip
MESSAGE = ext(5, "langchain_core.messages.ai", "AIMessage", {"content": "Find ME", "id": "m1"}, "model_validate_json")


@pytest.fixture(params=FILES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LangGraphStore]:
    store = open_store(str(unpack(request.param, tmp_path)), read_only=True)
    assert isinstance(store, LangGraphStore)
    yield store
    store.close()


@pytest.mark.parametrize("check", CHECKS)
def test_what_is_read_at_once_is_what_loading_each_gives(
    store: LangGraphStore, check: Callable[[LangGraphBase], None]
) -> None:
    check(store)


def opened(path: Path, rows: list[Row], writes: list[Wrote] | None = None) -> LangGraphStore:
    return LangGraphStore(handmade(path / "lg.sqlite", rows, writes or []))


def test_what_is_not_in_a_row_s_own_bytes_is_asked_for_alone(tmp_path: Path) -> None:
    rows = [
        Row(uuid(1), values={"text": "nothing"}),
        Row(uuid(2), uuid(1), {"text": "nothing"}, step=1),
        Row(uuid(3), uuid(2), {"text": "nothing"}, step=2, meta={"counters_since_delta_snapshot": {"log": 1}}),
        Row(uuid(4), uuid(3), step=3, type="msgpack+aes", blob=b"sealed"),
        Row(uuid(5), uuid(4), step=4, blob=b"\xc1\xff"),
        Row(uuid(6), uuid(5), {"messages": [MESSAGE]}, step=5),
    ]
    store = opened(tmp_path, rows, [Wrote(uuid(2), "t", "__error__", "find me")])
    refs = [Ref("t", "", row.id) for row in rows]
    answers = store.scan(refs, lambda raw: b"find me" in raw.lower())
    alone = Unscanned.ALONE
    assert answers[:5] == [Unscanned.PASSED, alone, alone, alone, alone]
    assert isinstance(answers[5], Scanned)
    assert store.scan([*refs[:2], Ref("t", "", uuid(99))])[2] is alone
    store.close()


def test_rows_are_found_whether_they_stand_close_together_or_far_apart(tmp_path: Path) -> None:
    rows = [Row(uuid(at), uuid(at - 1) if at else None, {"n": at}, step=at) for at in range(40)]
    store = opened(tmp_path, rows)
    refs = [Ref("t", "", row.id) for row in rows]
    for chosen in (refs, refs[::13], refs[::-1], [refs[3], refs[39]], []):
        found = [answer.state["n"] for answer in store.scan(chosen) if isinstance(answer, Scanned)]
        assert found == [refs.index(ref) for ref in chosen]
    store.close()
