"""compare: two lines side by side, where they part and why, over real stores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Ref
from tests.builders import native_file
from tests.cli.conftest import Ran
from tests.cli.samples import HOSTILE, ident, sample_session
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.demo import DemoFiles, prepare

Compare = Callable[..., Ran]


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    front = Front(open_screen=lambda screen: 0, open_session=lambda wanted: sample_session(tmp_path))

    def call(*words: str) -> Ran:
        code = main(("compare", "trip.db", *words), front)
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DemoFiles:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    return prepare(tmp_path / "demo")


def test_a_fork_is_set_beside_the_line_that_it_left(compare: Compare) -> None:
    assert compare("trip", "trip-eu").out == (
        f"A  trip@{ident(2)}\n"
        f"B  trip-eu@{ident(11)}\n"
        f"in common up to -1 input  trip@{ident(0)}\n"
        "\n"
        "   A          B          differs in\n"
        "~     0 plan     0 plan  plan, city              they part here\n"
        "<     1 book             city, days, note, plan\n"
        "\n"
        "they part at A 0 plan, B 0 plan: plan started from the same state and wrote something else: "
        "the output of a model or tool differs, or the code\n"
        "  which code ran is not on record\n"
        "  A changed\n"
        '    + plan  {hotel: "ryokan", price: 88}\n'
        "  B changed\n"
        '    ~ city  "京都" → "Kraków"\n'
    )


def test_the_same_as_json(compare: Compare) -> None:
    found = compare("trip", "trip-eu", "--json").data
    assert found["base"]["id"] == ident(0)
    assert [(step["mark"], step["keys"], step["a"]["step"]) for step in found["steps"]] == [
        ("differs", ["plan", "city"], 0), ("only", ["city", "days", "note", "plan"], 1),
    ]  # fmt: skip
    assert found["steps"][1]["b"] is None
    parting = found["parting"]
    assert (parting["a"], parting["b"], parting["cause"]) == (ident(1), ident(11), "output")
    assert parting["changes"]["b"] == [{"op": "change", "path": ["city"], "old": "京都", "new": "Kraków"}]


def test_scripts_ask_by_the_exit_code(compare: Compare) -> None:
    assert compare("trip", "trip-eu", "--exit-code").code == 10
    ran = compare("trip", "trip@head", "--exit-code")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "they do not part")
    assert compare("trip", "nobody").code == 3
    assert compare("trip").code == 2


def test_threads_with_nothing_in_common_and_hostile_names(compare: Compare) -> None:
    ran = compare("trip", HOSTILE)
    assert "nothing in common" in ran.out
    assert "they were given different input" in ran.out
    assert "\x1b" not in ran.out


def test_secrets_are_not_in_the_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        NewCheckpoint(Ref(name, "", ident(at)), None, {"api_key": f"sk-{name}"}, "input")
        for at, name in enumerate(("one", "two"))
    ]
    store = str(native_file(tmp_path / "keys.db", rows))
    assert main(("compare", store, "one", "two")) == 0
    assert "sk-" not in capsys.readouterr().out
    assert main(("compare", store, "one", "two", "--json")) == 0
    assert "sk-" not in capsys.readouterr().out
    assert main(("compare", store, "one", "two", "--reveal")) == 0
    assert "sk-two" in capsys.readouterr().out


def test_an_edited_fork_of_ours_and_two_runs_of_langgraph_s(
    demo: DemoFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("compare", str(demo.native), "旅-奈良 🦌", "旅-奈良 🦌-budget")) == 0
    edited = capsys.readouterr().out
    assert (
        "they part at B 16 fork: the state was edited in B\n  B changed\n    ~ budget.per_night  60000 → 20000"
        in edited
    )
    assert main(("compare", str(demo.native), "旅-奈良 🦌", "旅-奈良 🦌-no-trains")) == 0
    assert "B ends here (paused), A went on with check_trains" in capsys.readouterr().out
    assert main(("compare", str(demo.langgraph), "trip-kyoto", "trip-osaka")) == 0
    assert "they part at A 0 __start__, B 0 __start__: they were given different input" in capsys.readouterr().out
