"""run --inputs: one thread per line of a file, told, refused and gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.errors import Conflict
from stores.model import Ref, ThreadInfo
from tests.cli.conftest import Run
from tests.cli.fakes import Asked
from tt_debug.errors import DefinitionChanged
from tt_debug.session.plans import RunPlan, RunRequest, RunResult


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.jsonl"
    file.write_text('{"id": "ada", "n": 1}\n\n{"id": 7, "n": 2}\n{"id": "京都", "n": 3}\n', encoding="utf-8")
    return file


def test_one_thread_per_line(run: Run, asked: Asked, people: Path) -> None:
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "id", "--yes", "--json")
    assert ran.code == 0
    assert [line["thread"] for line in ran.lines] == ["ada", "7", "京都"]
    plans = [given[0] for given in asked.session.named("execute")]
    assert [plan.request.input["n"] for plan in plans] == [1, 2, 3]


def test_the_plan_of_a_batch_names_its_threads(run: Run, asked: Asked, people: Path) -> None:
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "/id")
    assert ran.code == 6
    assert "threads       3, each like this: ada, 7, 京都" in ran.out


def test_a_batch_goes_on_after_what_was_done_before(run: Run, asked: Asked, people: Path) -> None:
    """Threads that are there and came about in another way: the others still start."""

    def plan(request: RunRequest) -> RunPlan:
        if request.thread != "京都":
            raise Conflict(f"thread {request.thread} exists")
        return RunPlan("Run", request, "workflow", "京都", None, None, ("plan",), "the end")

    asked.session.plan = plan  # type: ignore[method-assign]
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "id", "--yes", "--json")
    assert ran.code == 4
    assert [line["thread"] for line in ran.lines] == ["京都"]
    assert ran.err.count("exists") == 2


def test_a_thread_that_exists_does_not_stop_the_others(run: Run, asked: Asked, people: Path) -> None:
    asked.session.raises["execute"] = Conflict("thread exists")
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "id", "--yes")
    assert ran.code == 4
    assert ran.err.count("tt-debug: error: thread exists") == 3


def test_what_a_batch_did_before_is_told_and_nobody_is_asked(run: Run, asked: Asked, people: Path) -> None:
    def plan(request: RunRequest) -> RunPlan:
        thread = str(request.thread)
        done = RunResult("r0", thread, "done", Ref(thread, "", "h0"))
        return RunPlan(f"{thread} is done already", request, "workflow", thread, None, 1, (), "at once", ended=done)

    asked.session.plan = plan  # type: ignore[method-assign]
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "id", "--json")
    assert ran.code == 0
    assert [(line["event"], line["thread"], line["status"]) for line in ran.lines] == [
        ("run_ended", "ada", "done"),
        ("run_ended", "7", "done"),
        ("run_ended", "京都", "done"),
    ]


def test_a_plan_says_how_many_threads_of_a_batch_exist(run: Run, asked: Asked, people: Path) -> None:
    asked.session.infos = tuple(ThreadInfo(name, 3, None, 1, "done", None) for name in ("ada", "other"))
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "id")
    assert "note          of these 1 exist" in ran.out
    assert all(given[0].again for given in asked.session.named("plan"))


def test_all_refused_alike_is_told_once(run: Run, asked: Asked, people: Path) -> None:
    asked.session.raises["plan"] = DefinitionChanged("flow.yaml differs", ("node a is gone",))
    ran = run("run", __file__, "--inputs", str(people), "--id-path", "id", "--yes")
    assert (ran.code, ran.err.count("flow.yaml differs"), ran.err.count("node a is gone")) == (4, 1, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": 1}\nnonsense\n', ":2: not JSON"),
        ('{"id": 1}\n[2]\n', ":2: not a JSON object"),
        ('{"id": 1}\n{"name": 2}\n', ":2: no id at id"),
        ('{"id": 1}\n{"id": null}\n', ":2: the id at id is None"),
        ('{"id": 1}\n{"id": true}\n', ":2: the id at id is True"),
        ('{"id": "a"}\n{"id": "a"}\n', ":2: 'a' is the id of line 1 too"),
        ('{"id": 1}\n{"id": 2, "x": [NaN]}\n', ":2: not JSON: NaN"),
        ('{"id": 1}\n{"id": 2, "id": 3}\n', ':2: not JSON: the key "id" is there twice'),
        ('{"id": 1}\n{"id": 2, "n": 36893488147419103232}\n', ":2: cannot store n as JSON: the integer needs more"),
        ('{"id": 1}\n{"id": "\\ud800"}\n', ":2: cannot store id as JSON: the text holds half"),
        ("", "has no line to run"),
    ],
)
def test_a_bad_line_is_found_before_anything_runs(run: Run, asked: Asked, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    ran = run("run", __file__, "--inputs", str(file), "--id-path", "id", "--yes")
    assert ran.code == 2
    assert said in ran.err
    assert asked.session.named("plan") == []


def test_all_bad_lines_are_told_at_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": 1}\nnonsense\n{"id": 1}\n\n{"id": 2}\n[]\n')
    ran = run("run", __file__, "--inputs", str(file), "--id-path", "id", "--yes")
    assert [line.strip().split(": ")[0] for line in ran.err.splitlines()[1:4]] == [
        "bad.jsonl:2",
        "bad.jsonl:3",
        "bad.jsonl:6",
    ]
    assert "bad.jsonl has 3 lines that cannot be run" in ran.err


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_line(run: Run, asked: Asked, tmp_path: Path) -> None:
    file = tmp_path / "windows.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"id": "a"}\r\n{"id": "b"}\r\n')
    assert run("run", __file__, "--inputs", str(file), "--id-path", "id", "--yes").code == 0
    assert [given[0].thread for given in asked.session.named("execute")] == ["a", "b"]


@pytest.mark.parametrize(
    "words",
    [
        ("--id-path", "id"),
        ("--inputs", "people.jsonl"),
        ("--inputs", "people.jsonl", "--id-path", "id", "--thread", "t"),
        ("--inputs", "people.jsonl", "--id-path", "id", "--input", "{}"),
        ("--inputs", "people.jsonl", "--id-path", "id["),
        ("--input", "[]"),
        ("--input", "text"),
    ],
)
def test_inputs_that_contradict_each_other(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(people.parent)
    assert run("run", __file__, "--yes", *words).code == 2
