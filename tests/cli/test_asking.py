"""history, find, grep over real stores, and what they say of what they could not ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Ref, Value
from tests.builders import native_file
from tests.cli.conftest import Ran
from tests.cli.samples import HOSTILE, ident, sample_session
from tests.stores.handmade import Row, handmade, uuid
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.session import questions
from tt_debug.session.session import Session

Ask = Callable[..., Ran]


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    front = Front(open_screen=lambda screen: 0, open_session=lambda wanted: sample_session(tmp_path))

    def call(command: str, *words: str) -> Ran:
        code = main((command, "trip.db", *words), front)
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


def test_history_tells_who_wrote_a_value(ask: Ask) -> None:
    assert ask("history", "trip", "city").out == (
        f'~    1  book  trip@{ident(2)}\n    city  "京都" → "大阪"\n+   -1  input  trip@{ident(0)}\n    city  "京都"\n'
    )
    records = ask("history", "trip", "plan.price", "--json").data
    assert [(r["op"], r["step"], r["nodes"], r["path"]) for r in records] == [
        ("remove", 1, ["book"], ["plan", "price"]),
        ("add", 0, ["plan"], ["plan", "price"]),
    ]
    assert (records[0]["old"], "new" in records[0]) == (88, False)


def test_history_goes_up_from_the_checkpoint_that_is_named(ask: Ask) -> None:
    assert [r["step"] for r in ask("history", "trip@0", "city", "--json").data] == [-1]
    assert ask("history", "trip", "/days/2", "--json").data[0]["new"] == 3
    assert ask("history", "trip", "city", "--limit", "1", "--json").data[0]["step"] == 1


def test_history_of_what_never_was(ask: Ask) -> None:
    ran = ask("history", "trip", "nowhere")
    assert (ran.code, ran.out) == (0, "")
    assert "nothing on the line of trip was ever at nowhere" in ran.err
    assert ask("history", "trip", "a[").code == 2
    assert ask("history", "nobody", "a").code == 3


def test_find_asks_a_line_a_thread_or_every_thread(ask: Ask) -> None:
    kyoto = "city == '京都'"
    assert [r["step"] for r in ask("find", "trip", kyoto, "--json").data] == [-1, 0]
    assert [r["thread"] for r in ask("find", "trip", "city == 'Kraków'", "--all", "--json").data] == ["trip-eu"]
    assert {r["thread"] for r in ask("find", "city", "--json").data} == {"trip", "trip-eu"}
    assert ask("find", "trip", kyoto, "--last", "--json").data[0]["step"] == 0
    assert ask("find", "trip", kyoto, "--first", "--json").data[0]["step"] == -1
    assert [r["value"] for r in ask("find", "trip", "city", "--changes", "--json").data] == ["京都", "大阪"]
    assert ask("find", "trip", "plan", "--bisect", "--json").data[0]["step"] == 0


def test_find_says_what_it_could_not_ask_and_never_that_nothing_holds_unasked(ask: Ask) -> None:
    ran = ask("find", "trip", "length(plan.price)")
    assert ran.out == ""
    assert "1 checkpoint could not answer" in ran.err
    assert "it holds nowhere: 3 checkpoints asked" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("trip", "a ="),
        ("trip", "a", "--first", "--last"),
        ("a", "--bisect"),
        ("trip", "a", "--all", "--changes"),
        ("one", "two", "three"),
        ("trip", "city == '京都'", "--bisect", "--limit", "-1"),
    ],
)
def test_find_refuses_what_means_nothing(ask: Ask, words: tuple[str, ...]) -> None:
    assert ask("find", *words).code == 2


def test_find_by_halving_what_did_not_stay_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row(uuid(n, n), uuid(n - 1, n - 1) if n else None, {"on": n in (3, 5)}, step=n) for n in range(6)]
    path = handmade(tmp_path / "lg.sqlite", rows)
    assert main(("find", str(path), "t", "on", "--bisect")) == 2
    assert "does not stay true" in capsys.readouterr().err


def test_grep_looks_in_every_thread_and_hides_secrets(ask: Ask, tmp_path: Path) -> None:
    found = ask("grep", "ryokan", "--json").lines
    assert [(hit["thread"], hit["path"], hit["excerpt"]) for hit in found] == [("trip", ["plan", "hotel"], "ryokan")]
    assert ask("grep", "RYOKAN", "--case").err.strip() == "nowhere: 5 checkpoints searched"
    assert ask("grep", "").code == 2
    state: dict[str, Value] = {"api_key": "sk-live-123", "note": "sk-live-123"}
    new = NewCheckpoint(Ref("s", "", "1"), None, state, "input")
    path = native_file(tmp_path / "s.db", [new])
    assert main(("grep", str(path), "live")) == 0


def test_grep_hides_a_secret_inside_json_that_is_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state: dict[str, Value] = {"args": '{"api_key": "sk-live-1"}', "note": "[api_key"}
    path = native_file(tmp_path / "j.db", [NewCheckpoint(Ref("s", "", "1"), None, state, "input")])
    assert main(("grep", str(path), "api_key")) == 0
    assert main(("grep", str(path), "sk-live", "--json")) == 0
    said = capsys.readouterr().out
    assert "note: [api_key" in said
    assert "sk-live" not in said


def test_grep_hides_what_lies_under_a_secret_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state: dict[str, Value] = {"api_key": "sk-live-123", "note": "live"}
    path = native_file(tmp_path / "s.db", [NewCheckpoint(Ref("s", "", "1"), None, state, "input")])
    assert main(("grep", str(path), "live")) == 0
    out = capsys.readouterr().out
    assert "api_key: ●●●●" in out
    assert "sk-" not in out
    assert main(("grep", str(path), "live", "--json")) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [("excerpt" in line, line.get("redacted", False)) for line in lines] == [(False, True), (True, False)]
    assert main(("grep", str(path), "live", "--reveal")) == 0
    assert "sk-live-123" in capsys.readouterr().out


def test_nothing_that_steers_a_terminal_gets_out(ask: Ask) -> None:
    for ran in (ask("grep", "pwn"), ask("find", "nothing == `null`"), ask("history", HOSTILE, "half")):
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(ran.out)


def test_a_checkpoint_that_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = Row(uuid(2, 1), uuid(1, 0), step=1, blob=b"\xc1\xff")
    path = handmade(tmp_path / "lg.sqlite", [Row(uuid(1, 0), values={"a": "needle"}), torn])
    assert main(("grep", str(path), "needle")) == 0
    written = capsys.readouterr()
    assert "a: needle" in written.out
    assert f"not searched: t@{uuid(2, 1)}" in written.err
    assert main(("history", str(path), "t", "a")) == 0
    assert "? " in capsys.readouterr().out


def test_a_search_that_is_stopped_says_that_there_may_be_more(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(questions, "grep", pressed)
    ran = ask("grep", "x")
    assert ran.code == 130
    assert "there may be more" in ran.err


def test_find_hides_what_a_secret_name_asks_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state: dict[str, Value] = {"api_key": "sk-live-123", "note": "live"}
    path = native_file(tmp_path / "s.db", [NewCheckpoint(Ref("s", "", "1"), None, state, "input")])
    for words in (("find", str(path), "api_key"), ("find", str(path), "{k: api_key}", "--json")):
        assert main(words) == 0
        assert "sk-live" not in capsys.readouterr().out
    assert main(("find", str(path), "api_key", "--reveal")) == 0
    assert "sk-live" in capsys.readouterr().out


def test_a_whole_store_is_searched_without_looking_for_forks_of_every_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [NewCheckpoint(Ref(f"t{at}", "", "1"), None, {"note": "needle"}, "input") for at in range(5)]
    path = native_file(tmp_path / "s.db", made)
    opened: list[str] = []
    monkeypatch.setattr(Session, "open_thread", lambda self, thread, on_page=None: opened.append(thread))
    assert main(("grep", str(path), "needle", "--json")) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert opened == []


def test_values_that_nobody_can_search_are_said_once_a_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed = [
        Row(uuid(at), uuid(at - 1) if at > 1 else None, step=at, type="msgpack+aes", blob=b"x") for at in (1, 2, 3)
    ]
    path = handmade(tmp_path / "lg.sqlite", sealed)
    assert main(("grep", str(path), "needle")) == 0
    told = capsys.readouterr().err
    assert told.count("not searched") == 1
    assert "is stored as msgpack+aes, and so may be others of the thread" in told
