"""LangGraph's PostgreSQL tables against the contract of all stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.types.json import Jsonb

from stores.codec import msgpack
from stores.conformance import SAMPLE, AddressConformance, StoreConformance, WriterConformance
from stores.langgraph.postgres import LangGraphPostgresStore
from stores.model import NewCheckpoint
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.langgraph_postgres import opened
from tests.stores.test_langgraph_conformance import content_of


def store_row(db: Any, new: NewCheckpoint) -> None:
    """The sample's checkpoint as PostgresSaver stores it: scalars in the row, the rest apart."""
    content, metadata = content_of(new)
    values, versions = content["channel_values"], content["channel_versions"]
    inline = {name: value for name, value in values.items() if value is None or isinstance(value, str | int | float)}
    for name in values.keys() - inline.keys():
        db.execute(
            "INSERT INTO checkpoint_blobs VALUES (%s, '', %s, %s, 'msgpack', %s)",
            (new.ref.thread, name, versions[name], msgpack.encode(values[name])),
        )
    row = Jsonb({**content, "channel_values": inline})
    parent = new.parent.id if new.parent else None
    db.execute(
        "INSERT INTO checkpoints VALUES (%s, '', %s, %s, NULL, %s, %s)",
        (new.ref.thread, new.ref.id, parent, row, Jsonb(metadata)),
    )


@pytest.fixture
def filled(database: str) -> str:
    """A database with the sample, each checkpoint stored by a transaction of its own."""
    with PostgresSaver.from_conn_string(database) as saver:
        saver.setup()
    with psycopg.connect(database, autocommit=True) as db:
        for new in SAMPLE:
            with db.transaction():
                store_row(db, new)
    return database


@pytest.fixture
def sample(filled: str) -> Iterator[LangGraphPostgresStore]:
    store = opened(filled, read_only=False)
    yield store
    store.close()


@pytest.fixture
def frozen(filled: str) -> Iterator[LangGraphPostgresStore]:
    store = opened(filled)
    yield store
    store.close()


class TestLangGraphPostgres(StoreConformance, AddressConformance, WriterConformance):
    def test_a_fork_is_a_new_thread_and_the_base_stays(self, sample: Any) -> None:
        """Without changes a fork is a copy: its head is the base itself, and has no row to keep a reason in."""
        base = SAMPLE[2]
        header = sample.fork(base.ref, "fork", meta={"why": "to see"})
        original = sample.load(base.ref)
        assert header.ref == base.ref._replace(thread="fork")
        assert (header.source, header.next) == (original.header.source, original.header.next)
        assert sample.load(header.ref).state == original.state
        assert [one.ref.id for one in sample.headers("fork").items] == [new.ref.id for new in reversed(SAMPLE[:3])]
