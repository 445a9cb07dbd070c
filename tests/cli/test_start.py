"""What starting costs: the help and a listing import nothing that they do not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from stores import create_native
from tests.stores.handmade import Row, handmade, uuid
from tt_debug.cli import commands

HEAVY = {
    *("textual", "rich", "networkx", "deepdiff", "psycopg", "langgraph", "sqlite_utils", "jsonschema", "ruamel"),
    *("pydantic", "asyncio"),
}
WATCHES = """
import json, sys
from tt_debug.cli.main import main
code = main(sys.argv[1:])
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


FOR_HELP = {"cells", "errors", "cli", "cli.commands", "cli.help", "cli.main", "cli.output"}
"""All that a help text may cost."""


FOR_MORE_THAN_HEADERS = {
    *("stores.effects", "stores.runs", "stores.langgraph.write", "stores.langgraph.scanning", "stores.table"),
    *("stores.langgraph.delta", "stores.langgraph.reducers"),
    *("stores.native.sqlite", "tt_debug.diff", "tt_debug.query", "tt_debug.searching", "tt_debug.engine.recover"),
    *("tt_debug.session.forking", "tt_debug.session.operating", "tt_debug.session.plans"),
    *("tt_debug.session.questions", "tt_debug.session.watches", "subprocess", "email", "importlib.metadata"),
    *(
        "stores.salvage",
        "stores.supervision",
        "stores.postgres_address",
        "tt_debug.cli.records",
        "tt_debug.cli.run_options",
        "tt_debug.text",
    ),
    *("tt_debug.redaction", "tt_debug.values", "secrets", "tempfile", "shutil", "click.shell_completion"),
}
"""What a list of threads or of checkpoints does without; each costs from 1 to 10 ms."""


def loaded(*words: str) -> set[str]:
    """The modules in memory after a command line."""
    done = subprocess.run([sys.executable, "-c", WATCHES, *words], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_what_needs_no_store_imports_next_to_nothing(word: str) -> None:
    modules = loaded(word)
    assert {name for name in modules if name.startswith("tt_debug.")} == {f"tt_debug.{name}" for name in FOR_HELP}
    assert not modules & (HEAVY | {"stores", "click", "dataclasses", "sqlite3", "orjson", "pathlib"})


@pytest.mark.parametrize("name", commands.names())
def test_the_help_says_of_a_command_what_its_own_does(name: str) -> None:
    said = {name: place.help for section in commands.SECTIONS.values() for name, place in section.items()}
    command = commands.load(name)
    assert isinstance(command, click.Command)
    assert said[name] == command.get_short_help_str(60), "put the command's own sentence into tt_debug/cli/commands.py"


@pytest.mark.parametrize("words", [("threads",), ("approvals",), ("doctor",)])
def test_a_listing_imports_nothing_heavy(tmp_path_factory: pytest.TempPathFactory, words: tuple[str, ...]) -> None:
    file = tmp_path_factory.mktemp("store") / "empty.db"
    create_native(file)
    assert not loaded(*words, str(file)) & HEAVY


def test_a_list_of_threads_imports_nothing_that_draws_one(tmp_path: Path) -> None:
    modules = loaded("threads", str(handmade(tmp_path / "trip.db", [Row(uuid(1))])))
    assert not modules & {"tt_debug.session.thread_view", "tt_debug.layout", "tt_debug.graph"}


@pytest.mark.parametrize("words", [("threads",), ("log", "t", "--limit", "5"), ("log", "t", "--graph")])
def test_looking_at_headers_imports_nothing_of_states_questions_writes_and_runs(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    modules = loaded(words[0], str(handmade(tmp_path / "trip.db", [Row(uuid(1)), Row(uuid(2), uuid(1))])), *words[1:])
    assert "stores.langgraph.sqlite" in modules
    assert not modules & HEAVY
    assert not modules & FOR_MORE_THAN_HEADERS


@pytest.mark.parametrize("word", ["", *commands.names()])
def test_every_help_fits_into_80_columns(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tt_debug.cli.main import main

    assert main([*word.split(), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80


def test_no_short_help_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    from tt_debug.cli.main import main

    main(["--help"])
    assert "..." not in capsys.readouterr().out


def test_the_help_names_every_option_of_the_word_it_belongs_to(capsys: pytest.CaptureFixture[str]) -> None:
    from tt_debug.cli.group import group
    from tt_debug.cli.main import main

    main(["--help"])
    said = capsys.readouterr().out
    options = [param for param in group.get_params(click.Context(group)) if isinstance(param, click.Option)]
    assert {"--version", "-h", "--help"} == {word for option in options for word in option.opts}
    assert all(f"  {', '.join(option.opts)} " in said and str(option.help) in said for option in options)


@pytest.mark.parametrize("words", [["-h"], ["--help", "--nonsense"], ["--version", "x"]])
def test_the_first_word_asks(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from tt_debug.cli.main import main

    assert main(words) == 0
    assert capsys.readouterr().out.startswith("tt-debug " if words[0] == "--version" else "Usage: tt-debug [STORE]")


def test_the_shell_gets_completions() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tt_debug"],
        capture_output=True,
        text=True,
        check=False,
        env={"_TT_DEBUG_COMPLETE": "bash_complete", "COMP_WORDS": "tt-debug thr", "COMP_CWORD": "1"},
    )
    assert done.stdout == "plain,threads\nfile,thr\n"
