"""How a PostgreSQL store is addressed: what is shown of it, what leads to it, and what keeps its password."""

from __future__ import annotations

import socket
import sys
import traceback
from contextlib import closing
from pathlib import Path

import pytest

from stores import create_native, open_store
from stores.errors import ReadOnly, StoreError, Unreachable, Unsupported
from stores.postgres import Server, place_id
from stores.postgres_address import Address, address_of
from stores.postgres_connecting import connect
from stores.urls import is_postgres
from tests.postgres import at
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.postgres_line import Line, line
from tests.stores.postgres_connections import value


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me@h:5433/app", "postgresql://me@h:5433/app"),
        ("postgres://me:s3cret@h/app?schema=my%20own", "postgresql://me:***@h:5432/app?schema=my%20own"),
        ("postgresql+psycopg://me@h/app", "postgresql://me@h:5432/app"),
        ("postgresql://me@/app?host=/run/pg", "postgresql://me@/app?host=/run/pg&port=5432"),
        ("host=h dbname=app user=me password='it\\'s'", "postgresql://me:***@h:5432/app"),
        ("dbname=app user=me host=h schema=other", "postgresql://me@h:5432/app?schema=other"),
        ("service=prod", "postgresql:///?service=prod"),
        ("postgresql://me@[::1]/app", "postgresql://me@[::1]:5432/app"),
        ("postgresql://me@a:1,b:2/app", "postgresql://me@/app?host=a%2Cb&port=1%2C2"),
    ],
)
def test_an_address_is_shown_as_a_url_that_opens_it_without_its_password(url: str, shown: str) -> None:
    found = address_of(url)
    assert is_postgres(url)
    assert found.shown == shown
    again = address_of(found.shown)
    assert {**again.parameters, "password": ""} == {
        "port": "5432",
        **found.parameters,
        "password": "",
    } or "service" in url
    assert again.chosen == found.chosen


def test_what_of_a_database_is_meant_is_kept_from_libpq() -> None:
    found = address_of("postgresql://h/app?schema=mine&table=t&thread=a&id=b&state=c&sslmode=require")
    assert (found.schema, found.mapping) == ("mine", {"table": "t", "thread": "a", "id": "b", "state": "c"})
    assert dict(found.parameters) == {"host": "h", "dbname": "app", "sslmode": "require"}
    assert found.choosing(schema="x").shown.endswith("?sslmode=require&schema=x")


@pytest.mark.parametrize("url", ["app.db", "sqlite:///app.db", "/srv/service=x", "redis://h/0", "notes about host=h"])
def test_other_stores_are_not_taken_for_postgresql(url: str) -> None:
    assert not is_postgres(url)


def test_where_nothing_is_said_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, given in {"PGHOST": "db.test", "PGPORT": "6000", "PGUSER": "me", "PGDATABASE": "app"}.items():
        monkeypatch.setenv(name, given)
    assert address_of("postgresql://").shown == "postgresql://me@db.test:6000/app"
    assert place_id(address_of("postgresql://")) == place_id(address_of("postgresql://db.test:6000/app"))
    assert place_id(address_of("postgresql:///other")) != place_id(address_of("postgresql://"))


def test_a_service_is_looked_up(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = address_of(database).parameters
    services = tmp_path / "services.conf"
    services.write_text("[ours]\n" + "".join(f"{name}={value}\n" for name, value in parameters.items()))
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    with connect(address_of("service=ours"), reading=True) as db:
        assert value(db, "SELECT current_database()") == parameters["dbname"]
    create_native("service=ours")
    with closing(open_store("service=ours schema=tt_debug")) as store:
        assert (store.info.kind, store.info.url) == ("native", "postgresql:///?service=ours&schema=tt_debug")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unsupported) as caught:
        address_of("postgresql://h/app")
    assert "tt-debug[postgres]" in caught.value.hint


SECRET = "hush/hush@9x"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/app",  # not escaped: libpq takes pieces of it for a host and a port
        "postgresql://me:hush%2Fhush%409x@127.0.0.1:1/app",
        "postgresql://me:hush@9x@127.0.0.1:1/app",
        "postgresql://me:12?hush@127.0.0.1:1/app",
        "postgresql://me:hush#9x@127.0.0.1:1/app",
        f"host=127.0.0.1 port=1 user=me password='{SECRET}'",
        f"host=127.0.0.1 password={SECRET} '",
    ],
)
def test_a_password_is_in_no_message_and_no_traceback(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        Server(address_of(url))
    told = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    assert "hush" not in told.replace(url, "")


def test_a_password_is_in_no_repr() -> None:
    assert SECRET not in repr(address_of(f"host=h password={SECRET}"))
    assert Address("x", {"password": SECRET}).masked(f"no {SECRET}!") == "no ***!"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"port": "1", "host": "127.0.0.1"}, "refused"),
        ({"dbname": "nowhere"}, "nowhere"),
        ({"user": "nobody"}, "nobody"),
    ],
)
def test_what_cannot_be_reached_says_why(database: str, other: dict[str, str], message: str) -> None:
    with pytest.raises(Unreachable, match=message) as caught:
        Server(address_of(at(database, **other)))
    assert caught.value.hint


def test_a_pooler_that_passes_no_options_on_is_read_through(database: str) -> None:
    refused = []

    def pooler(made: Line, said: bytes, client: socket.socket) -> bytes | None:
        if b"default_transaction_read_only" not in said:
            return said
        refused.append(said)
        reason = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
        client.sendall(b"E" + (len(reason) + 4).to_bytes(4, "big") + reason)
        return None

    with line(database) as made:
        made.watch = pooler
        server = Server(address_of(made.url))
        with pytest.raises(ReadOnly):
            server.read(lambda db: db.execute("CREATE TABLE t (a int)"))
        server.close()
    assert len(refused) == 1
