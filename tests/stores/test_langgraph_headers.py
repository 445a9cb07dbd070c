"""Headers read many at a time are those that are read one by one, whatever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stores.langgraph.lore import Lore
from stores.langgraph.next import Triggers, learn
from stores.langgraph.outline import Outline
from stores.langgraph.rows import CheckpointRow
from stores.langgraph.skeleton import Key
from stores.langgraph.sqlite import LangGraphStore
from stores.langgraph.sqlite_tables import SqliteTables
from stores.langgraph.steps import Cards, Memory, Steps
from stores.langgraph.thread import ThreadReading
from stores.model import Header, Ref
from tests.stores.handmade import Row, Wrote, handmade, packed, uuid, version

SOME_NODES = st.lists(st.sampled_from(("a", "b", "c")), max_size=2, unique=True)


class OneByOne(SqliteTables):
    """The plain way: nothing is read ahead."""

    def read_many(
        self, refs: Iterable[Ref], known: Callable[[Ref], int | None]
    ) -> Iterator[tuple[Ref, int, CheckpointRow]]:
        yield from ()


class Forgetful(Cards):
    """Remembers nothing."""

    def put(self, ref: Ref, stamp: int, card: Any) -> None:
        pass


class Plain(Steps):
    """Learns for every checkpoint anew."""

    def _triggers(self, key: Key, outline: Outline) -> Triggers:
        assert self.skeleton is not None
        found = learn((self.card(self.skeleton.newest.get("", key)).outline, outline))
        for node, channels in Lore().edges(self.tables, "", outline, found).items():
            found.setdefault(node, set()).update(channels)
        return found


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Row], list[Wrote]]:
    """A thread whose parents go anywhere, of several formats, with damaged rows and tasks of every kind."""
    rows, writes = [], []
    count = draw(st.integers(1, 12))
    for number in range(count):
        parent = draw(st.none() | st.integers(0, count).map(uuid))
        whole = draw(st.sampled_from([None] * 6 + [b"", b"\xc1", packed([1])]))
        meta = draw(st.sampled_from([{}, {"source": "update"}, {"source": "fork"}, {"writes": {"b": 1}}]))
        seen = {node: {f"branch:to:{node}": version(number)} for node in draw(SOME_NODES)}
        content = {"v": draw(st.sampled_from([1, 2, 3, 4])), "versions_seen": seen}
        after = draw(SOME_NODES)
        rows.append(Row(uuid(number), parent, {"n": 1}, after, step=number, blob=whole, meta=meta, content=content))
        for index, node in enumerate(draw(SOME_NODES)):
            path = draw(st.sampled_from([f"~__pregel_pull, {node}", "", "~__pregel_push, 0000000000, 0000000000"]))
            channel = draw(st.sampled_from(["n", "branch:to:b", "__error__", "__interrupt__", "__resume__"]))
            writes.append(Wrote(uuid(number), f"task-{number}-{index}", channel, 1, path=path))
    return rows, writes


def plain_headers(store: LangGraphStore) -> list[Header]:
    """Every header, each from rows that are read for it alone."""

    def question(tables: Any) -> list[Header]:
        known = store._thread(tables, "t").skeleton
        assert known is not None
        alone = OneByOne.of(tables.db)
        found = []
        for key in known.order:
            steps = Plain(alone, "t", Memory(cards=Forgetful()), known)
            found.append(ThreadReading(steps).header(key))
        return found

    return store._ask(question)


@given(histories())
def test_headers_are_the_same_many_at_a_time_and_one_by_one(history: tuple[list[Row], list[Wrote]]) -> None:
    rows, writes = history
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.sqlite"
        handmade(path, rows, writes)
        store = LangGraphStore(path)
        try:
            plain = plain_headers(store)
            for limit in (1, 3, 100):
                listed: list[Header] = []
                after: str | None = None
                while page := store.headers("t", after=after, limit=limit):
                    listed += page.items
                    after = page.next
                    if after is None:
                        break
                assert listed == plain
        finally:
            store.close()
