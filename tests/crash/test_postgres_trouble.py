"""Tables that somebody else locks, and a standby that is promoted without the last commits: nothing told of twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

import stores.postgres
import stores.postgres_writing
from stores import create_native
from stores.postgres_address import Address
from stores.postgres_connecting import Database
from stores.runs import Run, RunStatus
from tests.crash.test_postgres import opened
from tests.engine.flows import Bench, FakeClock, python, write_flow
from tests.postgres import fresh_database, kill_ours, postgres_server
from tt_debug.definition.load import load_workflow
from tt_debug.engine.context import Context
from tt_debug.engine.patience import PATIENCE
from tt_debug.engine.runner import Ending, Runner
from tt_debug.engine.surroundings import Orders, StopFlag, Surroundings
from tt_debug.engine.transitions import LOST

__all__ = ["postgres_server"]

pytestmark = pytest.mark.crash

ACT = "tests.crash.test_postgres_trouble:act"
DURING: dict[str, Callable[[Context], None]] = {}
"""What happens while a node runs, once."""
CALLS: list[str] = []
"""The keys that the world outside was called with."""


def act(state: dict[str, Any], ctx: Context) -> dict[str, Any]:
    ctx.effect("call", CALLS.append, ctx.node, cls="idempotent")
    DURING.pop(ctx.node, lambda ctx: None)(ctx)
    return {"trail": [*state.get("trail", []), ctx.node]}


class Locker(FakeClock):
    """Takes a lock on the server, and lets go of it after so many seconds of waiting."""

    def __init__(self, url: str, seconds: float) -> None:
        super().__init__()
        self._db = psycopg.connect(url)
        self._left = seconds

    def lock(self, how: str) -> None:
        self._db.execute(how.encode())

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._left -= seconds
        if self._left <= 0:
            self.close()

    def close(self) -> None:
        self._db.close()


class Standby:
    """A database that takes the other's name; it knows nothing of what was committed after it was copied."""

    def __init__(self, server: str, url: str) -> None:
        self._server = server
        self._primary = str(conninfo_to_dict(url)["dbname"])
        self._name = f"{self._primary}_standby"

    def copy(self) -> None:
        """Nothing of what is committed from now on reaches it."""
        self._admin("CREATE DATABASE {} TEMPLATE {}", self._name, self._primary)

    def promote(self) -> None:
        """The primary is gone, and with it every connection to it."""
        self._admin("DROP DATABASE {} WITH (FORCE)", self._primary)
        self._admin("ALTER DATABASE {} RENAME TO {}", self._name, self._primary)

    def _admin(self, command: str, *names: str) -> None:
        ours = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
        with psycopg.connect(self._server, autocommit=True) as db:
            db.execute(ours, (self._primary,))
            db.execute(sql.SQL(command).format(*map(sql.Identifier, names)))


