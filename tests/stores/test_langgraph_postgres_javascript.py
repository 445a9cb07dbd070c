"""LangGraph JS in PostgreSQL, whose branches count versions from the same number."""

from __future__ import annotations

import json

from stores.model import Change
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.langgraph_files import text
from tests.stores.langgraph_postgres import load, opened, rows_of

JS = "js_lg1.7.3_pg1.0.5"


def test_javascripts_rows_agree_and_what_another_branch_overwrote_is_marked(database: str) -> None:
    load(f"{JS}.sql", database)
    store = opened(database)
    marked = []
    for row in json.loads(text(f"{JS}.expected.json")):
        header = next(one for one in store.headers(row["thread_id"]).items if one.ref.id == row["id"])
        state = store.load(header.ref).state
        assert (header.parent and header.parent.id, header.step, header.source) == (
            row["parent"],
            row["step"],
            row["source"],
        )
        # As LangGraph JS itself reads it: the edit that was stored on the branch is lost.
        assert (list(header.next), state.get("log", []), state.get("turn")) == (
            row["next"],
            row["log"],
            row.get("turn"),
        )
        if header.problem is not None:
            marked.append((header.source, header.problem))
    ((source, problem),) = marked
    assert source == "update"
    assert "log" in problem
    assert "another branch's" in problem
    store.close()


def test_a_fork_of_javascripts_gets_versions_that_no_branch_has(database: str) -> None:
    load(f"{JS}.sql", database)
    store = opened(database, read_only=False)
    base = next(one for one in store.headers("agent").items if one.step == 2)
    before = store.load(base.ref).state["log"]
    fork = store.fork(base.ref, "fork", [Change("add", ("log", 0), new="first")])
    assert store.load(fork.ref).state["log"] == ["first", *before]
    assert (fork.problem, fork.next) == (None, base.next)
    versions = {row[3] for row in rows_of(database, "fork")["checkpoint_blobs"] if row[2] == "log"}
    highest = max(int(row[3]) for row in rows_of(database, "agent")["checkpoint_blobs"])
    assert str(highest + 1) in versions
    store.close()
