"""threads, log, show, diff, export: text byte for byte (tests/cli/golden), JSON by its names and values."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tests.cli.samples import HOSTILE, ident, sample_session
from tt_debug.cli.front import Front
from tt_debug.cli.main import main

GOLDEN = Path(__file__).parent / "golden"


class Looked:
    """Command lines on the sample store, as if it were the file ``trip.db``."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._front = Front(open_screen=lambda screen: 0, open_session=lambda wanted: sample_session(folder))
        self._capsys = capsys

    def __call__(self, command: str, *words: str) -> Ran:
        code = main((command, "trip.db", *words), self._front)
        written = self._capsys.readouterr()
        return Ran(code, written.out, written.err)


@pytest.fixture
def look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Looked:
    return Looked(tmp_path, capsys)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("threads.txt", ("threads",)),
        ("threads.json", ("threads", "--json")),
        ("log.txt", ("log", "trip")),
        ("log.json", ("log", "trip", "--json")),
        ("log-watch.txt", ("log", "trip", "--watch", "plan.status", "--watch", "length(plan)")),
        ("log-fork.txt", ("log", "trip-eu")),
        ("log-all.txt", ("log", "trip", "--all")),
        ("log-graph.txt", ("log", "trip", "--graph")),
        ("log-graph-all.txt", ("log", "trip", "--graph", "--all")),
        ("show.txt", ("show", "trip@0")),
        ("show.json", ("show", "trip@0", "--json")),
        ("show-hostile.txt", ("show", HOSTILE)),
        ("diff.txt", ("diff", "trip@1")),
        ("diff.json", ("diff", "trip@1", "--json")),
        ("diff-json-patch.txt", ("diff", "trip@1", "--format", "json-patch")),
        ("diff-deepdiff.txt", ("diff", "trip@1", "--format", "deepdiff")),
        ("diff-threads.txt", ("diff", "trip", "trip-eu")),
        ("export.jsonl", ("export", "trip")),
    ],
)
def test_the_bytes_are_the_contract(look: Looked, name: str, words: tuple[str, ...]) -> None:
    """TT_DEBUG_GOLDEN=write writes what is printed now; read the difference before you commit it."""
    ran = look(*words)
    assert (ran.code, ran.err) == (0, "")
    file = GOLDEN / name
    if os.environ.get("TT_DEBUG_GOLDEN") == "write":
        file.write_text(ran.out, encoding="utf-8")
    assert ran.out == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(GOLDEN.iterdir()), ids=lambda file: file.name)
def test_no_golden_file_holds_what_a_terminal_obeys(file: Path) -> None:
    assert not set(file.read_text(encoding="utf-8")) & set("\x1b\x07\x9b\u202e\r")


def test_limits(look: Looked) -> None:
    assert look("threads", "--limit", "0", "--json").data == []
    assert [thread["thread"] for thread in look("threads", "--limit", "2", "--json").data] == [HOSTILE, "trip-eu"]
    for wrong in ("-1", "abc", "1.5", ""):
        ran = look("threads", f"--limit={wrong}")
        assert (ran.code, ran.out) == (2, "")
    assert look("log", "trip", "--limit", "0", "--json").data == []
    assert [row["step"] for row in look("log", "trip", "--limit", "2", "--json").data] == [0, 1]
    assert len(look("log", "trip", "--limit", "99", "--json").data) == 3


def test_threads_are_filtered(look: Looked) -> None:
    def names(*words: str) -> list[str]:
        return [thread["thread"] for thread in look("threads", "--json", *words).data]

    assert names("--filter", "EU") == ["trip-eu"]
    assert names("--status", "unfinished") == ["trip-eu"]
    assert names("--meta", "user=ada", "--filter", "trip") == ["trip-eu", "trip"]
    assert names("--meta", "user=bob") == []
    assert look("threads", "--meta", "user").code == 2
    ran = look("threads", "--status", "finished")
    assert (ran.code, "'unfinished'" in ran.err) == (2, True)


def test_a_fork_names_the_thread_its_parent_stands_in(look: Looked) -> None:
    rows = look("log", "trip-eu", "--json").data
    assert [row["thread"] for row in rows] == ["trip", "trip-eu"]
    assert rows[1]["parent_thread"] == "trip"
    assert rows[1]["parent"] == rows[0]["id"] == ident(0)
    assert "parent_thread" not in rows[0]


def test_a_ref_ends_the_line(look: Looked) -> None:
    assert [row["step"] for row in look("log", "trip@0", "--json").data] == [-1, 0]


