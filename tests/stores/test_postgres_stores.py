"""Which store of a database is opened: by schema, never two as one, and always saying what else there is."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from stores import create_native, open_store
from stores.errors import Unreachable, Unsupported
from stores.making import place_of
from stores.postgres_address import address_of
from stores.registry import proposals
from tests.postgres import at, database, postgres_server
from tests.stores.langgraph_postgres import load

__all__ = ["database", "postgres_server"]

SMALL = "pg_shallow.sql"


def kind_at(url: str) -> tuple[str, tuple[str, ...]]:
    with closing(open_store(url)) as store:
        return store.info.kind, store.info.notices


def test_what_lies_where_programs_look_is_opened_and_the_rest_offered(database: str) -> None:
    create_native(database)
    load(SMALL, database)
    load(SMALL, database, "app")
    kind, notices = kind_at(database)
    assert kind == "langgraph"
    (offer,) = [notice for notice in notices if "holds more" in notice]
    assert "a native store at" in offer
    assert "schema=tt_debug" in offer
    assert "schema=app" in offer
    assert kind_at(f"{database}&schema=tt_debug") == ("native", ())
    kind, notices = kind_at(f"{database}&schema=app")
    assert kind == "langgraph"
    assert not any("holds more" in notice for notice in notices)
    with psycopg.connect(database) as db:
        db.execute(b"DROP TABLE app.checkpoints CASCADE")
    with closing(open_store(database)) as store:
        assert store.threads().items, "another schema's tables are not these"


def test_a_store_in_the_only_other_schema_needs_no_word(database: str) -> None:
    create_native(f"{database}&schema=mine")
    assert kind_at(database) == ("native", ())


def test_of_several_in_other_schemas_one_must_be_named(database: str) -> None:
    create_native(f"{database}&schema=mine")
    create_native(f"{database}&schema=yours")
    with pytest.raises(Unsupported, match="several stores") as caught:
        open_store(database)
    assert "schema=mine" in caught.value.hint
    assert "schema=yours" in caught.value.hint
    urls = proposals(database)
    assert [address_of(url).schema for url in urls] == ["mine", "yours"]
    assert [kind_at(url)[0] for url in urls] == ["native", "native"]


def test_a_schema_without_a_store_says_what_is_there(database: str) -> None:
    with pytest.raises(Unsupported, match="tables: none"):
        open_store(database)
    create_native(database)
    with pytest.raises(Unsupported, match="nowhere"):
        open_store(f"{database}&schema=nowhere")
    assert proposals(f"{database}&schema=nowhere") == (address_of(f"{database}&schema=tt_debug").secret_url,)


def test_a_run_goes_to_a_schema_of_our_own_beside_others_tables(database: str) -> None:
    load(SMALL, database)
    place = place_of(at(database, password="hush"))
    assert place.is_new
    assert "schema=tt_debug" in place.shown
    assert "hush" not in repr(place)
    create_native(place.url)
    again = place_of(database)
    assert (again.is_new, again.shown) == (False, place_of(f"{database}&schema=tt_debug").shown)
    assert kind_at(again.url)[0] == "native"
    assert not place_of(f"{database}&schema=public").is_new
    with pytest.raises(Unreachable):
        place_of(at(database, host="127.0.0.1", port="1"))


def test_tables_of_others_have_a_schema_that_a_native_store_does_not_enter(database: str) -> None:
    load(SMALL, database)
    with pytest.raises(Unsupported, match="public"):
        create_native(f"{database}&schema=public")


def test_a_schema_that_a_role_may_not_use_is_not_there_for_it(database: str) -> None:
    create_native(database)
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE ROLE stranger LOGIN")
    try:
        with pytest.raises(Unsupported, match="tables: none"):
            open_store(at(database, user="stranger"))
    finally:
        with psycopg.connect(database, autocommit=True) as db:
            db.execute("DROP ROLE stranger")
