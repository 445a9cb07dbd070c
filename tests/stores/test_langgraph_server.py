"""A LangGraph server as a store: what it tells, as a real `langgraph dev` answered them."""

from __future__ import annotations

import pytest

from stores.errors import Invalid, NotFound, Unreachable
from stores.langgraph_server.store import ServerStore
from stores.model import Capability, Header, Ref, Status
from tests.langgraph_server import Server
from tests.stores.langgraph_server_views import LODZ, UNKNOWN, at_step, whole_of
from tests.stores.langgraph_server_views import server as server
from tests.stores.langgraph_server_views import store as store


def test_a_thread_is_told_with_its_head(server: Server, store: ServerStore) -> None:
    waits = server.thread("trip", LODZ, {"who": "ann"})
    failed = server.thread("fan", {"n": 0, "seen": []})
    empty = server.thread()
    mine = [info for info in store.threads().items if info.thread in (waits, failed, empty)]
    assert [info.thread for info in mine] == [empty, failed, waits]
    told = {info.thread: (info.status, info.step, info.last_node, info.checkpoints) for info in mine}
    assert told[waits] == (Status.WAITING, 2, "research", None)
    assert told[failed] == (Status.FAILED, 1, "first", None)
    assert told[empty] == (Status.PENDING, None, None, 0)
    assert mine[2].head == store.head(waits)
    assert mine[2].meta["who"] == "ann"


def test_pages_of_threads_join_to_the_whole(server: Server, store: ServerStore) -> None:
    made = [server.thread() for _ in range(3)]
    found: list[str] = []
    after = None
    while not set(made) <= set(found):
        page = store.threads(after, limit=2)
        assert 0 < len(page.items) <= 2
        found += [info.thread for info in page.items]
        after = page.next
    assert [name for name in found if name in made] == made[::-1]
    assert store.threads(limit=0).items == ()
    with pytest.raises(ValueError):
        store.threads(limit=-1)
    with pytest.raises(Invalid):
        store.threads("elsewhere")


