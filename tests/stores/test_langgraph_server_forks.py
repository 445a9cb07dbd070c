"""Forks and edits in a LangGraph server, which makes them by its own rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError

import pytest

from stores import open_store
from stores.errors import Conflict, Invalid, NotFound, ReadOnly, StoreError, Unsupported
from stores.langgraph_server.store import ServerStore
from stores.model import Change, NewCheckpoint, Ref, Status
from tests.langgraph_server import Server
from tests.stores.langgraph_server_views import LODZ, UNKNOWN, at_step, whole_of
from tests.stores.langgraph_server_views import server as server
from tests.stores.langgraph_server_views import store as store


def _threads(server: Server) -> int:
    count: int = server.ask("POST", "/threads/count", {})
    return count


def test_a_fork_of_a_graph_without_subgraphs_is_a_copy(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    before = whole_of(store, thread)
    base = at_step(store, thread, 1)
    made = store.fork(base.ref, "")
    assert (made.ref.thread != thread, made.source, made.next) == (True, "fork", ("a", "b"))
    assert store.head(made.ref.thread) == made.ref
    assert store.load(made.ref).state == store.load(base.ref).state
    assert {one.ref.id for one in before} < {one.ref.id for one in whole_of(store, made.ref.thread)}
    (told,) = [info for info in store.threads().items if info.thread == made.ref.thread]
    assert told.forked_from == base.ref
    assert whole_of(store, thread) == before


def test_a_fork_at_the_head_keeps_what_finished_and_what_is_asked(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 0, "seen": []})
    base = store.load(store.head(thread))
    made = store.load(store.fork(base.header.ref, "", keep_results=True).ref)
    assert made.header.ref == base.header.ref._replace(thread=made.header.ref.thread)
    assert made.tasks == base.tasks
    change = [Change("change", ("n",), 0, 1)]
    for attempt in (
        lambda: store.fork(at_step(store, thread, 0).ref, "", keep_results=True),
        lambda: store.fork(base.header.ref, "", change, keep_results=True),
    ):
        with pytest.raises(Unsupported, match="unchanged head"):
            attempt()


def test_a_fork_of_a_graph_with_subgraphs_can_be_gone_on_with(server: Server, store: ServerStore) -> None:
    """The in-memory server's copies cannot call a subgraph; the fork is a thread of its own then, and says so."""
    thread = server.thread("trip", LODZ)
    base = at_step(store, thread, 1)
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
    made = store.fork(at_step(store, thread, -1).ref, "")
    assert (made.source, made.next) == ("input", ("__start__",))
    server.ask("POST", f"/threads/{made.ref.thread}/runs/wait", {"assistant_id": "trip", "input": None})
    assert store.load(store.head(made.ref.thread)).state == store.load(store.head(thread)).state


def test_an_edit_is_the_head_that_the_server_goes_on_from(server: Server, store: ServerStore) -> None:
    thread = server.thread("trip", LODZ)
    before, count = whole_of(store, thread), _threads(server)
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
    assert whole_of(store, thread)[1:] == [store.load(before[0].ref).header, *before[1:]]
    assert _threads(server) == count


def test_a_reducer_that_is_no_list_is_got_past_too(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    made = store.fork(store.head(thread), thread, [Change("change", ("largest",), 2, 0)])
    assert store.load(made.ref).state["largest"] == 0


Refused = tuple[type[StoreError], str, Callable[[], Any]]


def test_what_cannot_be_is_refused_and_leaves_nothing_behind(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    head = store.head(thread)
    before, count = whole_of(store, thread), _threads(server)
    change = [Change("change", ("n",), 1, 2)]
    refused: list[Refused] = [
        (Invalid, "names threads itself", lambda: store.fork(head, "mine")),
        (Invalid, "absent", lambda: store.fork(head, "", [Change("remove", ("absent",), 1)])),
        (Invalid, "n: .* take a channel out", lambda: store.fork(head, "", [Change("remove", ("n",), 1)])),
        (Invalid, r"seen\[0\]", lambda: store.fork(head, "", [Change("change", ("seen", 0), "first", float("nan"))])),
        (Invalid, "more: .* no such channel", lambda: store.fork(head, "", [Change("add", ("more",), new=1)])),
        (Invalid, "without a change", lambda: store.fork(head, thread)),
        (Conflict, "not the head", lambda: store.fork(at_step(store, thread, 1).ref, thread, change)),
        (NotFound, "no checkpoint", lambda: store.fork(Ref(thread, "", UNKNOWN), "")),
        (Unsupported, "without its graph", lambda: store.append(NewCheckpoint(head, None, {}, "input"))),
    ]
    for error, words, attempt in refused:
        with pytest.raises(error, match=words):
            attempt()
    assert whole_of(store, thread) == before
    assert _threads(server) == count


def test_where_two_nodes_wrote_one_of_them_is_named(server: Server, store: ServerStore) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    made = store.load(store.fork(at_step(store, thread, 2).ref, "", [Change("change", ("n",), 1, 2)]).ref)
    assert (made.state["n"], made.header.next) == (2, ("c",))


def test_an_update_that_would_go_on_elsewhere_is_refused(server: Server, store: ServerStore) -> None:
    """The graph's own routing is asked again by an update, and here it depends on the value that is changed."""
    thread = server.thread("ways", {"n": 1, "seen": []})
    count = _threads(server)
    with pytest.raises(Unsupported, match="would go on with large instead of small"):
        store.fork(at_step(store, thread, 1).ref, "", [Change("change", ("n",), 1, 10)])
    assert _threads(server) == count
    assert store.fork(at_step(store, thread, 1).ref, "").next == ("small",)


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
    inner, *_, first = [one for one in whole_of(store, thread) if one.ref.ns]
    assert (inner.next, inner.status, inner.owner) == (("ask",), Status.WAITING, at_step(store, thread, 1).ref)
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
