"""stats --size, --nodes and --cost, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Ref, Value
from tests.builders import native_file
from tests.cli.conftest import Ran, Run
from tests.cli.samples import HOSTILE, sample_session
from tt_debug.cli.front import Front, open_session
from tt_debug.cli.main import main
from tt_debug.demo import prepare


def spender(folder: Path) -> str:
    """A thread whose messages say what they used, with names that want to steer the terminal."""

    def ai(number: int) -> dict[str, Value]:
        usage = {"input_tokens": 1000, "output_tokens": 10}
        about = {"model_name": "gpt-4o" if number else HOSTILE}
        return {"type": "ai", "id": f"m{number}", "usage_metadata": usage, "response_metadata": about}

    checkpoints, parent, messages = [], None, list[Value]()
    for number in range(3):
        messages = [*messages, ai(number)]
        ref = Ref("t", "", f"0000000{number}")
        checkpoints.append(NewCheckpoint(ref, parent, {HOSTILE: messages}, "step", nodes=(HOSTILE,)))
        parent = ref
    return str(native_file(folder / "spent.db", checkpoints))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    front = Front(open_screen=lambda screen: 0, open_session=lambda wanted: sample_session(tmp_path))

    def call(*words: str) -> Ran:
        code = main(words, front)
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


def real(*words: str) -> int:
    return main(words, Front(open_screen=lambda screen: 0, open_session=open_session))


def test_all_three_of_the_demo(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    native = str(prepare(home / "demo").native)
    assert real("stats", native, "--size", "--nodes", "--cost") == 0
    text = capsys.readouterr().out
    assert "stood in an older checkpoint too" in text
    assert "p95" in text
    assert "the store's file takes " in text
    assert "no message says what its model call used" in text


def test_json_has_every_figure_under_a_stable_name(run: Run) -> None:
    found = run("stats", "trip.db", "--size", "--nodes", "--cost", "--json").data
    assert set(found) == {"size", "nodes", "cost"}
    assert found["size"]["checkpoints"] == 5
    assert found["size"]["store_bytes"] is None, "it is in memory"
    assert found["size"]["repeated_at_least"] is False
    assert {row["thread"]: row["checkpoints"] for row in found["size"]["threads"]}["trip"] == 3
    key = next(row for row in found["size"]["keys"] if row["key"] == "city")
    assert key["checkpoints"] == 4
    assert found["cost"] == {"currency": "$", "input_tokens": 0, "output_tokens": 0, "cost": None, "by": []}
    assert {"node", "runs", "errors", "p50_seconds", "p95_seconds", "waited_seconds"} <= set(found["nodes"][0])


def test_a_cost_is_told_by_the_users_prices_and_unknown_else(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = spender(home)
    assert real("stats", store, "--cost") == 0
    text = capsys.readouterr().out
    assert "3,030 tokens, cost unknown" in text
    assert "no price for" in text
    assert "\x1b" not in text
    config = home / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[prices."gpt-4o"]\ninput = 2500\noutput = 0\n')
    assert real("stats", store, "--cost") == 0
    text = capsys.readouterr().out
    assert "3,030 tokens, $5.00" in text, "the two calls with a price"
    assert "unknown" in text
    config.write_text('[prices."gpt-4o"]\ninput = "free"\noutput = 0\n')
    assert real("stats", store, "--cost") == 2
    assert str(config) in capsys.readouterr().err


def test_a_thread_or_a_part_of_a_line(run: Run) -> None:
    def checkpoints(*words: str) -> int:
        return int(run("stats", "trip.db", *words, "--size", "--json").data["size"]["checkpoints"])

    assert checkpoints("trip") == 4, "with its fork"
    assert checkpoints("trip", "--line") == 3
    assert checkpoints("trip", "--from", "trip@~1") == 1
    assert checkpoints("trip", "--last", "1m") == 0


@pytest.mark.parametrize(
    "words",
    [
        ("trip",),
        ("--last", "1h"),
        ("--size", "--from", "trip@~1"),
        ("--size", "--line"),
        ("--size", "--check"),
        ("--size", "--last", "tomorrow"),
        ("trip", "--size", "--from", "trip-eu"),
    ],
)
def test_what_says_nothing_together_is_refused(run: Run, words: tuple[str, ...]) -> None:
    refused = run("stats", "trip.db", *words)
    assert refused.code == 2
    assert refused.out == ""


def test_a_store_without_runs_is_told_what_it_can_be_asked(run: Run) -> None:
    refused = run("stats", "trip.db")
    assert refused.code != 0
    assert "--size" in refused.err
