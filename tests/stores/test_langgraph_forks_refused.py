"""What cannot be forked or edited leaves the file as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.errors import Conflict, Invalid, NotFound, ReadOnly, Unsupported
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Change, NewCheckpoint, Ref
from tests.stores import langgraph_graphs as graphs
from tests.stores.langgraph_files import rows_of
from tests.stores.langgraph_graphs import record
from tests.stores.langgraph_views import Open, header


def test_an_edit_of_what_is_not_the_head_any_more_is_refused(agent: Path, opened_agent: Open) -> None:
    """Two who edit the same state at once: the second learns of the first, and of what the application stored."""
    record(agent, graphs.chain([]), "t", {"log": [], "n": 0})
    store = opened_agent()
    before = rows_of(agent, "t")
    with pytest.raises(Conflict, match=store.head("t").id):
        store.fork(header(store, "t", step=1).ref, "t", [Change("change", ("n",), 1, 5)])
    assert rows_of(agent, "t") == before
    head = store.head("t")
    first = store.fork(head, "t", [Change("change", ("n",), 6, 7)])
    with pytest.raises(Conflict, match=first.ref.id):
        opened_agent().fork(head, "t", [Change("change", ("n",), 6, 8)])
    assert store.load(store.head("t")).state["n"] == 7


def test_what_cannot_be_written_writes_nothing(agent: Path, opened_agent: Open) -> None:
    record(agent, graphs.chain([]), "t", {"log": [], "n": 0})
    record(agent, graphs.chain([]), "other", {"log": [], "n": 0})
    store = opened_agent()
    ref = header(store, "t", step=3).ref
    before = rows_of(agent, "t"), rows_of(agent, "other")
    with pytest.raises(Conflict, match="other"):
        store.fork(ref, "other")
    with pytest.raises(NotFound):
        store.fork(ref._replace(id="1f1ec304-5c98-68fb-8003-3e575cea2e1d"), "fork")
    with pytest.raises(NotFound):
        store.fork(ref._replace(thread="nobody"), "fork")
    for change, reason in (
        (Change("change", ("log", 9), None, "x"), "log"),
        (Change("change", ("n",), 3, 2**64), "cannot store n as msgpack"),
        (Change("change", ("log", 0), "a", "\ud800"), r"cannot store log\[0\] as msgpack"),
        (Change("add", ("branch:to:x",), new=None), "channel"),
        (Change("change", (), {}, []), "state"),
    ):
        with pytest.raises(Invalid, match=reason):
            store.fork(ref, "fork", [change])
        with pytest.raises(Invalid, match=reason):
            store.fork(store.head("t"), "t", [change])
    for name in ("", "\ud800"):
        with pytest.raises(Invalid):
            store.fork(ref, name)
    with pytest.raises(Unsupported):
        store.append(NewCheckpoint(Ref("t", "", "x"), None, {}, "fork"))
    assert (rows_of(agent, "t"), rows_of(agent, "other"), rows_of(agent, "fork")) == (*before, [])
    assert len(store.threads().items) == 2


def test_a_store_opened_for_looking_refuses_to_write(agent: Path) -> None:
    record(agent, graphs.chain([]), "t", {"log": [], "n": 0})
    store = LangGraphStore(agent)
    with pytest.raises(ReadOnly):
        store.fork(store.head("t"), "fork")
    store.close()


def test_nothing_of_ours_is_left_beside_the_file(agent: Path, opened_agent: Open) -> None:
    record(agent, graphs.chain([]), "t", {"log": [], "n": 0})
    store = opened_agent()
    store.fork(header(store, "t", step=3).ref, "fork", [Change("change", ("n",), 3, 4)])
    store.load(store.head("fork"))
    assert [one.name for one in agent.parent.iterdir()] == [agent.name]
