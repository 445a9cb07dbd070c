"""run, resume and replay: the plan, the question, the stream of events, the exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stores.model import Status
from tests.cli.conftest import Run
from tests.cli.fakes import HEAD, Asked
from tt_debug.engine.events import Event
from tt_debug.session.plans import GraphTarget, RunPlan

WHEN = "2026-09-14T09:12:01.000000Z"


def event(kind: str, **fields: object) -> Event:
    return Event(kind, "r1", "trip", WHEN, fields)


STORY = (
    event("run_started", workflow="trip", version="1.2.0", next=["plan"], base="b"),
    event("step_started", node="plan", step=16, attempt=1),
    event("log", node="plan", text="looking\naround"),
    event("output", stream="stdout", text="\x1b[31mprinted"),
    event("step_failed", node="plan", attempt=1, error="HTTP 502", retry_in=2.0),
    event("step_started", node="plan", step=16, attempt=2),
    event("substep_finished", node="plan", substep="pages", step=16, checkpoint="b2"),
    event("step_finished", node="plan", step=16, checkpoint="c", duration_ms=12.0, next=["book"]),
    event("waiting", node="book", approval="a1", prompt="Book it?", ns=""),
    event("run_ended", status="waiting", head={"thread": "trip", "ns": "", "id": "x"}, error=None),
)


def test_without_a_terminal_the_plan_is_printed_and_nothing_runs(run: Run, asked: Asked) -> None:
    ran = run("resume", "trip.db", "trip")
    assert ran.code == 6
    assert "will execute  plan → book  from step 15" in ran.out
    assert ran.err == (
        "tt-debug: error: nothing has run: there is no terminal to ask on\nhint: add --yes to run this plan\n"
    )
    assert asked.session.named("execute") == []


def test_the_plan_as_json(run: Run) -> None:
    ran = run("resume", "trip.db", "trip", "--json")
    assert ran.code == 6
    assert ran.data["nodes"] == ["plan", "book"]
    assert ran.data["base"] == HEAD._asdict()


def test_a_yes_runs_and_a_no_does_not(run: Run, asked: Asked) -> None:
    asked.says = False
    ran = run("resume", "trip.db", "trip")
    assert ran.code == 6
    assert "will execute" in ran.err
    assert ran.out == ""
    assert asked.session.named("execute") == []
    asked.says = True
    assert run("resume", "trip.db", "trip").code == 0
    assert len(asked.session.named("execute")) == 1


def test_yes_does_not_ask(run: Run, asked: Asked) -> None:
    asked.says = True
    assert run("resume", "trip.db", "trip", "--yes").code == 0
    assert asked.questions == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.DONE, 0),
        (Status.FAILED, 1),
        (Status.CRASHED, 1),
        (Status.CANCELLED, 1),
        (Status.WAITING, 5),
        (Status.PAUSED, 5),
        (Status.HELD, 5),
    ],
)
def test_how_it_ended_is_the_code(run: Run, asked: Asked, status: str, code: int) -> None:
    asked.session.status = status
    assert run("replay", "trip.db", "trip@0", "--yes").code == code


def test_events_are_json_lines_and_the_last_one_is_the_result(run: Run, asked: Asked) -> None:
    asked.session.events, asked.session.status = STORY, Status.WAITING
    ran = run("resume", "trip.db", "trip", "--yes", "--json")
    assert ran.code == 5
    assert [line["event"] for line in ran.lines] == [told.kind for told in STORY]
    assert ran.lines[-1] == {
        "event": "run_ended",
        "run": "r1",
        "thread": "trip",
        "at": WHEN,
        "status": "waiting",
        "head": HEAD.id,
        "error": None,
        "notes": [],
    }


def test_a_child_that_never_said_goodbye_still_gets_a_last_line(run: Run, asked: Asked) -> None:
    asked.session.events, asked.session.status = STORY[:2], Status.CRASHED
    ran = run("resume", "trip.db", "trip", "--yes", "--json")
    assert ran.code == 1
    assert (ran.lines[-1]["event"], ran.lines[-1]["status"]) == ("run_ended", "crashed")


def test_events_as_text(run: Run, asked: Asked) -> None:
    asked.session.events, asked.session.status = STORY, Status.WAITING
    assert run("resume", "trip.db", "trip", "--yes").out.splitlines() == [
        "run      trip  trip 1.2.0",
        "step 16  plan started",
        "log      plan: looking",
        "log      around",
        "stdout   ␛[31mprinted",
        "failed   plan, attempt 1: HTTP 502; again in 2.0s",
        "step 16  plan started, attempt 2",
        "step 16  plan: part pages done",
        "step 16  plan done in 12ms → book",
        "waiting  book asks 'Book it?'  (a1)",
        f"ended    waiting  trip@{HEAD.id}",
    ]


def test_a_name_with_line_ends_looks_like_no_other_event(run: Run, asked: Asked) -> None:
    odd = "plan\nended    done"
    asked.session.events = (
        event("run_started", workflow=odd, version=odd, next=[odd], base="b"),
        event("step_started", node=odd, step=16, attempt=1),
        event("step_finished", node=odd, step=16, checkpoint="c", duration_ms=12.0, next=[odd]),
        event("step_failed", node=odd, attempt=1, error="no", retry_in=None),
        event("waiting", node=odd, approval="q", prompt=odd, ns=""),
    )
    ran = run("resume", "trip.db", "trip", "--yes")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["run", "step", "step", "failed", "waiting", "ended"]


def test_a_plan_has_one_line_for_each_fact_whatever_a_node_is_called(run: Run, asked: Asked) -> None:
    asked.says = False
    asked.session.plan = lambda request: RunPlan(  # type: ignore[method-assign]
        "Run\nnote", request, "workflow", "t", None, 1, ("a\nnote          harmless",), "the\nend"
    )
    ran = run("resume", "trip.db", "trip")
    assert [line.split()[0] for line in ran.err.splitlines()] == ["Run⏎note", "will", "until", "tt-debug:"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_run_goes_on_though_stdout_takes_no_more(asked: Asked, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUNS_TO_THE_END, str(tmp_path / "ended")],
        stdout=os.open("/dev/full", os.O_WRONLY),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, (tmp_path / "ended").exists()) == (3, True)
    assert "cannot be written to stdout: No space left" in done.stderr


RUNS_TO_THE_END = """
import sys
from pathlib import Path
from tt_debug.cli.main import main
from tests.cli.fakes import Asked, FakeSession
from tests.cli.test_running import STORY

