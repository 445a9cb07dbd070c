"""A LangGraph server that fails, refuses, is silent, or is none."""

from __future__ import annotations

import builtins
import socket
from collections.abc import Callable
from typing import Any

import pytest

from stores import mask_password, open_store
from stores.errors import Busy, Conflict, Corrupt, Invalid, NotFound, StoreError, Unreachable, Unsupported
from stores.langgraph_server import connection
from stores.langgraph_server.address import KEY_VARIABLES, Address
from stores.langgraph_server.store import ServerStore, open_url
from stores.model import Ref, Status
from stores.server_runs import Assistant, ServerRun
from tests.langgraph_server import HANGS_UP, Answer, said, serving

THREAD = "00000000-0000-4000-8000-000000000001"
OTHER = "00000000-0000-4000-8000-000000000002"
ID = "1f000000-0000-6000-8000-000000000000"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def _answering(answers: dict[str, Answer]) -> Callable[..., Answer]:
    """By the end of a path; an empty server besides."""
    empty = {"/info": said({"version": "1"}), "/threads/count": said(0), "/threads/search": said([])}

    def respond(_method: str, path: str, _body: str, _headers: dict[str, str]) -> Answer:
        every = {**empty, **answers}
        return next((every[end] for end in every if path.partition("?")[0].endswith(end)), said({}, 404))

    return respond


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (400, Invalid, "no reason"),
        (401, Unreachable, "refuses us"),
        (403, Unreachable, "refuses us"),
        (404, NotFound, THREAD),
        (409, Conflict, "no reason"),
        (422, Invalid, "no reason"),
        (429, Busy, "busy"),
        (500, Corrupt, "failed"),
        (502, Unreachable, "not reached"),
        (503, Busy, "busy"),
    ],
)
def test_every_status_is_an_error_that_says_what_to_do(status: int, error: type[StoreError], words: str) -> None:
    with serving(_answering({"/history": said({"detail": "no reason\nsecond line"}, status)})) as url:
        store = open_store(f"langgraph+{url}")
        with pytest.raises(error, match=words) as caught:
            store.headers(THREAD)
        store.close()
    assert "\n" not in str(caught.value)
    assert caught.value.hint or error in (Invalid, NotFound)


def test_nobody_there_is_said_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        Unreachable, match=f"no LangGraph server answers at langgraph.http://127.0.0.1:{port}"
    ) as caught:
        open_store(f"langgraph+http://127.0.0.1:{port}")
    assert "langgraph dev" in caught.value.hint


def test_one_that_never_answers_is_waited_for_no_longer_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ANSWER", 0.05)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Busy, match="longer than allowed"):
            open_store(f"langgraph+http://127.0.0.1:{silent.getsockname()[1]}")


def test_a_kept_connection_that_died_is_made_anew_once_for_looking() -> None:
    asked: list[str] = []

    def respond(_method: str, path: str, _body: str, _headers: dict[str, str]) -> Answer:
        asked.append(path)
        if path.endswith("/history"):
            return HANGS_UP if asked.count(path) == 1 else said([])
        return said({"version": "1"} if path == "/info" else 0)

    with serving(respond) as url:
        store = open_store(f"langgraph+{url}")
        with pytest.raises(NotFound, match="no checkpoint"):
            store.headers(THREAD)
        assert asked.count(f"/threads/{THREAD}/history") == 2
        store.close()