def test_everything_is_listed_parents_first(look: Looked) -> None:
    rows = look("log", "trip-eu", "--all", "--json").data
    assert {row["thread"] for row in rows} == {"trip", "trip-eu"}
    seen: set[str] = set()
    for row in rows:
        assert row["parent"] is None or row["parent"] in seen
        seen.add(row["id"])


def test_a_namespace_that_is_not_there(look: Looked) -> None:
    assert look("log", "trip", "--ns", "", "--json").code == 0
    ran = look("log", "trip", "--ns", "research")
    assert ran.code == 3
    assert "no namespace 'research'" in ran.err


@pytest.mark.parametrize("ref", ["nowhere", "trip@9", "trip@~7", "trip@zzzz", "trip@mark:x", "trip@failed", "@1"])
def test_what_is_not_there(look: Looked, ref: str) -> None:
    ran = look("show", ref)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("tt-debug: error: ")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("plan.hotel", "ryokan"),
        ("plan['hotel']", None),
        ('plan["hotel"]', "ryokan"),
        ("/plan/price", 88),
        ("days[1]", 2),
        ("/days/0", 1),
    ],
)
def test_one_value(look: Looked, path: str, value: object) -> None:
    ran = look("show", "trip@0", "--path", path, "--json")
    if value is None:
        assert ran.code == 2
        assert "position" in ran.err
        return
    assert ran.data["value"] == value
    assert json.loads(look("show", "trip@0", "--path", path).out) == value


def test_a_value_that_is_not_there(look: Looked) -> None:
    ran = look("show", "trip@0", "--path", "plan.city")
    assert (ran.code, ran.out) == (3, "")
    assert "plan.city" in ran.err


def test_a_difference_is_an_exit_code_on_request(look: Looked) -> None:
    assert look("diff", "trip@1").code == 0
    assert look("diff", "trip@1", "--exit-code").code == 10
    assert look("diff", "trip@1", "trip@1", "--exit-code").code == 0
    assert look("diff", "trip@1", "--path", "note", "--exit-code").code == 10
    assert look("diff", "trip@0", "--path", "city", "--exit-code").code == 0


def test_a_difference_at_a_path(look: Looked) -> None:
    def at(path: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = look("diff", "trip@1", "--path", path, "--json").data
        return found

    assert at("days") == [{"op": "add", "path": ["days", 2], "new": 3}]
    assert at("/plan/hotel") == [{"op": "change", "path": ["plan", "hotel"], "old": "ryokan", "new": "inn"}]
    assert at("note") == [{"op": "remove", "path": ["note"], "old": "short"}]
    assert look("diff", "trip@1", "--path", "nothing").code == 3


def test_from_the_first_to_the_second(look: Looked) -> None:
    there = look("diff", "trip@0", "trip@1", "--path", "city", "--json").data
    back = look("diff", "trip@1", "trip@0", "--path", "city", "--json").data
    assert (there[0]["old"], there[0]["new"]) == (back[0]["new"], back[0]["old"]) == ("京都", "大阪")


def test_a_root_has_nothing_before_it(look: Looked) -> None:
    assert {row["op"] for row in look("diff", "trip@-1", "--json").data} == {"add"}


def test_an_export_is_what_show_says(look: Looked) -> None:
    lines = look("export", "trip").lines
    assert [line["step"] for line in lines] == [-1, 0, 1]
    assert lines[1] == look("show", "trip@0", "--json").data


def test_looking_can_not_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = []

    def opened(how: object) -> object:
        wanted.append(how)
        return sample_session(tmp_path)

    front = Front(open_screen=lambda screen: 0, open_session=opened)  # type: ignore[arg-type]
    for words in (("threads",), ("log", "trip"), ("show", "trip"), ("diff", "trip"), ("export", "trip"), ("runs",)):
        main((words[0], "trip.db", *words[1:]), front)
    assert [how.read_only for how in wanted] == [True] * 6  # type: ignore[attr-defined]


def test_watches_are_columns_and_say_what_could_not_be_asked(look: Looked) -> None:
    rows = look("log", "trip", "--json", "--watch", "length(`1`)", "--watch", "plan.api_key", "--watch", "nosuch").data
    assert all("invalid type" in row["watched"]["length(`1`)"]["problem"] for row in rows)
    assert all(row["watched"]["plan.api_key"] in ({"missing": True}, {"value": {"$redacted": "text"}}) for row in rows)
    assert all(row["watched"]["nosuch"] == {"missing": True} for row in rows)
    assert "missing" in look("log", "trip", "--watch", "nosuch").out
    assert look("find", "trip", "nosuch", "--changes", "--json").data[0]["missing"] is True
    assert look("log", "trip", "--watch", "a =").code == 2
    assert look("log", "trip", "--graph", "--watch", "a").code == 2
