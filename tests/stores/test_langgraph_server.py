"""A LangGraph server as a store: what it tells, forks and edits, as a real `langgraph dev` answered them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError

import pytest

from stores import open_store
from stores.errors import Conflict, Invalid, NotFound, ReadOnly, StoreError, Unreachable, Unsupported
from stores.langgraph_server.store import ServerStore
from stores.model import Capability, Change, Header, NewCheckpoint, Ref, Status
from tests.langgraph_server import Server

LODZ = {"city": "Łódź", "notes": []}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def server(langgraph_server: Server) -> Server:
    return langgraph_server


@pytest.fixture
def store(server: Server) -> Iterator[ServerStore]:
    opened = open_store(server.url, read_only=False)
    assert isinstance(opened, ServerStore)
    yield opened
    opened.close()


def _whole(store: ServerStore, thread: str) -> list[Header]:
    return list(store.headers(thread).items)


def _at(store: ServerStore, thread: str, step: int) -> Header:
    return next(one for one in _whole(store, thread) if one.step == step and not one.ref.ns)


# --- what it tells


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
    headers = _whole(store, thread)
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
    assert {one.owner for one in headers if one.ref.ns} == {_at(store, thread, 1).ref}
    assert all(one.created is not None and one.problem is None for one in headers)


def test_pages_of_headers_join_to_the_whole(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    whole = _whole(store, thread)
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
    headers = _whole(store, thread)
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
    assert [one.header for one in line] == _whole(store, thread)
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
    for header in _whole(store, thread):
        store.load(header.ref)
    store.assistant(thread)
    asked = {(method, path.rpartition("/")[2]) for method, path in server.tape.asked if method != "GET"}
    assert asked <= {("POST", "search"), ("POST", "count"), ("POST", "history"), ("POST", "checkpoint")}
    assert (server.ask("GET", f"/threads/{thread}"), server.ask("GET", f"/threads/{thread}/state")) == before


def test_a_step_that_the_server_cannot_tell_is_marked(server: Server, store: ServerStore) -> None:
    """The in-memory server forgets that branches had joined, and gives no task for the step that followed."""
    thread = server.thread("joined", {"n": 1, "seen": []})
    told = {one.step: (one.nodes, one.next, one.problem is not None) for one in _whole(store, thread)}
    assert told[1] == (("a", "b"), (), True)
    assert told[2] == ((), (), False)
    assert store.load(store.head(thread)).state["seen"] == ["a", "b", "c"]


# --- forks and edits


def _threads(server: Server) -> int:
    count: int = server.ask("POST", "/threads/count", {})
    return count


def test_a_fork_of_a_graph_without_subgraphs_is_a_copy(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    before = _whole(store, thread)
    base = _at(store, thread, 1)
    made = store.fork(base.ref, "")
    assert (made.ref.thread != thread, made.source, made.next) == (True, "fork", ("a", "b"))
    assert store.head(made.ref.thread) == made.ref
    assert store.load(made.ref).state == store.load(base.ref).state
    assert {one.ref.id for one in before} < {one.ref.id for one in _whole(store, made.ref.thread)}
    (told,) = [info for info in store.threads().items if info.thread == made.ref.thread]
    assert told.forked_from == base.ref
    assert _whole(store, thread) == before


def test_a_fork_at_the_head_keeps_what_finished_and_what_is_asked(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 0, "seen": []})
    base = store.load(store.head(thread))
    made = store.load(store.fork(base.header.ref, "", keep_results=True).ref)
    assert made.header.ref == base.header.ref._replace(thread=made.header.ref.thread)
    assert made.tasks == base.tasks
    change = [Change("change", ("n",), 0, 1)]
    for attempt in (
        lambda: store.fork(_at(store, thread, 0).ref, "", keep_results=True),
        lambda: store.fork(base.header.ref, "", change, keep_results=True),
    ):
        with pytest.raises(Unsupported, match="unchanged head"):
            attempt()


def test_a_fork_of_a_graph_with_subgraphs_can_be_gone_on_with(server: Server, store: ServerStore) -> None:
    """The in-memory server's copies cannot call a subgraph; the fork is a thread of its own then, and says so."""
    thread = server.thread("trip", LODZ)
    base = _at(store, thread, 1)
    changes = [Change("change", ("city",), "Łódź", "Kraków"), Change("change", ("notes", 0), "planned", "kept")]
    made = store.fork(base.ref, "", changes)
    assert (made.parent, made.next) == (base.ref, ("research",))
    assert made.problem is not None
    assert "made from the values" in made.problem
    assert store.load(made.ref).state == {**store.load(base.ref).state, "city": "Kraków", "notes": ["kept"]}
    server.ask("POST", f"/threads/{made.ref.thread}/runs/wait", {"assistant_id": "trip", "input": None})
    head = store.load(store.head(made.ref.thread))
    assert head.header.status == Status.WAITING
    assert head.state["notes"] == ["kept", "kept", "looked at Kraków", "Kraków is fine"]


