"""What nobody waits for any more is ended on the store's server, and what writes never is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from stores.errors import Busy
from tests.postgres import database, postgres_server
from tt_debug.session.session import Session
from tt_debug.tui import loader as loading
from tt_debug.tui.loader import Loader
from tt_debug.tui.messages import Failed, ThreadsRead
from tt_debug.tui.watch import Watch

__all__ = ["database", "postgres_server"]


class Owner:
    """Hears what the loader posts."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.told = threading.Event()

    def post_message(self, message: object) -> None:
        self.heard.append(message)
        self.told.set()


class Server:
    """Works on a question until it is told to stop."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.ended = threading.Event()
        self.by: int | None = None
        self.times = 0
        self.interrupted: list[int] = []

    def ask(self) -> int:
        self.by = threading.get_ident()
        self.times += 1
        self.asked.set()
        assert self.ended.wait(30)
        raise Busy("the question was ended")

    def interrupt(self, thread: int) -> None:
        self.interrupted.append(thread)
        self.ended.set()


def answer(number: int) -> ThreadsRead:
    return ThreadsRead(number, Watch(), ())


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def loader(server: Server) -> Iterator[Loader]:
    made = Loader(Owner(), server.interrupt)  # type: ignore[arg-type]
    yield made
    made.close()


def test_a_question_whose_answer_was_replaced_is_ended(loader: Loader, server: Server) -> None:
    owner: Any = Owner()
    loader.call(owner, "state", server.ask, answer)
    assert server.asked.wait(30)
    loader.call(owner, "other", lambda: 1, answer)
    loader.call(owner, "state", lambda: 2, answer)
    assert server.ended.wait(30)
    assert server.interrupted == [server.by]
    while loader.busy:
        owner.told.wait(0.01)
    assert [type(message) for message in owner.heard] == [ThreadsRead, ThreadsRead]


def test_a_question_of_a_screen_that_is_left_is_ended(loader: Loader, server: Server) -> None:
    owner: Any = Owner()
    loader.call(owner, "state", server.ask, answer)
    assert server.asked.wait(30)
    loader.leave(owner)
    assert server.ended.wait(30)
    assert server.interrupted == [server.by]


def test_a_question_that_was_ended_is_not_asked_again(
    loader: Loader, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ending it makes it fail as a locked store does, which is what others are asked again for."""
    monkeypatch.setattr(loading, "AGAIN", 0)
    owner: Any = Owner()
    loader.call(owner, "state", server.ask, answer)
    assert server.asked.wait(30)
    loader.leave(owner)
    while loader.busy and server.times == 1:
        owner.told.wait(0.01)
    assert server.times == 1
    assert owner.heard == []


def test_a_write_is_not_ended(loader: Loader, server: Server) -> None:
    owner: Any = Owner()
    loader.call(owner, "fork", server.ask, answer, patient=False)
    assert server.asked.wait(30)
    loader.leave(owner)
    server.ended.set()
    assert owner.told.wait(30)
    assert server.interrupted == []
    assert isinstance(owner.heard[0], Failed)


SLOW = "CREATE VIEW slow AS SELECT 'r' AS run, 1 AS id, '{}' AS state, pg_sleep(600)::text AS note"
ASLEEP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"


def test_a_question_to_postgresql_is_ended_there(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute(SLOW)
        session = Session.open(f"{database}&table=slow&thread=run&id=id&state=state", read_only=True)
        loader = Loader(Owner(), session.interrupt)  # type: ignore[arg-type]
        owner: Any = Owner()
        loader.call(owner, "state", lambda: session.open_thread("r"), answer)  # type: ignore[arg-type]
        _until(admin, 1)
        loader.call(owner, "state", lambda: 7, answer)
        _until(admin, 0)
        while loader.busy:
            owner.told.wait(0.01)
        assert [type(message) for message in owner.heard] == [ThreadsRead]
        loader.close()
        session.close()


def _until(admin: psycopg.Connection[Any], sleeping: int) -> None:
    while admin.execute(ASLEEP).fetchone() != (sleeping,):
        pass
