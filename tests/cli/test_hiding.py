"""Secrets on the command line: hidden wherever a value is printed, shown with --reveal, named as the user wishes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.conformance import SAMPLE, sample_ref
from stores.model import NewCheckpoint
from stores.runs import Approval
from tests.builders import native_file
from tests.cli.conftest import Ran, Run
from tests.cli.fakes import Asked
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.cli.records import event_record
from tt_debug.engine.events import Event
from tt_debug.redaction import Hidden, Redaction
from tt_debug.session.hiding import hidden_event, hidden_question

OLD = {"user": "ada", "apiKey": "hunter2", "card": {"number": 4111, "valid": True}, "headers": []}
NEW = {
    "user": "eve",
    "apiKey": "hunter3",
    "card": {"number": 4222, "valid": True},
    "headers": [{"name": "Cookie", "value": "hunter4"}],
}
SECRETS = ("hunter", "4111", "4222")


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    first = NewCheckpoint(sample_ref(8, 0, "t"), None, OLD, "input")
    second = NewCheckpoint(sample_ref(9, 1, "t"), first.ref, NEW, "step", meta={"password": "hunter5"})
    store = native_file(tmp_path / "t.db", [*SAMPLE, first, second])
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TT_DEBUG_REDACT", raising=False)

    def call(name: str, *words: str) -> Ran:
        code = main([name, str(store), *words], Front(lambda screen: 0))
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


@pytest.mark.parametrize(
    "words",
    [
        ("show", "t"),
        ("show", "t", "--json"),
        ("show", "t", "--path", "apiKey"),
        ("show", "t", "--path", "apiKey", "--json"),
        ("show", "t", "--path", "card.number"),
        ("show", "t", "--path", "/card"),
        ("show", "t", "--path", "headers[0].value"),
        ("diff", "t"),
        ("diff", "t", "--json"),
        ("diff", "t", "--format", "json-patch"),
        ("diff", "t", "--path", "card"),
        ("diff", "t", "--path", "headers[0].value", "--json"),
        ("export", "t"),
    ],
)
def test_no_secret_is_printed_unless_it_is_asked_for(command: Run, words: tuple[str, ...]) -> None:
    ran = command(*words)
    assert ran.code == 0
    assert not [secret for secret in SECRETS if secret in ran.out]
    assert "●●●●" in ran.out or '"$redacted"' in ran.out
    revealed = command(*words, "--reveal")
    assert [secret for secret in SECRETS if secret in revealed.out]
    assert "●●●●" not in revealed.out
    assert "$redacted" not in revealed.out


def test_a_secret_that_changed_is_seen_to_have_changed(command: Run) -> None:
    said = command("diff", "t").out.splitlines()
    assert "~ apiKey  ●●●● → ●●●●" in said
    assert '~ user  "ada" → "eve"' in said
    changed = {tuple(change["path"]): change for change in command("diff", "t", "--json").data}
    assert changed[("apiKey",)] == {
        "op": "change",
        "path": ["apiKey"],
        "old": {"$redacted": "text"},
        "new": {"$redacted": "text"},
    }
    refused = command("diff", "t", "--format", "deepdiff")
    assert (refused.code, "--reveal" in refused.err) == (2, True)
    assert "hunter3" in command("diff", "t", "--format", "deepdiff", "--reveal").out
    assert "eve" in command("diff", "t", "--format", "deepdiff", "--path", "user").out


def test_what_was_hidden_cannot_be_written_back(command: Run, tmp_path: Path) -> None:
    patch = tmp_path / "patch.json"
    patch.write_text(command("diff", "t", "--format", "json-patch").out)
    refused = command("fork", "t@0", "--patch", str(patch))
    assert (refused.code, "hidden" in refused.err) == (2, True)
    refused = command("fork", "t@0", "--set", 'apiKey={"$redacted": "text"}')
    assert (refused.code, "hidden" in refused.err) == (2, True)


def test_the_users_own_names(command: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TT_DEBUG_REDACT", "user,-api_key")
    said = command("show", "t").out
    assert ("eve" in said, "hunter3" in said) == (False, True)
    (tmp_path / "home" / "config").mkdir(parents=True)
    file = tmp_path / "home" / "config" / "config.toml"
    file.write_text("redact = 3")
    refused = command("show", "t")
    assert (refused.code, str(file) in refused.err) == (2, True)
    assert command("show", "t", "--reveal").code == 0


def test_a_question_and_an_event() -> None:
    asked = Approval("q", "t", "", "c", "ask", {"to": "ada", "password": "hunter2"})
    assert hidden_question(asked, Redaction()).prompt == {"to": "ada", "password": Hidden("text")}
    event = Event("waiting", "r", "t", "now", {"prompt": {"token": "hunter2"}, "node": "ask"})
    assert hidden_event(event, Redaction()).fields["prompt"] == {"token": Hidden("text")}
    shown = event_record(event, Redaction())
    assert json.loads(json.dumps(shown))["prompt"] == {"token": {"$redacted": "text"}}
    assert event_record(event)["prompt"] == {"token": "hunter2"}


QUESTION = Approval("q1", "trip", "", "c", "ask", {"to": "ada", "password": "hunter2"})


@pytest.mark.parametrize("words", [("approvals", "trip.db"), ("approvals", "trip.db", "--json")])
def test_approvals_hide_what_they_ask_about(run: Run, asked: Asked, words: tuple[str, ...]) -> None:
    asked.session.questions = (QUESTION,)
    assert "hunter2" not in run(*words).out
    assert "hunter2" in run(*words, "--reveal").out


@pytest.mark.parametrize(
    "words", [("resume", "trip.db", "trip", "--yes"), ("resume", "trip.db", "trip", "--yes", "--json")]
)
def test_a_run_tells_no_secret(run: Run, asked: Asked, words: tuple[str, ...]) -> None:
    fields = {"node": "ask", "prompt": QUESTION.prompt, "approval": "q1"}
    asked.session.events = (Event("waiting", "r", "trip", "2026-01-02T03:04:05+00:00", fields),)
    assert "hunter2" not in run(*words).out
    assert "hunter2" in run(*words, "--reveal").out