class Long(FakeSession):
    def execute(self, plan, on_event):
        self.events = STORY
        result = super().execute(plan, on_event)
        Path(sys.argv[1]).touch()
        return result

sys.exit(main(["resume", "trip.db", "trip", "--yes"], Asked(Long()).front()))
"""


def test_resume_says_what_was_asked(run: Run, asked: Asked, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("")
    words = ("--graph", "./agent.py:graph", "--config", '{"configurable": {"user": "ada"}}', "--env-file", str(env))
    run("resume", "trip.db", "trip@1", *words, "--python", "/venv/python", "--until", "book", "--answer", "null", "-y")
    (request,) = asked.session.named("plan")[0]
    assert request.graph == GraphTarget(
        "./agent.py:graph", {"configurable": {"user": "ada"}}, env, "/venv/python", Path.cwd()
    )
    assert (request.until, request.single_step) == ("book", False)
    assert (request.has_answer, request.answer) == (True, None)
    assert asked.session.opened[0].graph == request.graph


def test_no_answer_is_not_an_answer_of_null(run: Run, asked: Asked) -> None:
    run("resume", "trip.db", "trip", "--yes")
    assert asked.session.named("plan")[0][0].has_answer is False


@pytest.mark.parametrize(
    "words",
    [
        ("--step", "--until", "book"),
        ("--python", "/venv/python"),
        ("--config", "[1]"),
        ("--config", "{"),
        ("--answer", "yes"),
        ("--workflow", "nowhere.yaml"),
    ],
)
def test_options_that_make_no_sense(run: Run, asked: Asked, words: tuple[str, ...]) -> None:
    assert run("resume", "trip.db", "trip", "--yes", *words).code == 2
    assert asked.session.named("execute") == []


def test_text_that_is_not_json_shows_the_quoting(run: Run) -> None:
    ran = run("resume", "trip.db", "trip", "--answer", "it's ok")
    assert ran.code == 2
    assert '--answer "it\'s ok" is not JSON' in ran.err
    assert """hint: a text needs its own quotes inside the shell's: --answer '"it'"'"'s ok"'""" in ran.err


def test_json_that_is_broken_is_not_quoted_as_a_text(run: Run) -> None:
    ran = run("resume", "trip.db", "trip", "--answer", '{"approved": tru}')
    assert ran.code == 2
    assert "hint: put the whole of it into single quotes" in ran.err


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("@in.json", "is not JSON", """--input '{"key": "value"}'"""),
        ("[1]", "must be a JSON object, this is [1]", """--input '{"key": "value"}'"""),
        ('{"n": 1', "is not JSON", "single quotes"),
        ('{"n": 1, "n": 2}', 'the key "n" is there twice', "single quotes"),
        ('{"n": ' + "[" * 9_000 + "]" * 9_000 + "}", "nested too deeply", "single quotes"),
    ],
)
def test_an_input_that_is_no_object(run: Run, text: str, said: str, hint: str) -> None:
    ran = run("run", __file__, "--input", text, "--yes")
    assert ran.code == 2
    assert said in ran.err
    assert f"hint: {hint}" in ran.err or hint in ran.err.splitlines()[1]


def test_read_only_comes_before_everything(run: Run, asked: Asked) -> None:
    for words in (
        ("run", "trip.db"),
        ("resume", "trip.db", "trip"),
        ("replay", "trip.db", "trip@0", "--mode", "live"),
        ("fork", "trip.db", "trip@0"),
        ("edit", "trip.db", "trip@0", "--set", "n=1"),
        ("answer", "trip.db", "a1", "true"),
        ("approve", "trip.db", "a1"),
        ("reject", "trip.db", "a1"),
        ("pause", "trip.db", "trip"),
        ("cancel", "trip.db", "trip"),
    ):
        assert run(*words, "--read-only").code == 7, words
    assert asked.session.opened == []
