"""approvals, answer, approve, reject, runs, pause, cancel."""

from __future__ import annotations

import getpass
from dataclasses import replace

import pytest

from stores.errors import Conflict
from stores.runs import Approval
from stores.runs import Run as AnyRun
from tests.cli.conftest import Run
from tests.cli.fakes import AT, Asked

BOOLEAN = {"type": "object", "required": ["approved"], "properties": {"approved": {"type": "boolean"}}}
PLAIN = Approval("aaaa-1", "trip", "", "c1", "book", "Book \x1b[31mit?", None, since=AT)
FORMED = Approval("bbbb-2", "trip", "", "c1", "pay", {"sum": 3}, BOOLEAN, since=AT)
FREE = Approval("bbcc-3", "trip", "", "c1", "name", "Your name?", {"type": "string"}, since=AT)


@pytest.fixture(autouse=True)
def questions(asked: Asked) -> None:
    asked.session.questions = (PLAIN, FORMED, FREE)


def test_the_inbox(run: Run) -> None:
    assert run("approvals", "trip.db").out.splitlines() == [
        "id      thread  node  since (UTC)          status  prompt",
        "aaaa-1  trip    book  2026-09-14 09:12:01  open    Book ␛[31mit?",
        "bbbb-2  trip    pay   2026-09-14 09:12:01  open    {sum: 3}",
        "bbcc-3  trip    name  2026-09-14 09:12:01  open    Your name?",
    ]
    assert run("approvals", "trip.db", "--json").data[1] == {
        "id": "bbbb-2",
        "thread": "trip",
        "ns": "",
        "checkpoint": "c1",
        "node": "pay",
        "prompt": {"sum": 3},
        "schema": BOOLEAN,
        "status": "open",
        "since": "2026-09-14T09:12:01.000000Z",
    }


@pytest.mark.parametrize(
    ("words", "recorded"),
    [
        (("answer", "aaaa-1", '{"yes": 1}'), ("aaaa-1", {"yes": 1}, False)),
        (("answer", "aaaa-1", "null"), ("aaaa-1", None, False)),
        (("approve", "aaaa-1"), ("aaaa-1", True, False)),
        (("approve", "bbbb"), ("bbbb-2", {"approved": True}, False)),
        (("reject", "aaaa-1"), ("aaaa-1", False, False)),
        (("reject", "aaaa-1", "--reason", "too dear"), ("aaaa-1", "too dear", True)),
        (("reject", "bbbb-2"), ("bbbb-2", {"approved": False}, False)),
    ],
)
def test_what_is_recorded(run: Run, asked: Asked, words: tuple[str, ...], recorded: tuple[object, ...]) -> None:
    ran = run(words[0], "trip.db", *words[1:], "--as", "ada")
    assert (ran.code, ran.out) == (0, "trip@a1\n")
    assert ran.err == "recorded as ada; go on with: tt-debug resume trip.db trip\n"
    ident, value, by, reject, _ = asked.session.named("answer")[0]
    assert (ident, value, reject) == recorded
    assert by == "ada"


def test_the_os_user_answers_unless_somebody_else_is_named(run: Run, asked: Asked) -> None:
    run("approve", "trip.db", "aaaa-1")
    assert asked.session.named("answer")[0][2] == getpass.getuser()


def test_a_bare_yes_that_does_not_fit(run: Run, asked: Asked) -> None:
    asked.session.questions = (replace(PLAIN, id="bbcc-3", schema={"enum": ["retry", "skip"]}),)
    ran = run("approve", "trip.db", "bbcc-3")
    assert ran.code == 2
    assert 'a bare yes does not fit what book asks for: answer "retry" | "skip"' in ran.err
    assert "hint: tt-debug answer trip.db bbcc-3 JSON" in ran.err
    assert asked.session.named("answer") == []


def test_an_answer_that_is_no_json(run: Run, asked: Asked) -> None:
    ran = run("answer", "trip.db", "bbcc-3", "Ada")
    assert ran.code == 2
    assert """'"Ada"'""" in ran.err
    assert asked.session.named("answer") == []


def test_an_id_that_fits_two_questions(run: Run, asked: Asked) -> None:
    assert run("approve", "trip.db", "bbcc").code == 2
    assert run("answer", "trip.db", "bbcc", '"Ada"').code == 0
    asked.session.questions = (FORMED, replace(FORMED, id="bbbb-3"))
    assert run("approve", "trip.db", "bbbb").code == 3
    assert run("approve", "trip.db", "bbbb-3").code == 0


def test_a_question_that_a_copied_thread_asks_too(run: Run, asked: Asked) -> None:
    asked.session.questions = (PLAIN, replace(PLAIN, thread="copy"))
    ran = run("approve", "trip.db", "aaaa-1")
    assert ran.code == 2
    assert "copy, trip" in ran.err
    assert "--thread" in ran.err
    assert asked.session.named("answer") == []
    for command in (("approve",), ("reject",), ("answer", "7")):
        words = (command[0], "trip.db", "aaaa-1", *command[1:], "--thread", "copy")
        assert run(*words).code == 0
    assert [call[-1] for call in asked.session.named("answer")] == ["copy"] * 3


def test_a_few_letters_are_no_id(run: Run, asked: Asked) -> None:
    asked.session.questions = (PLAIN,)
    run("approve", "trip.db", "aaa")
    assert asked.session.named("answer")[0][0] == "aaa", "the store refuses it"


def test_a_question_that_was_answered_before_is_the_stores_to_explain(run: Run, asked: Asked) -> None:
    asked.session.raises["answer"] = Conflict("gone was already answered by bob")
    ran = run("answer", "trip.db", "gone", "true")
    assert ran.code == 4
    assert "already answered by bob" in ran.err


def test_runs(run: Run) -> None:
    (found,) = run("runs", "trip.db", "trip", "--json").data
    assert (found["run"], found["thread"], found["status"]) == ("r1", "trip", "done")
    assert run("runs", "trip.db").out.splitlines()[1].startswith("r1   trip    done")


@pytest.mark.parametrize(
    ("what", "status", "said"),
    [
        ("pause", "running", "asked the run of trip to pause"),
        ("cancel", "running", "asked the run of trip to cancel"),
        ("pause", "paused", "the run of trip is paused"),
        ("pause", "waiting_human", "the run of trip is waiting"),
        ("cancel", "cancelled", "the run of trip is cancelled"),
    ],
)
def test_a_run_is_asked_to_stop(run: Run, asked: Asked, what: str, status: str, said: str) -> None:
    asked.session.runs = lambda thread: (AnyRun("r1", "trip", "hash", status),)  # type: ignore[method-assign]
    ran = run(what, "trip.db", "trip")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"{said}\n"
    assert asked.session.named("stop") == [("trip", what)]
