"""The way into the UI: a first word that is no command is a store; without a terminal there is a sentence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.fakes import Asked
from tt_debug.cli.front import Screen, has_screen
from tt_debug.cli.main import open_screen
from tt_debug.session.plans import GraphTarget


def test_without_a_terminal(run: Run, asked: Asked) -> None:
    ran = run("trip.db")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "tt-debug: error: the interface needs a terminal it can draw on, and there is none\n"
        "hint: as text: tt-debug threads trip.db\n"
    )
    assert run().code == 2
    assert run("demo").code == 2
    assert asked.screens == []


def test_a_terminal_that_cannot_move_its_cursor_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert has_screen()
    monkeypatch.setenv("TERM", "dumb")
    assert not has_screen()


def test_a_store_opens(run: Run, asked: Asked) -> None:
    asked.screen = True
    assert run("trip.db").code == 0
    assert run().code == 0
    assert asked.screens == [Screen(("trip.db",)), Screen()]


def test_options_before_and_after_the_store(run: Run, asked: Asked) -> None:
    asked.screen = True
    assert run("--read-only", "trip.db", "--graph", "agent").code == 0
    assert asked.screens == [Screen(("trip.db",), True, GraphTarget("agent", folder=Path.cwd()))]


def test_ascii_is_asked_for_or_left_to_the_terminal(run: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    asked.screen = True
    assert run("trip.db", "--ascii").code == 0
    assert asked.screens == [Screen(("trip.db",), ascii=True)]
    from tt_debug.tui import app

    given: list[object] = []
    monkeypatch.setattr(app, "run_app", lambda *_, ascii_only, **__: given.append(ascii_only) or 0)
    for screen in (Screen(ascii=True), Screen()):
        assert open_screen(screen) == 0
    assert given == [True, None]


def test_a_workflow(run: Run, asked: Asked, tmp_path: Path) -> None:
    asked.screen = True
    file = tmp_path / "flow.yaml"
    file.write_text("")
    assert run("trip.db", "--workflow", str(file)).code == 0
    assert asked.screens[0].workflow == file
    assert run("trip.db", "--workflow", str(file), "--graph", "g").code == 2
    assert run("trip.db", "--workflow", "nowhere.yaml").code == 2


def test_a_mistyped_command_is_not_taken_for_a_store(run: Run, asked: Asked) -> None:
    asked.screen = True
    ran = run("thread", "trip.db")
    assert ran.code == 2
    assert ran.err == (
        "tt-debug: error: 'thread' is neither a command nor a store\nhint: did you mean: tt-debug threads\n"
    )
    assert asked.screens == []


def test_a_file_that_is_called_like_a_command_opens_by_its_path(
    run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.screen = True
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").write_text("")
    assert run("logs").code == 0
    assert run("./log").code == 0
    assert [screen.stores for screen in asked.screens] == [("logs",), ("./log",)]


def test_one_word_too_many(run: Run, asked: Asked) -> None:
    asked.screen = True
    assert run("trip.db", "other.db").code == 2
    assert run("trip.db", "--nonsense").code == 2
    assert asked.screens == []


def test_the_demo_opens_both_files_with_a_tour(
    run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    asked.screen = True
    assert run("demo").code == 0
    (screen,) = asked.screens
    assert screen.tour
    assert len(screen.stores) == 2
    assert all(Path(store).is_file() for store in screen.stores)
    places = run("demo", "--json").data
    assert [places["native"], places["langgraph"]] == list(screen.stores)
    assert screen.graph is not None
    assert screen.graph.graph == places["graph"]


def test_the_demos_places_are_shell_assignments(
    run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "it's here"))
    ran = run("demo", "--print")
    assert ran.code == 0
    assert asked.screens == []
    shown = subprocess.run(
        ["sh", "-c", f'{ran.out}\nprintf "%s\\n" "$NATIVE" "$LANGGRAPH"'], capture_output=True, text=True, check=True
    )
    assert all(Path(line).is_file() for line in shown.stdout.splitlines())


def test_a_reset_makes_the_demo_anew(run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    native = Path(run("demo", "--json").data["native"])
    fresh = native.read_bytes()
    native.write_bytes(b"spoiled")
    run("demo", "--json")
    assert native.read_bytes() == b"spoiled"
    run("demo", "--json", "--reset")
    assert len(native.read_bytes()) == len(fresh)
