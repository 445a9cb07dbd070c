"""The main job on a PostgreSQL server through the command line alone; what a role that may only look can do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.shell import Shell
from tests.cli.test_script import flow
from tests.postgres import at, database, fresh_database, postgres_server
from tt_debug.demo import DemoFiles, prepare

__all__ = ["database", "postgres_server"]

SECRET = "s3cr3t-word"
THREAD = "trip-planner"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoFiles:
    return prepare(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def filled(postgres_server: str, demo: DemoFiles, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with the demo's native threads in it, by its URL with a password; made by import."""
    shell = Shell(tmp_path_factory.mktemp("shell"))
    with fresh_database(postgres_server) as plain:
        url = at(plain, password=SECRET)
        file = tmp_path_factory.mktemp("export") / "all.jsonl"
        threads = [found["thread"] for found in shell.data("threads", demo.native)]
        file.write_text("".join(shell("export", demo.native, thread).stdout for thread in threads))
        shell("import", url, file)
        yield url


def rows(url: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as db:
        return db.execute(question.encode()).fetchall()


def test_an_import_into_a_database_is_what_was_exported(shell: Shell, demo: DemoFiles, filled: str) -> None:
    assert rows(filled, "SELECT count(*) FROM tt_debug.checkpoints")[0][0] > 40
    there, here = shell.data("log", filled, THREAD, "--all"), shell.data("log", demo.native, THREAD, "--all")
    assert there == here
    exported = [json.loads(line) for line in shell("export", filled, THREAD).stdout.splitlines()]
    original = [json.loads(line) for line in shell("export", demo.native, THREAD).stdout.splitlines()]
    assert [line["state"] for line in exported] == [line["state"] for line in original]


def test_fork_at_15_set_the_field_that_misled_and_resume(shell: Shell, filled: str) -> None:
    before = shell("export", filled, THREAD).stdout
    made = shell.data("fork", filled, f"{THREAD}@15", "--to", "fixed", "--set", "budget.per_night=32000")
    assert made["thread"] == "fixed"
    shell("fork", filled, f"{THREAD}@15", "--to", "fixed", code=4)
    plan = shell.data("resume", filled, "fixed", code=6)
    assert plan["nodes"][0] == "rank_hotels"
    last = shell.events("resume", filled, "fixed", "--yes")[-1]
    assert (last["event"], last["status"]) == ("run_ended", "done")
    assert shell.data("show", filled, "fixed", "--path", "verdict")["value"] == "within the budget"
    assert shell("export", filled, THREAD).stdout == before
    shell.data("edit", filled, "fixed", "--set", 'verdict="mine"')
    assert shell.data("show", filled, "fixed", "--path", "verdict")["value"] == "mine"


@pytest.mark.soak
def test_an_approval_and_a_resume(shell: Shell, filled: str) -> None:
    (asked,) = shell.data("approvals", filled)
    shell("resume", filled, asked["thread"], "--yes", code=5)
    shell("approve", filled, asked["id"], "--as", "ada")
    assert "ada" in shell("approve", filled, asked["id"], code=4).stderr
    assert shell.events("resume", filled, asked["thread"], "--yes")[-1]["status"] == "done"


def test_a_run_makes_its_schema_only_after_a_yes(shell: Shell, demo: DemoFiles, database: str, tmp_path: Path) -> None:
    schemas = "SELECT nspname FROM pg_namespace WHERE nspname = 'tt_debug'"
    words = ("run", database, "--workflow", demo.native.parent / "offer.yaml", "--input", '{"city": "Kyoto"}')
    assert "schema=tt_debug" in shell(*words, code=6).stdout
    assert rows(database, schemas) == []
    shell(*words, "--yes", code=5)
    assert rows(database, schemas) != []
    shell(*words, "--yes", code=5)
    assert len(shell.data("threads", database)) == 2
    assert shell.data("threads", f"{database}&schema=tt_debug") == shell.data("threads", database)


STEPS = (
    '  - {id: one, type: python, run: "deadly_nodes:one", next: two}\n'
    '  - {id: two, type: python, run: "deadly_nodes:two", next: null}\n'
)
NODES = """
import os, signal

def one(state, ctx):
    return {"one": 1}

def two(state, ctx):
    if "mercy" not in state:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"two": 2}
"""


def test_a_run_that_was_killed_is_crashed_and_goes_on(shell: Shell, database: str, tmp_path: Path) -> None:
    (tmp_path / "deadly_nodes.py").write_text(NODES)
    workflow = flow(tmp_path, STEPS)
    shell("run", database, "--workflow", workflow, "--thread", "t", "--yes", code=1)
    (run,) = shell.data("runs", database)
    assert run["status"] == "crashed"
    shell.data("edit", database, "t", "--set", "mercy=true")
    assert shell.events("resume", database, "t", "--yes")[-1]["status"] == "done"
    assert shell.data("show", database, "t", "--path", "two")["value"] == 2


def test_no_password_is_shown(shell: Shell, filled: str, demo: DemoFiles) -> None:
    wrong = at(filled, port="1", host="127.0.0.1")
    words = f"host=127.0.0.1 port=1 user=me password='{SECRET} and more' dbname=app"
    said = [
        shell("doctor", filled),
        shell("threads", filled),
        shell("show", filled, "nothing", code=3),
        shell("fork", filled, f"{THREAD}@15", "--read-only", code=7),
        shell("fork", filled, f"{THREAD}@15", "--to", THREAD, code=4),
        shell("threads", wrong, code=3),
        shell("threads", words, code=3),
        shell("answer", filled, "nobody", "1", code=3),
        shell("resume", filled, f"{THREAD}@15", "--yes", code=4),
        shell("doctor", wrong, code=3),
        shell("run", filled, "--workflow", demo.native.parent / "offer.yaml", code=6),
        shell("run", wrong, "--workflow", demo.native.parent / "offer.yaml", code=3),
    ]
    assert all(SECRET not in done.stdout + done.stderr for done in said)
    assert all("and more" not in done.stderr for done in said)
    assert f"password=***' {THREAD}@15" in said[8].stderr
    assert "postgresql://" in said[0].stdout


WRITTEN = (
    "SELECT sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del), (SELECT count(*) FROM pg_class)"
    " FROM pg_stat_all_tables WHERE schemaname NOT LIKE 'pg_%'"
)


def test_a_role_with_select_only_browses_everything_and_nothing_is_written(shell: Shell, filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as admin:
        admin.execute("CREATE ROLE onlooker LOGIN")
        admin.execute("GRANT USAGE ON SCHEMA tt_debug TO onlooker")
        admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA tt_debug TO onlooker")
    onlooker = at(filled, user="onlooker")
    try:
        before = rows(filled, WRITTEN)
        for words in (
            ("threads", onlooker),
            ("log", onlooker, THREAD, "--all"),
            ("show", onlooker, f"{THREAD}@15"),
            ("diff", onlooker, f"{THREAD}@17"),
            ("history", onlooker, THREAD, "budget.per_night"),
            ("runs", onlooker),
            ("approvals", onlooker),
            ("export", onlooker, THREAD),
            ("doctor", onlooker),
        ):
            shell(*words)
        refused = shell("fork", onlooker, f"{THREAD}@15", "--to", "mine", code=7)
        assert "GRANT" in refused.stderr
        assert rows(filled, WRITTEN) == before
    finally:
        with psycopg.connect(filled, autocommit=True) as admin:
            admin.execute("DROP OWNED BY onlooker")
            admin.execute("DROP ROLE onlooker")
