"""doctor: what it finds, and that it never falls over what it finds."""

from __future__ import annotations

import sqlite3

import pytest

from stores.errors import Corrupt
from tests.cli.conftest import Run
from tests.cli.fakes import Asked
from tt_debug.cli.doctor import installation, terminal


def test_without_a_store(run: Run) -> None:
    ran = run("doctor", "--json")
    assert ran.code == 0
    parts = {finding["part"] for finding in ran.data}
    assert {"terminal", "colours", "text", "clipboard", "python", "sqlite", "library"} <= parts
    assert "store" not in parts


def test_with_a_store(run: Run, asked: Asked) -> None:
    asked.session.notices = ("two rows cannot be \x1b[31mread",)
    ran = run("doctor", "trip.db")
    assert ran.code == 0
    assert "✓ store      native trip.db" in ran.out
    assert "! notice     two rows cannot be ␛[31mread" in ran.out


def test_with_a_store_that_cannot_be_read(run: Run, asked: Asked) -> None:
    asked.session.raises["threads"] = Corrupt("page 7 is torn", hint="restore a copy")
    ran = run("doctor", "trip.db")
    assert ran.code == 3
    assert "× store      page 7 is torn\n             restore a copy" in ran.out


@pytest.mark.parametrize(("version", "level"), [((3, 51, 2), "warn"), ((3, 51, 3), "ok"), ((3, 52, 0), "ok")])
def test_an_sqlite_with_the_wal_reset_bug(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int], level: str
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    (found,) = [finding for finding in installation() if finding.part == "sqlite"]
    assert found.level == level
    assert bool(found.advice) == (level == "warn")


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        ({"NO_COLOR": "1"}, "none, as NO_COLOR is set"),
        ({"COLORTERM": "truecolor"}, "16 million"),
        ({"TERM": "xterm-256color"}, "256 (xterm-256color)"),
        ({"TERM": "dumb"}, "unknown, as TERM is dumb"),
        ({}, "unknown, as TERM is not set"),
    ],
)
def test_colours(environ: dict[str, str], colours: str) -> None:
    (found,) = [finding for finding in terminal(environ) if finding.part == "colours"]
    assert found.what == colours
