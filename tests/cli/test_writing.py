"""fork and edit: what is typed becomes changes, in order; the answer is a REF; stderr says what happened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.errors import Conflict, Invalid
from stores.model import MISSING, Change
from tests.cli.conftest import Run
from tests.cli.fakes import HEAD, MIDDLE, Asked


def changes(asked: Asked, call: str = "fork") -> tuple[Change, ...]:
    """What the session was asked to change."""
    place = 2 if call == "fork" else 1
    found: tuple[Change, ...] = asked.session.named(call)[-1][place]
    return found


def test_a_fork_prints_its_ref_and_says_what_it_did(run: Run) -> None:
    ran = run("fork", "trip.db", "trip@0", "--set", "n=3")
    assert ran.code == 0
    assert ran.out == "trip-fork-1@f1\n"
    assert ran.err == f"forked trip@{MIDDLE.id} → trip-fork-1, 1 change\n"


def test_a_fork_as_json(run: Run) -> None:
    ran = run("fork", "trip.db", "trip@0", "--to", "other", "--json")
    assert ran.data == {"thread": "other", "ns": "", "id": "f1", "parent": MIDDLE.id, "parent_thread": "trip"}


def test_a_fork_never_asks(run: Run, asked: Asked) -> None:
    asked.says = False
    assert run("fork", "trip.db", "trip@0").code == 0
    assert asked.questions == []


def test_without_changes_no_state_is_loaded(run: Run, asked: Asked) -> None:
    run("fork", "trip.db", "trip@0")
    assert asked.session.named("load") == []
    assert changes(asked) == ()


def test_set_and_unset_become_changes(run: Run, asked: Asked) -> None:
    run("fork", "trip.db", "trip@0", "--set", 'city="Kyoto"', "--unset", "n", "--set", "new=[1, null]")
    assert changes(asked) == (
        Change("change", ("city",), "京都", "Kyoto"),
        Change("remove", ("n",), 0),
        Change("add", ("new",), MISSING, [1, None]),
    )


def test_the_order_typed_is_the_order_applied(run: Run, asked: Asked) -> None:
    run("edit", "trip.db", "trip@0", "--set", "l=[1,2]", "--unset", "l[0]", "--set", "l[0]=9", "--unset", "l[0]")
    state: dict[str, object] = {"city": "京都", "n": 0}
    from stores.changes import apply_changes

    assert apply_changes(state, changes(asked, "edit")) == {"city": "京都", "n": 0, "l": []}


def test_a_patch_file(run: Run, asked: Asked, tmp_path: Path) -> None:
    patch = tmp_path / "p.json"
    patch.write_text(json.dumps([{"op": "replace", "path": "/n", "value": 5}]))
    run("fork", "trip.db", "trip@0", "--patch", str(patch), "--set", "n=6")
    assert [change.new for change in changes(asked)] == [5, 6]
    assert changes(asked)[1].old == 5


@pytest.mark.parametrize("text", ["{}", "nonsense", "[1]", '[{"op": "nonsense", "path": "/n"}]'])
def test_a_patch_file_that_is_none(run: Run, asked: Asked, tmp_path: Path, text: str) -> None:
    patch = tmp_path / "p.json"
    patch.write_text(text)
    assert run("fork", "trip.db", "trip@0", "--patch", str(patch)).code == 2
    assert asked.session.named("fork") == []


@pytest.mark.parametrize("typed", ["n", "=3", "n=", "n=text", "n[=1", "n=1 2", "nothing.deep=1"])
def test_what_is_no_change(run: Run, asked: Asked, typed: str) -> None:
    ran = run("fork", "trip.db", "trip@0", "--set", typed)
    assert (ran.code, ran.out) == (2, "")
    assert asked.session.named("fork") == []


def test_a_text_without_quotes_is_shown_with_them(run: Run) -> None:
    ran = run("fork", "trip.db", "trip@0", "--set", "city=Kyoto")
    assert ran.code == 2
    assert """'city="Kyoto"'""" in ran.err


def test_unset_of_what_is_not_there(run: Run) -> None:
    assert run("fork", "trip.db", "trip@0", "--unset", "nothing").code == 2


def test_the_store_has_the_last_word(run: Run, asked: Asked) -> None:
    asked.session.raises["fork"] = Conflict("thread 'other' exists", hint="choose another --to")
    assert run("fork", "trip.db", "trip@0", "--to", "other").code == 4
    asked.session.raises["fork"] = Invalid("n: 2**64 does not fit")
    assert run("fork", "trip.db", "trip@0", "--set", "n=18446744073709551616").code == 2


def test_code_without_a_run(run: Run, asked: Asked) -> None:
    assert run("fork", "trip.db", "trip@0", "--graph", "agent").code == 2
    assert asked.session.named("fork") == []


def test_an_edit_says_that_it_becomes_the_head(run: Run) -> None:
    ran = run("edit", "trip.db", "trip@0", "--set", "n=3")
    assert (ran.code, ran.out) == (0, "trip@e1\n")
    assert "the application goes on from e1 now" in ran.err


@pytest.mark.parametrize("command", ["fork", "edit"])
def test_a_head_that_is_not_the_one_that_was_seen_is_refused(run: Run, asked: Asked, command: str) -> None:
    words = ("trip.db", "trip@0", "--set", "n=3", "--expect-head")
    ran = run(command, *words, MIDDLE.id)
    assert ran.code == 4
    assert f"the head of 'trip' is {HEAD.id} by now, not {MIDDLE.id}" in ran.err
    assert asked.session.named(command) == []
    assert run(command, *words, HEAD.id).code == 0


def test_an_edit_of_nothing(run: Run) -> None:
    assert run("edit", "trip.db", "trip@0").code == 2


def test_fork_and_run_is_one_stream(run: Run, asked: Asked) -> None:
    ran = run("fork", "trip.db", "trip@0", "--set", "n=3", "--run", "--yes", "--json")
    assert ran.code == 0
    assert [line["event"] for line in ran.lines] == ["forked", "run_ended"]
    assert ran.lines[0]["thread"] == "trip-fork-1"
    assert ran.lines[1]["head"] == HEAD.id
    (request,) = asked.session.named("plan")[0]
    assert (request.action, request.ref.thread) == ("resume", "trip-fork-1")


def test_fork_and_run_without_a_terminal_forks_and_prints_the_plan(run: Run, asked: Asked) -> None:
    ran = run("fork", "trip.db", "trip@0", "--run")
    assert ran.code == 6
    assert ran.out.splitlines()[0] == "trip-fork-1@f1"
    assert "will execute" in ran.out
    assert asked.session.named("execute") == []