def test_a_run_whose_server_hangs_up_is_said_to_go_on_there() -> None:
    answers = {"/runs/stream": HANGS_UP}
    with serving(_answering(answers)) as url:
        store = open_store(f"langgraph+{url}", read_only=False)
        assert isinstance(store, ServerStore)
        with pytest.raises(Unreachable, match="was lost") as caught:
            list(store.run_on(ServerRun(THREAD, Assistant("one", "one", "one"))))
        assert "goes on on the server" in caught.value.hint
        store.close()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(200, {"content-type": "text/html"}, "<html>a shop</html>"), Corrupt),
        (said([1]), Unsupported),
        (said({"name": "a shop"}), Unsupported),
        (Answer(404, {"content-type": "text/html"}, "<html>not here</html>"), NotFound),
    ],
)
def test_what_is_no_langgraph_server_is_told_apart(answer: Answer, error: type[StoreError]) -> None:
    with serving(_answering({"/info": answer})) as url, pytest.raises(error, match=r"LangGraph server|not JSON"):
        open_store(f"langgraph+{url}")


def test_a_thread_that_the_server_fails_at_hides_no_other() -> None:
    rows = [
        {"thread_id": name, "updated_at": "2026-01-01T00:00:00+00:00", "metadata": {}, "status": status}
        for name, status in ((THREAD, "error"), (OTHER, "busy"))
    ]
    state = {
        "values": {"n": 1},
        "next": [],
        "tasks": [],
        "metadata": {"source": "input", "step": -1},
        "created_at": "2026-01-01T00:00:00+00:00",
        "checkpoint": {"checkpoint_id": ID, "checkpoint_ns": ""},
        "parent_checkpoint": None,
    }
    answers = {
        "/threads/search": said(rows),
        f"{THREAD}/history": said({"detail": "no graph"}, 500),
        f"{OTHER}/history": said([state]),
    }
    with serving(_answering(answers)) as url:
        store = open_store(f"langgraph+{url}")
        told = [(info.status, info.head, info.checkpoints) for info in store.threads().items]
        store.close()
    assert told == [(Status.FAILED, None, None), (Status.RUNNING, Ref(OTHER, "", ID), None)]


def test_the_key_goes_to_the_server_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []

    def respond(_method: str, path: str, _body: str, headers: dict[str, str]) -> Answer:
        seen.append(headers)
        return said({"version": "1"} if path == "/info" else 0)

    monkeypatch.setenv("LANGSMITH_API_KEY", "second")
    monkeypatch.setenv("LANGGRAPH_API_KEY", "lsv2-secret")
    with serving(respond) as url:
        store = open_store(f"langgraph+{url.replace('//', '//ann:pass:w@rd@')}")
        assert isinstance(store, ServerStore)
        told = f"{store.info} {vars(store)} {Address.of(f'langgraph+{url}')}"
        store.close()
    assert {one["x-api-key"] for one in seen} == {"lsv2-secret"}
    assert all(one["authorization"].startswith("Basic ") for one in seen)
    assert "secret" not in told
    assert "w@rd" not in told
    assert store.info.url == f"langgraph+{url.replace('//', '//ann:***@')}"


@pytest.mark.parametrize("url", ["langgraph+http://", "langgraph+http://host:port", "langgraph+https://host/?table=x"])
def test_an_address_without_a_host_or_with_more_behind_it_is_refused(url: str) -> None:
    with pytest.raises(Unsupported, match="no address of a LangGraph server"):
        open_store(url)


def test_one_server_is_one_store_by_whatever_name_it_is_entered() -> None:
    plain, named = Address.of("langgraph+http://host:1/a/"), Address.of("LANGGRAPH+HTTP://me:secret@host:1/a")
    assert plain is not None
    assert named is not None
    assert plain.store_id == named.store_id
    assert named.url == "http://me:secret@host:1/a"
    assert named.shown == mask_password("langgraph+http://me:secret@host:1/a") == "langgraph+http://me:***@host:1/a"


def test_other_urls_are_left_to_others() -> None:
    assert open_url("redis://host", read_only=True) is None


def test_without_the_sdk_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("langgraph_sdk"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="langgraph_sdk")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Unsupported, match="langgraph_sdk cannot be imported") as caught:
        open_store("langgraph+http://127.0.0.1:1")
    assert "pip install 'tt-debug[langgraph]'" in caught.value.hint
