"""The main job on LangGraph's PostgreSQL tables by the command line alone: look, fork, edit, go on with the graph."""

from __future__ import annotations

import json
from contextlib import closing

import psycopg

from tests.cli.shell import Shell
from tests.engine.graph_threads import AGENTS
from tests.engine.test_graph_postgres import begun
from tests.postgres import at, database, postgres_server
from tests.stores.langgraph_postgres import load, opened
from tt_debug.session.tailing import Pulse

__all__ = ["database", "postgres_server"]

SECRET = "s3cr3t-word"
GRAPH = ("--graph", f"{AGENTS / 'letters.py'}:graph")


def test_fork_in_the_middle_edit_and_go_on_with_the_graph(shell: Shell, database: str) -> None:
    begun(database, "letters:builder")
    url = at(database, password=SECRET)
    original = shell("export", url, "t").stdout
    (thread,) = shell.data("threads", url)
    assert (thread["thread"], thread["checkpoints"], thread["status"]) == ("t", 6, "done")
    assert [one["step"] for one in shell.data("log", url, "t")] == [-1, 0, 1, 2, 3, 4]
    assert shell.data("show", url, "t@2")["state"] == {"log": ["in", "a", "b"]}
    (change,) = shell.data("diff", url, "t@1", "t@2")
    assert (change["op"], change["path"], change["new"]) == ("add", ["log", 2], "b")

    shell("fork", url, "t@2", "--to", "fixed", "--set", 'log[2]="B"')
    shell("edit", url, "t@2", "--set", 'log[2]="B"', code=4)
    shell("edit", url, "fixed@head", "--set", 'log[+]="more"')
    plan = shell("resume", url, "fixed", *GRAPH, code=6)
    assert "c" in plan.stdout + plan.stderr
    *_, end = shell.events("resume", url, "fixed", *GRAPH, "--yes")
    assert end["status"] == "done"
    assert shell.data("show", url, "fixed@head")["state"] == {"log": ["in", "a", "B", "more", "c", "d"]}
    *_, end = shell.events("replay", url, "t@2", *GRAPH, "--yes")
    assert (end["status"], end["thread"]) == ("done", "t-fork-1")
    assert shell("export", url, "t").stdout == original


def test_a_foreign_schema_is_offered_and_a_password_is_shown_nowhere(shell: Shell, database: str) -> None:
    load("lg1.2.24_pg3.2.0.sql", database, schema="agents")
    load("lg0.2.20_pg1.0.6.sql", database)
    url = at(database, password=SECRET)
    told = shell("doctor", url, code=0)
    assert "schema=agents" in told.stdout + told.stderr
    found = shell.data("threads", f"{url}&schema=agents")
    assert "delta-snap5" in {one["thread"] for one in found}
    failed = shell("show", f"{url}&schema=agents", "nobody@head", code=3)
    for done in (told, failed, shell("threads", url)):
        assert SECRET not in done.stdout + done.stderr
    exported = [json.loads(line) for line in shell("export", f"{url}&schema=agents", "delta-snap5").stdout.splitlines()]
    assert exported[-1]["state"]["log"]


def test_a_look_at_a_followed_thread_asks_for_one_row_and_sees_what_was_written(database: str) -> None:
    load("lg1.2.24_pg3.2.0.sql", database)
    with closing(opened(database)) as store:
        pulse = Pulse(store, "agent-fork")
        assert [pulse.changed() for _ in range(3)] == [True, False, False]
        with psycopg.connect(database, autocommit=True) as db:
            newer = "INSERT INTO checkpoints SELECT thread_id, checkpoint_ns, '2' || substr(checkpoint_id, 2),"
            newer += " checkpoint_id, type, checkpoint, metadata FROM checkpoints WHERE thread_id = 'agent-fork'"
            db.execute(f"{newer} AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1".encode())
        assert [pulse.changed() for _ in range(2)] == [True, False]
        assert Pulse(store, "nobody").changed()
