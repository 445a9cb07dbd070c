"""Listing threads: in pages that grow, each thread once."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from stores.model import Page, Ref, ThreadInfo
from stores.protocol import Store
from tt_debug.session.journal import Journal
from tt_debug.session.listing import LARGEST_PAGE, PAGE, every_thread


class Counted:
    """A store of nothing but names, which notes how many were asked for."""

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
