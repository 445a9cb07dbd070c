"""What may be loaded when: start-up stays light, reading never loads a runtime, and one SQLite library serves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tt_debug.demo import prepare

HEAVY = ("textual", "networkx", "deepdiff", "psycopg", "langgraph", "langchain_core", "sqlite_utils", "pydantic")
PROBE = """
import contextlib, io, json, sys
from tt_debug.__main__ import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    sys.argv = ["tt-debug", *json.loads(sys.argv[1])]
    main()
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def _loaded(*arguments: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)], capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(ran.stdout.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("threads", "--help")])
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert _loaded(*arguments) & {*HEAVY, "rich"} == set()


@pytest.mark.parametrize("command", ["threads", "log", "show", "diff"])
def test_looking_at_any_store_loads_no_runtime_and_no_screen(tmp_path: Path, command: str) -> None:
    files = prepare(tmp_path)
    for store, thread in ((files.native, "trip-planner"), (files.langgraph, "trip-kyoto")):
        arguments = [command, str(store)] + ([thread] if command != "threads" else [])
        assert _loaded(*arguments) & {*HEAVY} == set()


def test_stdlib_sqlite_is_the_only_sqlite_in_the_code() -> None:
    root = Path(__file__).parents[2]
    sources = [path for package in ("stores", "tt_debug") for path in (root / package).rglob("*.py")]
    assert len(sources) > 50
    wrong = [
        f"{path.name}: {name}"
        for path in sources
        for name in ("import apsw", "import pysqlite3", "import pickle", "unpickle", "eval(")
        if name in path.read_text()
    ]
    assert wrong == []
