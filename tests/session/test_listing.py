"""Listing threads: in pages that grow, each thread once."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from stores.conformance import TRIP
from stores.errors import NotFound
from stores.model import Page, Ref, StoreInfo, ThreadInfo
from stores.protocol import Store
from tests.builders import native_file
from tt_debug.session.journal import Journal
from tt_debug.session.listing import LARGEST_PAGE, PAGE, every_header, every_thread
from tt_debug.session.session import Session


class Counted:
    """A store of nothing but names, which notes how many were asked for."""

    info = StoreInfo("names", "names", "names", frozenset(), read_only=True)

    def __init__(self, count: int) -> None:
        self.names = [f"t{number}" for number in range(count)]
        self.asked: list[int] = []

    def threads(self, after: str | None, limit: int) -> Page[ThreadInfo]:
        self.asked.append(limit)
        start = int(after or 0)
        names = self.names[start : start + limit]
        more = str(start + limit) if start + limit < len(self.names) else None
        return Page(tuple(ThreadInfo(name, 1, Ref(name, "", "1"), 0, "done", None) for name in names), more)


def test_pages_grow_so_that_a_long_listing_takes_few(tmp_path: Path) -> None:
    store = Counted(3 * LARGEST_PAGE)
    found = [info.thread for info in every_thread(cast("Store", store), Journal("store", tmp_path))]
    assert found == store.names
    assert store.asked[:3] == [PAGE, 2 * PAGE, 4 * PAGE]
    assert max(store.asked) == LARGEST_PAGE
    assert len(store.asked) < 10


class Missing:
    """A store without the thread, which notes whether the collector was on."""

    def __init__(self) -> None:
        self.collecting: list[bool] = []

    def headers(self, thread: str, after: str | None, limit: int) -> Page[ThreadInfo]:
        self.collecting.append(gc.isenabled())
        raise NotFound(f"no thread {thread!r}")


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_as_it_was_after_a_page_that_failed(on: bool) -> None:
    store = Missing()
    try:
        if not on:
            gc.disable()
        with pytest.raises(NotFound):
            every_header(cast("Store", store), "t")
        assert store.collecting == [False]
        assert gc.isenabled() == on
    finally:
        gc.enable()


def test_a_thread_whose_head_is_not_there_opens_at_its_newest_checkpoint(tmp_path: Path) -> None:
    path = native_file(tmp_path / "n.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE threads SET head = 'gone' WHERE thread_id = ?", (TRIP,))
    session = Session.open(str(path), read_only=True)
    view = session.open_thread(TRIP)
    assert view.head in view.headers
    assert view.line()[-1] == view.head
    assert session.resolve(f"{TRIP}@head") == view.head
    session.close()