def test_a_fork_at_the_input_starts_again(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    made = store.fork(_at(store, thread, -1).ref, "")
    assert (made.source, made.next) == ("input", ("__start__",))
    server.ask("POST", f"/threads/{made.ref.thread}/runs/wait", {"assistant_id": "trip", "input": None})
    assert store.load(store.head(made.ref.thread)).state == store.load(store.head(thread)).state


def test_an_edit_is_the_head_that_the_server_goes_on_from(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    before, count = _whole(store, thread), _threads(server)
    base = store.load(before[0].ref)
    changes = [
        Change("change", ("plan", "days"), 3, 5),
        Change("add", ("notes", 1), new="in between"),
        Change("add", ("fail",), new=True),
    ]
    made = store.load(store.fork(base.header.ref, thread, changes).ref)
    assert made.header.parent == base.header.ref
    assert (made.header.source, made.header.next) == ("update", ("approve",))
    assert made.state["notes"] == ["planned", "in between", *base.state["notes"][1:]]
    assert (made.state["plan"]["days"], made.state["fail"]) == (5, True)
    assert store.head(thread) == made.header.ref
    assert _whole(store, thread)[1:] == [store.load(before[0].ref).header, *before[1:]]
    assert _threads(server) == count


def test_a_reducer_that_is_no_list_is_got_past_too(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    made = store.fork(store.head(thread), thread, [Change("change", ("largest",), 2, 0)])
    assert store.load(made.ref).state["largest"] == 0


Refused = tuple[type[StoreError], str, Callable[[], Any]]


def test_what_cannot_be_is_refused_and_leaves_nothing_behind(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    head = store.head(thread)
    before, count = _whole(store, thread), _threads(server)
    change = [Change("change", ("n",), 1, 2)]
    refused: list[Refused] = [
        (Invalid, "names threads itself", lambda: store.fork(head, "mine")),
        (Invalid, "absent", lambda: store.fork(head, "", [Change("remove", ("absent",), 1)])),
        (Invalid, "n: .* take a channel out", lambda: store.fork(head, "", [Change("remove", ("n",), 1)])),
        (Invalid, r"seen\[0\]", lambda: store.fork(head, "", [Change("change", ("seen", 0), "first", float("nan"))])),
        (Invalid, "more: .* no such channel", lambda: store.fork(head, "", [Change("add", ("more",), new=1)])),
        (Invalid, "without a change", lambda: store.fork(head, thread)),
        (Conflict, "not the head", lambda: store.fork(_at(store, thread, 1).ref, thread, change)),
        (NotFound, "no checkpoint", lambda: store.fork(Ref(thread, "", UNKNOWN), "")),
        (Unsupported, "without its graph", lambda: store.append(NewCheckpoint(head, None, {}, "input"))),
    ]
    for error, words, attempt in refused:
        with pytest.raises(error, match=words):
            attempt()
    assert _whole(store, thread) == before
    assert _threads(server) == count


def test_where_two_nodes_wrote_one_of_them_is_named(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    made = store.load(store.fork(_at(store, thread, 2).ref, "", [Change("change", ("n",), 1, 2)]).ref)
    assert (made.state["n"], made.header.next) == (2, ("c",))


def test_an_update_that_would_go_on_elsewhere_is_refused(server: Server, store: ServerStore) -> None:
    """The graph's own routing is asked again by an update, and here it depends on the value that is changed."""
    thread = server.thread("ways", {"n": 1, "seen": []})
    count = _threads(server)
    with pytest.raises(Unsupported, match="would go on with large instead of small"):
        store.fork(_at(store, thread, 1).ref, "", [Change("change", ("n",), 1, 10)])
    assert _threads(server) == count
    assert store.fork(_at(store, thread, 1).ref, "").next == ("small",)


def test_what_finished_tasks_wrote_is_not_taken_for_the_state(server: Server, store: ServerStore) -> None:
    """The server applies it when asked for the newest state, and fails where it does not go together, as here."""
    thread = server.thread("fan", {"n": "no number", "seen": []})
    with pytest.raises(HTTPError, match="500"):
        server.ask("GET", f"/threads/{thread}/state")
    head = store.load(store.head(thread))
    assert (head.header.status, head.state["seen"]) == (Status.FAILED, ["first"])
    assert {task.node: task.status for task in head.tasks} == {"a": Status.DONE, "b": Status.FAILED}


def test_inside_a_subgraph_only_an_open_step_is_edited(server: Server, store: ServerStore) -> None:
    thread = server.thread("deep", LODZ)
    inner, *_, first = [one for one in _whole(store, thread) if one.ref.ns]
    assert (inner.next, inner.status, inner.owner) == (("ask",), Status.WAITING, _at(store, thread, 1).ref)
    change = [Change("change", ("city",), "Łódź", "Sopot")]
    count = _threads(server)
    for base in (first, inner):
        with pytest.raises(Unsupported, match=r"is over|inside one"):
            store.fork(base.ref, "")
    assert _threads(server) == count
    made = store.load(store.fork(inner.ref, thread, change).ref)
    assert (made.header.parent, made.state["city"], made.header.next) == (inner.ref, "Sopot", ("ask",))
    server.ask("POST", f"/threads/{thread}/runs/wait", {"assistant_id": "deep", "input": None})
    (asked,) = store.load(store.head(thread)).tasks
    answers = {asked.interrupts[0].id: "yes"}
    server.ask("POST", f"/threads/{thread}/runs/wait", {"assistant_id": "deep", "command": {"resume": answers}})
    end = store.load(store.head(thread))
    assert (end.header.status, end.state["city"], "inside: yes" in end.state["notes"]) == (Status.DONE, "Sopot", True)


def test_a_store_opened_for_looking_refuses_to_write(server: Server) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    looking = open_store(server.url, read_only=True)
    assert isinstance(looking, ServerStore)
    count = _threads(server)
    head = looking.head(thread)
    for attempt in (lambda: looking.fork(head, ""), lambda: looking.cancel(thread)):
        with pytest.raises(ReadOnly):
            attempt()
    assert _threads(server) == count
    looking.close()


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
