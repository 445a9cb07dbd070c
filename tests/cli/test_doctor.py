"""doctor: what it finds, and that it never falls over what it finds."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores import health
from stores.conformance import SAMPLE
from stores.errors import Corrupt
from tests.builders import langgraph_file, native_file, table_file
from tests.cli.conftest import Run
from tests.cli.fakes import Asked
from tests.cli.shell import Shell
from tt_debug.cli import machine_checkup
from tt_debug.cli.machine_checkup import installation, own_files, terminal


def test_without_a_store(run: Run) -> None:
    ran = run("doctor", "--json")
    assert ran.code == 0
    parts = {finding["part"] for finding in ran.data}
    assert {"terminal", "colours", "text", "clipboard", "editor", "python", "sqlite", "library", "settings"} <= parts
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


@pytest.mark.parametrize(
    ("environ", "level"),
    [
        ({}, "ok"),
        ({"TMUX": "/tmp/tmux"}, "ok"),
        ({"STY": "1.pts"}, "warn"),
        ({"TERM_PROGRAM": "Apple_Terminal"}, "warn"),
        ({"VTE_VERSION": "7600"}, "warn"),
    ],
)
def test_a_clipboard(environ: dict[str, str], level: str) -> None:
    (found,) = [finding for finding in terminal(environ) if finding.part == "clipboard"]
    assert found.level == level
    assert found.advice


@pytest.mark.parametrize(
    ("environ", "level"),
    [
        ({}, "ok"),
        ({"EDITOR": "sh -c true"}, "ok"),
        ({"VISUAL": "no-such-editor --wait", "EDITOR": "sh"}, "warn"),
        ({"EDITOR": "'"}, "warn"),
    ],
)
def test_an_editor(environ: dict[str, str], level: str) -> None:
    (found,) = [finding for finding in terminal(environ) if finding.part == "editor"]
    assert found.level == level


@pytest.mark.parametrize(
    ("name", "version", "level"),
    [
        ("textual", "8.2.8", "ok"),
        ("textual", "9.0.0rc1", "bad"),
        ("tree-sitter", "0.26.1", "bad"),
        ("networkx", None, "bad"),
        ("pysqlite3", "0.5", "bad"),
    ],
)
def test_a_library_that_will_not_do(
    monkeypatch: pytest.MonkeyPatch, name: str, version: str | None, level: str
) -> None:
    real = machine_checkup._version
    monkeypatch.setattr(machine_checkup, "_version", lambda asked: version if asked == name else real(asked))
    assert [finding.level for finding in installation() if finding.what.startswith(name)] == [level]


def test_settings_and_folders_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    assert {finding.part: finding.level for finding in own_files()} == {"settings": "ok", "state": "ok"}
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir()
    for text, level in (("redact = []", "ok"), ("redakt = []", "warn"), ("redact = 1", "bad"), ("redact", "bad")):
        file.write_text(text)
        (found,) = [finding for finding in own_files() if finding.part == "settings"]
        assert found.level == level
        assert str(file) in found.what
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "crash.log").write_text("Traceback")
    assert [finding.level for finding in own_files() if finding.part == "faults"] == ["warn"]
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert [finding.level for finding in own_files() if finding.part == "state"] == ["bad"]


@pytest.mark.parametrize(
    ("name", "part", "says", "code"),
    [
        ("orphan_parent.sqlite", "history", "warn: 2 checkpoints: its parent is not in the store", 0),
        ("orphan_parent.sqlite", "history", "warn: 1 checkpoint: the step that called it is not in the store", 0),
        ("parent_cycle.sqlite", "history", "circles of parents", 0),
        ("undecodable.sqlite", "history", "checkpoints: its content is not a checkpoint", 0),
        ("undecodable.sqlite", "history", "warn: 4 checkpoints have problems of other kinds", 0),
        ("truncated_60pct.sqlite", "file", "bad: SQLite finds it damaged", 3),
        ("not_a_database.sqlite", "store", "bad: ", 3),
        ("no_writes_table.sqlite", "notice", "warn: ", 0),
    ],
)
def test_a_file_that_is_wrong(shell: Shell, tmp_path: Path, name: str, part: str, says: str, code: int) -> None:
    path = langgraph_file(name, tmp_path)
    found = {
        f"{finding['level']}: {finding['what']}"
        for finding in shell.data("doctor", path, code=code)
        if finding["part"] == part
    }
    assert [line for line in found if says in line]


def test_a_sound_file(shell: Shell, tmp_path: Path) -> None:
    path = native_file(tmp_path / "trip.db")
    found = [finding for finding in shell.data("doctor", path) if finding["part"] in ("history", "file", "notice")]
    assert [finding["level"] for finding in found] == ["ok", "ok"]
    assert found[0]["what"] == "8 checkpoints looked at, every parent is there"


def test_what_lies_beside_a_file(shell: Shell, tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", SAMPLE, journal_mode="wal")
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO history (run, id, payload) VALUES ('r', 'x', '{}')")
        db.commit()
        assert health.beside(path)["-wal"] > 0
        found = shell.data("doctor", path)
        assert [finding for finding in found if "app.db-wal" in finding["what"]]
    assert health.beside(path) == {}


def test_a_file_system_over_the_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(health, "_MOUNTS", mounts)
    assert health.network_filesystem(tmp_path / "a.db") is None
    lines = [
        "/dev/sda / ext4 rw 0 0",
        f"host:/x {tmp_path.resolve()} nfs4 rw 0 0",
        f"t {tmp_path.resolve()}/tmp tmpfs rw",
    ]
    mounts.write_text("\n".join(lines))
    assert health.network_filesystem(tmp_path / "a.db") == "nfs4"
    assert health.network_filesystem(tmp_path / "tmp" / "a.db") is None
    assert health.network_filesystem(tmp_path.parent / "a.db") is None


def test_a_file_too_large_to_be_read_from_end_to_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = native_file(tmp_path / "trip.db")
    assert health.faults(path) == ()
    monkeypatch.setattr(health, "LONGEST_CHECK", 1000)
    assert health.faults(path) is None


def test_the_stores_that_the_environment_names_are_told_without_their_passwords() -> None:
    environ = {"TT_DEBUG_STORE": "postgresql://me:s3cret@db/app", "PGHOST": "db", "PGPASSWORD": "s3cret"}
    told = [line for finding in machine_checkup.configured(environ) for line in finding.lines()]
    assert "s3cret" not in "".join(told)
    assert any("TT_DEBUG_STORE names postgresql://me:***@db/app" in line for line in told)
    assert any("the PG* variables name postgresql://db/" in line for line in told)
    assert list(machine_checkup.configured({})) == []


def test_a_checkpoint_that_is_not_what_was_written_is_named(tmp_path: Path) -> None:
    path = native_file(tmp_path / "native.sqlite")
    shell = Shell(tmp_path)
    assert [f["level"] for f in shell.data("doctor", path) if f["part"] == "content"] == ["ok"]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE checkpoints SET state = '{\"other\":1}' WHERE checkpoint_id = ?", (SAMPLE[5].ref.id,))
    found = [f for f in shell.data("doctor", path, code=3) if f["part"] == "content"]
    assert [f["level"] for f in found] == ["bad"]
    assert f"{SAMPLE[5].ref.thread}@{SAMPLE[5].ref.id}: it does not match its checksum" in found[0]["what"]
