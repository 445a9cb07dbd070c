"""Every error becomes one sentence, a hint and its exit code; nothing dangerous gets out."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click
import pytest

from stores import errors as store
from stores.places import cache_folder
from tests.cli.conftest import Run
from tests.cli.fakes import Asked
from tt_debug import errors as debugger
from tt_debug.cli import exits
from tt_debug.cli.exits import ExitCode, code_of
from tt_debug.cli.options import Target


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (debugger.UsageError("x"), 2),
        (debugger.DefinitionError("x", ("a", "b")), 2),
        (click.UsageError("x"), 2),
        (store.Invalid("x"), 2),
        (store.Unreachable("x"), 3),
        (store.NotFound("x"), 3),
        (store.Corrupt("x"), 3),
        (store.Unsupported("x"), 3),
        (debugger.RefNotFound("x"), 3),
        (store.Conflict("x"), 4),
        (store.LeaseLost("x"), 4),
        (store.Busy("x"), 4),
        (debugger.NotAHead("x"), 4),
        (debugger.DefinitionChanged("x", ("a",)), 4),
        (debugger.WaitingForAnswer("x", "a1"), 5),
        (store.ReadOnly("x"), 7),
        (debugger.ChildFailed("x"), 1),
        (ZeroDivisionError("x"), 70),
    ],
)
def test_class_decides_the_code(error: Exception, code: int) -> None:
    assert code_of(error) == code


def test_one_line_and_a_hint(run: Run, asked: Asked) -> None:
    asked.session.raises["threads"] = store.Corrupt("page 7 is torn\nacross lines", hint="tt-debug doctor trip.db")
    ran = run("threads", "trip.db")
    assert ran.code == ExitCode.NOT_FOUND
    assert ran.out == ""
    assert ran.err == "tt-debug: error: page 7 is torn across lines\nhint: tt-debug doctor trip.db\n"


def test_a_hint_names_the_store_that_was_typed(run: Run, asked: Asked) -> None:
    asked.session.raises["plan"] = debugger.NotAHead("not a head", hint="tt-debug fork STORE 'trip@15'")
    asked.says = True
    assert run("resume", "my trip.db", "trip@15").err.endswith("hint: tt-debug fork 'my trip.db' 'trip@15'\n")
    assert run("resume", "--yes", "a.db", "trip@15").err.endswith("hint: tt-debug fork STORE 'trip@15'\n")


def test_notices_are_said_once_beside_the_answer(run: Run, asked: Asked) -> None:
    asked.session.notices = ("version 99 is shown \x1b[31mas it is",)
    ran = run("threads", "trip.db", "--json")
    assert ran.err == "note: version 99 is shown ␛[31mas it is\n"
    assert ran.data == []
    assert run("threads", "trip.db", "--json").err == ""
    asked.session.notices = ("another",)
    assert run("threads", "trip.db", "--json").err == "note: another\n"
    [*told] = (cache_folder() / "told").iterdir()
    for each in told:
        os.utime(each, (0, time.time() - 90_000))
    assert run("threads", "trip.db", "--json").err == "note: another\n"


def test_session_is_closed_after_an_error(run: Run, asked: Asked) -> None:
    asked.session.raises["threads"] = store.Corrupt("torn")
    run("threads", "trip.db")
    assert asked.session.closed == 1


def test_every_problem_of_a_definition_is_listed(run: Run, asked: Asked) -> None:
    asked.session.raises["plan"] = debugger.DefinitionError("2 problems", ("line 3: no id", "line 9: no way out"))
    ran = run("resume", "trip.db", "trip")
    assert ran.code == 2
    assert ran.err == "tt-debug: error: 2 problems\n  line 3: no id\n  line 9: no way out\n"


def test_nothing_that_steers_a_terminal_gets_out(run: Run, asked: Asked) -> None:
    asked.session.raises["threads"] = store.NotFound("no \x1b]0;pwn\x07 \x9b31m \u202e thread", hint="\x1b[2J try")
    ran = run("threads", "trip.db")
    assert not set(ran.err) & set("\x1b\x07\x9b\u202e")


def test_passwords_are_masked(run: Run, asked: Asked) -> None:
    asked.session.raises["open"] = store.Unreachable("no server at postgresql://ada:s3cret@db:5432/x, give up")
    ran = run("threads", "postgresql://ada:s3cret@db:5432/x")
    assert ran.code == 3
    assert "s3cret" not in ran.err
    assert "postgresql://ada:" in ran.err


def test_a_usage_error_never_shows_a_password(run: Run) -> None:
    ran = run("threads", "a.db", "postgresql://ada:s3cret@db/x")
    assert ran.code == 2
    assert "s3cret" not in ran.err


def test_a_fault_of_ours_keeps_its_traceback(
    run: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    asked.session.raises["threads"] = ZeroDivisionError("\x1b[31mby zero")
    ran = run("threads", "trip.db")
    assert ran.code == ExitCode.BUG
    assert ran.err.startswith("tt-debug: error: ZeroDivisionError: ␛[31mby zero\nhint: ")
    log = (tmp_path / "state" / "crash.log").read_text()
    assert "Traceback" in log
    assert "\x1b" not in log


def test_interrupted(run: Run, asked: Asked) -> None:
    asked.session.raises["threads"] = KeyboardInterrupt()  # type: ignore[assignment]
    assert run("threads", "trip.db").code == 130


def test_a_connection_string_is_shown_without_its_password() -> None:
    assert exits.masked("no postgresql://me:a@b@h/x and password=it") == "no postgresql://me:***@h/x and password=***"
    target = Target(store="host=h password='it is' dbname=d")
    assert target.word == "'host=h password=*** dbname=d'"