@pytest.fixture
def url(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as made:
        create_native(made)
        yield made


@pytest.fixture
def on(url: str, tmp_path: Path) -> Iterator[Bench]:
    """A run of three nodes, and no thread that would ask the server for something in between."""
    CALLS.clear()
    nodes = [python(name, ACT, after) for name, after in (("a", "b"), ("b", "c"), ("c", None))]
    made = Bench(tmp_path, opened(url), load_workflow(write_flow(tmp_path, nodes)))
    made.start({})
    yield made
    made.store.close()


WRITERS = "SELECT pg_advisory_xact_lock(hashtext('tt-debug'), hashtext('tt_debug'))"
"""As another tt-debug does that hangs in a write."""
RUNS = "LOCK TABLE tt_debug.runs"
"""As what rewrites a table does: nobody reads it either."""


@pytest.fixture
def short_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((stores.postgres, "_BEGIN_READING"), (stores.postgres_writing, "_BEGIN_WRITING")):
        begin = getattr(module, name)
        assert "lock_timeout = '5.0s'" in begin
        monkeypatch.setattr(module, name, begin.replace("lock_timeout = '5.0s'", "lock_timeout = '10ms'"))


@pytest.mark.usefixtures("short_locks")
@pytest.mark.parametrize("how", [WRITERS, RUNS])
def test_a_lock_that_is_let_go_of_in_time_is_waited_for(on: Bench, url: str, how: str) -> None:
    with closing(Locker(url, 2.0)) as on.clock:
        DURING["a"] = lambda ctx: on.clock.lock(how)
        assert on.go().status == "done"
        assert 2 <= on.clock.slept < PATIENCE
    check(on)
    assert len(CALLS) == 3


@pytest.mark.usefixtures("short_locks")
@pytest.mark.parametrize(("seconds", "durable"), [(PATIENCE + 5, True), (10_000.0, False)])
def test_a_lock_that_is_not_pauses_the_run_and_nothing_is_lost(
    on: Bench, url: str, seconds: float, durable: bool
) -> None:
    with closing(Locker(url, seconds)) as on.clock:
        DURING["b"] = lambda ctx: on.clock.lock(RUNS)
        ending = on.go()
        assert ending.status == "paused"
        assert "busy for 60 seconds" in (ending.error or "")
        assert "is locked by another session" in (ending.error or "")
        assert on.clock.slept <= 2 * PATIENCE
    found = on.store.run("run-t")
    assert found.status == (RunStatus.PAUSED if durable else RunStatus.RUNNING)
    assert on.state() == {"trail": ["a"]}
    assert on.go().status == "done"
    check(on)
    assert len(CALLS) == 3


@pytest.mark.usefixtures("short_locks")
def test_a_run_that_ended_is_not_said_to_be_lost_when_its_table_is_locked_at_once(on: Bench, url: str) -> None:
    with closing(Locker(url, 2.0)) as on.clock:

        class Hooked(list[Any]):
            def append(self, event: Any) -> None:
                super().append(event)
                if event.kind == "step_finished" and event.fields["node"] == "c":
                    on.clock.lock(RUNS)

        on.events = Hooked()
        assert on.go().status == "done"
    check(on)


TROUBLES = """
CREATE SEQUENCE tries;
CREATE FUNCTION ordered() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    CASE nextval('tries')
        WHEN 1 THEN PERFORM pg_terminate_backend(pg_backend_pid());
        WHEN 2 THEN RAISE serialization_failure;
        WHEN 3 THEN RAISE deadlock_detected;
        ELSE RETURN 7;
    END CASE;
END $$;
"""


@pytest.mark.usefixtures("short_locks")
def test_a_nodes_own_statement_is_made_again_until_no_other_session_is_in_its_way(on: Bench, url: str) -> None:
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE orders (n int)")
        db.execute(TROUBLES)
    with closing(Locker(url, 2.0)) as on.clock:

        def order(ctx: Context) -> None:
            ctx.tx("INSERT INTO orders VALUES (ordered())")
            on.clock.lock("LOCK TABLE orders")

        DURING["b"] = order
        assert on.go().status == "done"
        assert 2 <= on.clock.slept < PATIENCE
    check(on)
    with psycopg.connect(url) as db:
        assert db.execute("SELECT * FROM orders").fetchall() == [(7,)]
        assert db.execute("SELECT last_value FROM tries").fetchall() == [(4,)]


def test_a_statement_that_is_wrong_where_it_stands_fails_its_step(on: Bench, url: str) -> None:
    with psycopg.connect(url) as db:
        db.execute("CREATE MATERIALIZED VIEW report AS SELECT 1 AS n WITH NO DATA")
    DURING["b"] = lambda ctx: ctx.tx("SELECT n FROM report")
    ending = on.go()
    assert (ending.status, on.clock.slept) == ("failed", 0)
    assert "the statement 'SELECT n FROM report' of b failed" in (ending.error or "")
    assert [(step.node, step.status) for step in on.store.steps("run-t")] == [("a", "completed"), ("b", "failed")]


def test_a_connection_that_is_lost_as_soon_as_it_is_made_is_made_again(
    on: Bench, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = stores.postgres_writing.connect
    lost: list[bool] = []

    def unlucky(address: Address, *, reading: bool) -> Database:
        db = connect(address, reading=reading)
        if not lost:
            lost.append(kill_ours(url) > 0)
        return db

    def lose(ctx: Context) -> None:
        kill_ours(url)
        monkeypatch.setattr(stores.postgres_writing, "connect", unlucky)

    DURING["b"] = lose
    assert on.go().status == "done"
    assert lost == [True]
    check(on)


def go_on(on: Bench, store: Any, run: Run) -> Ending:
    around = Surroundings(store, on.events.append, StopFlag(), FakeClock())
    return Runner(run, on.workflow, Orders(None, False), around).go()


def check(on: Bench) -> None:
    """Each step once, each the child of the one before; the world can tell what it is asked for again by its key."""
    assert on.store.run("run-t").status == RunStatus.COMPLETED
    headers = on.store.headers("t").items[::-1]
    assert [header.nodes for header in headers] == [(), ("a",), ("b",), ("c",)]
    assert [header.parent for header in headers[1:]] == [header.ref for header in headers[:-1]]
    assert on.state() == {"trail": ["a", "b", "c"]}
    assert on.store.fault(headers[-1].ref) is None
    assert len(set(CALLS)) == 3


def test_an_owner_of_whom_the_standby_never_heard_writes_nothing_for_the_one_it_has(
    on: Bench, url: str, postgres_server: str
) -> None:
    standby = Standby(postgres_server, url)
    standby.copy()
    with closing(opened(url)) as other:
        claims: list[Run] = []

        def fail_over(ctx: Context) -> None:
            standby.promote()
            claims.append(other.claim("run-t", "other", 2))

        DURING["a"] = fail_over
        ending = on.go()
        assert (ending.status, claims[0].token) == (LOST, 1)
        assert "another owner's under token 1" in (ending.error or "")
        assert [header.source for header in on.store.headers("t").items] == ["input"]
        assert on.store.steps("run-t") == ()
        assert go_on(on, other, claims[0]).status == "done"
    check(on)
    assert len(CALLS) == 4


def test_an_owner_whose_last_steps_the_standby_lacks_stops_and_they_are_run_again(
    on: Bench, url: str, postgres_server: str
) -> None:
    standby = Standby(postgres_server, url)
    DURING.update(a=lambda ctx: standby.copy(), b=lambda ctx: standby.promote())
    ending = on.go()
    assert ending.status == LOST
    assert "the store has lost" in (ending.error or "")
    assert [header.source for header in on.store.headers("t").items] == ["input"]
    assert [(step.node, step.status) for step in on.store.steps("run-t")] == [("a", "running")]
    assert on.go().status == "done"
    check(on)
    assert len(CALLS) == 4