def test_headers_tell_every_namespace_a_child_before_its_parent(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    headers = whole_of(store, thread)
    inner = headers[1].ref.ns
    assert inner.startswith("research:")
    assert [(one.ref.ns, one.step, one.source, one.nodes, one.next, one.status) for one in headers] == [
        ("", 2, "loop", ("research",), ("approve",), Status.WAITING),
        (inner, 2, "loop", ("judge",), (), Status.DONE),
        (inner, 1, "loop", ("look",), ("judge",), Status.DONE),
        (inner, 0, "loop", ("__start__",), ("look",), Status.DONE),
        (inner, -1, "input", ("__input__",), ("__start__",), Status.DONE),
        ("", 1, "loop", ("plan",), ("research",), Status.DONE),
        ("", 0, "loop", ("__start__",), ("plan",), Status.DONE),
        ("", -1, "input", ("__input__",), ("__start__",), Status.DONE),
    ]
    places = {one.ref: place for place, one in enumerate(headers)}
    assert all(one.parent is None or places[one.parent] > places[one.ref] for one in headers)
    assert {one.owner for one in headers if one.ref.ns} == {at_step(store, thread, 1).ref}
    assert all(one.created is not None and one.problem is None for one in headers)


def test_pages_of_headers_join_to_the_whole(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    whole = whole_of(store, thread)
    for limit in (1, 2, 3, 8, 9):
        found: list[Header] = []
        after = None
        while len(found) < len(whole):
            page = store.headers(thread, after, limit)
            assert 0 < len(page.items) <= limit
            found += page.items
            after = page.next
        assert found == whole
        assert after is None or not store.headers(thread, after, limit).items
    for odd in ("one two", f"- {whole[0].ref.id} nowhere"):
        with pytest.raises(Invalid):
            store.headers(thread, odd)


def test_a_checkpoint_is_loaded_with_its_tasks(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    headers = whole_of(store, thread)
    assert [store.load(one.ref).header for one in headers] == headers
    head, before = store.load(headers[0].ref), store.load(headers[5].ref)
    assert head.state["city"] == "Łódź"
    assert head.state["plan"] == {"city": "Łódź", "days": 3}
    (asks,) = head.tasks
    assert (asks.node, asks.status, asks.path) == ("approve", Status.WAITING, "__pregel_pull, approve")
    (question,) = asks.interrupts
    assert question.value == {"question": "book it?", "plan": {"city": "Łódź", "days": 3}}
    (done,) = before.tasks
    assert (done.node, done.status, done.writes[0].channel) == ("research", Status.DONE, "city")
    assert store.load(headers[2].ref).state["notes"] == ["planned", "looked at Łódź"]


def test_a_first_question_loads_a_checkpoint_as_after_a_listing(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    start = store.head(thread)
    line = [store.load(start)]
    while line[-1].header.parent is not None:
        line.append(store.load(line[-1].header.parent))
    assert [one.header for one in line] == whole_of(store, thread)
    assert line[0].state["seen"] == ["first", "a", "b", "c"]
    assert line[1].header.nodes == ("a", "b")


def test_a_failed_task_tells_its_error(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 0, "seen": []})
    head = store.load(store.head(thread))
    errors = {task.node: (task.status, task.error) for task in head.tasks}
    assert head.header.status == Status.FAILED
    assert errors["b"] == (Status.FAILED, "ValueError('nothing to count')")


def test_unknown_names_are_not_found(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    empty = server.thread()
    for question in (
        lambda: store.headers(UNKNOWN),
        lambda: store.head(UNKNOWN),
        lambda: store.load(Ref(UNKNOWN, "", UNKNOWN)),
        lambda: store.load(Ref(thread, "", UNKNOWN)),
        lambda: store.load(Ref(thread, "nowhere:1", store.head(thread).id)),
        lambda: store.head(thread, "nowhere"),
        lambda: store.headers("trip-1"),
        lambda: store.headers("../assistants"),
        lambda: store.headers(empty),
        lambda: store.head(empty),
        lambda: store.assistant(empty),
    ):
        with pytest.raises(NotFound):
            question()


def test_looking_changes_nothing_and_asks_for_nothing_that_would(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    before = server.ask("GET", f"/threads/{thread}"), server.ask("GET", f"/threads/{thread}/state")
    server.tape.asked.clear()
    store.threads()
    for header in whole_of(store, thread):
        store.load(header.ref)
    store.assistant(thread)
    asked = {(method, path.rpartition("/")[2]) for method, path in server.tape.asked if method != "GET"}
    assert asked <= {("POST", "search"), ("POST", "count"), ("POST", "history"), ("POST", "checkpoint")}
    assert (server.ask("GET", f"/threads/{thread}"), server.ask("GET", f"/threads/{thread}/state")) == before


def test_a_step_that_the_server_cannot_tell_is_marked(server: Server, store: ServerStore) -> None:
    """The in-memory server forgets that branches had joined, and gives no task for the step that followed."""
    thread = server.thread("joined", {"n": 1, "seen": []})
    told = {one.step: (one.nodes, one.next, one.problem is not None) for one in whole_of(store, thread)}
    assert told[1] == (("a", "b"), (), True)
    assert told[2] == ((), (), False)
    assert store.load(store.head(thread)).state["seen"] == ["a", "b", "c"]


def test_it_says_what_it_is(server: Server, store: ServerStore) -> None:
    assert (store.info.kind, store.info.url, store.info.path) == ("langgraph-server", server.url, None)
    assert store.info.capabilities == {
        Capability.FORK,
        Capability.NAMESPACES,
        Capability.TASKS,
        Capability.NAMES_FORKS,
    }
    assert "JSON" in store.info.notices[0]


def test_after_closing_nothing_is_answered(store: ServerStore) -> None:
    store.close()
    store.close()
    for question in (store.threads, lambda: store.headers(UNKNOWN), lambda: store.head(UNKNOWN)):
        with pytest.raises(Unreachable):
            question()
