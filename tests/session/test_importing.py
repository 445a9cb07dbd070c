"""An export taken back: equal in everything, whole or not at all, and honest about what it could not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Conflict, Unsupported
from stores.model import Ref
from tests.builders import table_file
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.demo import DemoFiles
from tt_debug.errors import UsageError
from tt_debug.redaction import Redaction
from tt_debug.session.importing import import_into
from tt_debug.session.session import Session

Lines = list[dict[str, Any]]


def exported(store: Path | str, *threads: str) -> Lines:
    session = Session.open(str(store))
    try:
        return [dict(line) for thread in threads for line in session.export(thread)]
    finally:
        session.close()


def threads_of(store: Path) -> list[str]:
    session = Session.open(str(store))
    try:
        return [info.thread for info in session.threads()]
    finally:
        session.close()


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Lines], Path]:
    def write(lines: Lines) -> Path:
        file = tmp_path / "thread.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return file

    return write


def test_every_thread_of_a_native_store_comes_back_equal(
    demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    names = threads_of(demo.native)
    lines = exported(demo.native, *names)
    done = import_into(str(tmp_path / "new.db"), written(lines))
    assert dict(done.threads) == {name: sum(line["thread"] == name for line in lines) for name in names}
    assert done.notes == ()
    assert exported(tmp_path / "new.db", *names) == lines
    assert {step["status"] for line in lines for step in line["steps"]} >= {"completed", "failed", "waiting"}
    assert [line for line in lines if line.get("parent_thread")], "a fork across threads is part of it"


def test_what_was_waiting_can_be_answered_there(
    demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    import_into(str(tmp_path / "new.db"), written(exported(demo.native, "offer-17")))
    session = Session.open(str(tmp_path / "new.db"))
    (asked,) = session.approvals()
    session.answer(asked.id, {"approved": True}, "ada")
    (waiting,) = session.runs("offer-17")
    assert waiting.status == "pending"
    assert session.approvals() == ()
    session.close()


def test_a_langgraph_thread_comes_back_with_its_classes_and_tasks(
    tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    names = ["agent-fork", "odd-types", "node-error", "hitl-waiting"]
    lines = exported(unpack(CURRENT, tmp_path), *names)
    done = import_into(str(tmp_path / "new.db"), written(lines))
    assert done.notes == ()
    again = exported(tmp_path / "new.db", *names)
    kept = ("thread", "id", "parent", "step", "source", "nodes", "next", "status", "created", "state", "tasks", "meta")
    assert [{name: line[name] for name in kept} for line in again] == [
        {name: line[name] for name in kept} for line in lines
    ]
    assert "$type" in json.dumps(again)
    assert [task["error"] for line in again for task in line["tasks"] if task["status"] == "failed"]
    # A second generation is like the first.
    import_into(str(tmp_path / "newer.db"), written(again))
    assert exported(tmp_path / "newer.db", *names) == again


def test_what_is_left_out_is_said(tmp_path: Path, written: Callable[[Lines], Path]) -> None:
    lines = exported(unpack(CURRENT, tmp_path), "subgraph-nested")
    inner = sum(bool(line["ns"]) for line in lines)
    done = import_into(str(tmp_path / "new.db"), written(lines))
    assert done.threads == {"subgraph-nested": len(lines) - inner}
    assert f"{inner} checkpoints of subgraphs" in done.notes[0]
    unread = exported(unpack("undecodable.sqlite", tmp_path), "agent-linear")
    done = import_into(str(tmp_path / "other.db"), written(unread))
    assert "8 checkpoints that could not be read" in done.notes[0]
    assert len(exported(tmp_path / "other.db", "agent-linear")) == len(unread) - 8
    with pytest.raises(UsageError, match="subgraphs"):
        import_into(str(tmp_path / "third.db"), written([line for line in lines if line["ns"]]))
    assert not (tmp_path / "third.db").exists()


def test_a_mapped_table_comes_in(tmp_path: Path, written: Callable[[Lines], Path]) -> None:
    url = f"sqlite:///{table_file(tmp_path / 'app.db')}?table=history&thread=run&id=id&parent=prev&state=payload"
    lines = exported(url, "trip")
    import_into(str(tmp_path / "new.db"), written(lines))
    again = exported(tmp_path / "new.db", "trip")
    assert [(line["id"], line["parent"], line["state"]) for line in again] == [
        (line["id"], line["parent"], line["state"]) for line in lines
    ]
    assert [line["step"] for line in again] == [-1, 0, 1, 2, 3, 1]


def test_a_fork_without_its_origin_names_it_and_finds_it_later(
    demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    fork = next(name for name in threads_of(demo.native) if name.endswith("-budget"))
    origin = fork.removesuffix("-budget")
    store = str(tmp_path / "new.db")
    done = import_into(store, written(exported(demo.native, fork)))
    assert "is not here" in done.notes[0]
    assert exported(store, fork) == exported(demo.native, fork)
    assert import_into(store, written(exported(demo.native, origin))).notes == ()
    session = Session.open(store)
    assert {ref.thread for ref in session.open_thread(fork).line()} == {fork, origin}
    session.close()


def test_lines_in_any_order_are_put_parents_first(
    demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    lines = exported(demo.native, "trip-planner")
    import_into(str(tmp_path / "new.db"), written(lines[::-1]))
    again = exported(tmp_path / "new.db", "trip-planner")
    assert [line["id"] for line in again] == [line["id"] for line in lines]
    assert [line["state"] for line in again] == [line["state"] for line in lines]


def test_a_thread_that_exists_ends_it_before_anything_is_written(
    demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    store = tmp_path / "new.db"
    import_into(str(store), written(exported(demo.native, "offer-17")))
    before = exported(store, "offer-17")
    with pytest.raises(Conflict, match="offer-17"):
        import_into(str(store), written(exported(demo.native, "quote-8", "offer-17")))
    assert exported(store, "offer-17") == before
    assert threads_of(store) == ["offer-17"]


def _without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda line: {key: value for key, value in line.items() if key != name}


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "state must be an object, and it is missing": _without("state"),
    "id must be a text, and it is missing": _without("id"),
    "step must be int": lambda line: {**line, "step": "3"},
    "created must be a time": lambda line: {**line, "created": "yesterday"},
    "created must say its zone": lambda line: {**line, "created": "2026-01-02T03:04:05"},
    "nodes must be a list of texts": lambda line: {**line, "nodes": "plan"},
    "64 bits": lambda line: {**line, "state": {"n": 2**70}},
    "ordinal must be a whole number": lambda line: {**line, "steps": [{"run": "r", "ordinal": None}]},
    "is no object": lambda line: [line],
    "is on line 1 too": lambda line: {**line, "id": "first"},
    "descends from itself": lambda line: {**line, "parent": line["id"]},
}


@pytest.mark.parametrize("problem", WRONG)
def test_a_wrong_line_is_named_and_nothing_is_made(
    tmp_path: Path, written: Callable[[Lines], Path], problem: str
) -> None:
    first = {"thread": "t", "id": "first", "parent": None, "step": -1, "created": None, "nodes": [], "state": {}}
    second = {**first, "id": "second", "parent": "first", "step": 0}
    file = written([first, WRONG[problem](second)])  # type: ignore[list-item]
    with pytest.raises(UsageError, match=problem) as refused:
        import_into(str(tmp_path / "new.db"), file)
    assert str(refused.value).startswith(f"{file}:2")
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("text", ["{", '{"thread": NaN}', '"\\ud83d"', "\x00", "\ufeff{}"])
def test_what_is_no_json_is_named_too(tmp_path: Path, text: str) -> None:
    file = tmp_path / "thread.jsonl"
    file.write_text(f"\n{text}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=":2 is not JSON"):
        import_into(str(tmp_path / "new.db"), file)
    file.write_text("\n\n")
    with pytest.raises(UsageError, match="no checkpoint"):
        import_into(str(tmp_path / "new.db"), file)
    assert not (tmp_path / "new.db").exists()


def test_an_export_with_hidden_secrets_is_not_taken_back(
    demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]
) -> None:
    session = Session.open(str(demo.native))
    lines = [dict(line) for line in session.export("trip-planner", Redaction(["budget"]))]
    session.close()
    assert {"$redacted": "number"} in [line["state"].get("budget", {}).get("total") for line in lines]
    with pytest.raises(UsageError, match="hidden") as refused:
        import_into(str(tmp_path / "new.db"), written(lines))
    assert "--reveal" in refused.value.hint


def test_a_store_of_others_takes_nothing_in(demo: DemoFiles, written: Callable[[Lines], Path]) -> None:
    file = written(exported(demo.native, "offer-17"))
    with pytest.raises(Unsupported, match="langgraph"):
        import_into(str(demo.langgraph), file)


def test_an_imported_thread_forks(demo: DemoFiles, tmp_path: Path, written: Callable[[Lines], Path]) -> None:
    import_into(str(tmp_path / "new.db"), written(exported(demo.langgraph, "trip-kyoto")))
    session = Session.open(str(tmp_path / "new.db"))
    base = session.resolve("trip-kyoto@15")
    made = session.fork(base, "fixed")
    assert made.parent == Ref("trip-kyoto", "", base.id)
    assert session.load(made.ref).state == session.load(base).state
    session.close()
