"""What a run has to pass before it goes on: its line, the files it refers to, its definition and the code behind it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.runs import RunStatus
from stores.supervision import Case
from tests.engine.flows import Bench, bench, write_flow
from tt_debug.definition.code import fingerprint
from tt_debug.definition.load import load_workflow
from tt_debug.definition.versions import NoWay, way
from tt_debug.engine.worker import WorkflowJob, run_workflow

NODES = """
def a(state): return {"trail": [*state.get("trail", []), "a"]}
def b(state): return {"trail": [*state.get("trail", []), "b"]}
def c(state): return {"trail": [*state.get("trail", []), "c"]}
def renamed(state): return {**state, "migrated": True}
def fails(state): raise ValueError("no")
def no_state(state): return ["not", "a", "state"]
"""


def node(id: str, next: str | None, **fields: Any) -> dict[str, Any]:
    return {"id": id, "type": "python", "run": f"gate_nodes:{id}", "next": next, **fields}


LINE = (node("a", "b"), node("b", "c"), node("c", None))


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    """A thread that stopped before its second of three nodes."""
    return stopped(tmp_path)


def stopped(folder: Path, **top: Any) -> Bench:
    (folder / "gate_nodes.py").write_text(NODES)
    made = bench(folder, LINE, **top)
    made.start({})
    assert go(made, until="b") == "paused"
    return made


def go(on: Bench, **fields: Any) -> str:
    on.events.clear()
    return run_workflow(WorkflowJob(on.store.info.path or "", "run-t", **fields), on.events.append).status


def damage(on: Bench, sql: str, *parameters: Any) -> None:
    """Change a row behind the store's back."""
    with closing(sqlite3.connect(on.folder / "store.sqlite")) as db, db:
        db.execute(sql, parameters)


def held(on: Bench, kind: str, why: str) -> None:
    """The run is held by a case of that kind, and nothing was run."""
    run = on.store.run("run-t")
    (case,) = on.store.cases()
    assert (run.shown, run.hold_reason, case.kind) == ("held", kind, kind)
    assert why in str(case.prompt), case.prompt
    assert [step.node for step in on.store.steps("run-t")] == ["a"]
    assert "step_started" not in on.kinds()
    assert on.events[-1].fields["status"] == "held"


def register(on: Bench, version: str, nodes: Any = LINE, **top: Any) -> str:
    """Another definition of the workflow, in the store; its hash."""
    file = on.folder / f"flow-{version}.json"
    file.write_text(json.dumps({"workflow_id": "flow", "version": version, "nodes": nodes, **top}))
    workflow = load_workflow(file)
    on.store.put_definition(workflow.definition())
    return workflow.hash


def test_a_line_that_is_as_it_was_written_passes(on: Bench) -> None:
    assert go(on) == "done"
    assert on.state()["trail"] == ["a", "b", "c"]
    assert [event.data["checkpoint"] for event in on.store.events(["verified"], thread="t")] != []


@pytest.mark.parametrize("row", ["head", "ancestor"])
def test_a_changed_state_holds_the_run_and_the_intact_ones_are_offered(on: Bench, row: str) -> None:
    head = on.store.load(on.store.head("t")).header
    assert head.parent is not None
    which = head.ref if row == "head" else head.parent
    damage(on, "DELETE FROM events")  # nothing was looked at before
    damage(on, "UPDATE checkpoints SET state = replace(state, '}', ', \"x\": 1}') WHERE checkpoint_id = ?", which.id)
    damage(on, "UPDATE checkpoints SET state = replace(state, '{,', '{') WHERE checkpoint_id = ?", which.id)
    assert go(on) == "held"
    held(on, Case.CHECKSUM, f"checkpoint {which.id} of 't' is not what was written: it does not match its checksum")
    (case,) = on.store.cases()
    assert (f"intact, to fork from: t@{head.parent.id}" in str(case.prompt)) == (row == "head")
    if row == "head":
        assert on.store.fork(head.parent, "again").ref.thread == "again"


def test_a_parent_that_was_swapped_or_taken_away_shows(on: Bench) -> None:
    head = on.store.load(on.store.head("t")).header
    damage(on, "DELETE FROM events")
    damage(on, "UPDATE checkpoints SET parent_id = 'another' WHERE checkpoint_id = ?", head.ref.id)
    assert go(on) == "held"
    held(on, Case.CHECKSUM, "its parent is gone")


def test_what_was_found_well_before_is_not_looked_at_again(on: Bench) -> None:
    """A long line is checked from where it was found well; what lies behind that is history, not what runs."""
    first = on.store.headers("t").items[-1].ref
    damage(on, "UPDATE checkpoints SET state = '{\"x\": 1}' WHERE checkpoint_id = ?", first.id)
    on.store.log_event("verified", {"checkpoint": on.store.head("t").id}, thread="t")
    assert on.store.fault(on.store.head("t")) is not None
    assert go(on) == "done"


@pytest.mark.parametrize(("content", "why"), [(None, "which is gone"), (b"other", "which is not what it was")])
def test_a_file_that_the_state_refers_to_has_to_be_there(tmp_path: Path, content: bytes | None, why: str) -> None:
    (tmp_path / "gate_nodes.py").write_text(NODES)
    on = bench(tmp_path, LINE)
    (tmp_path / "image.png").write_bytes(b"pixels")
    digest = hashlib.sha256(b"pixels").hexdigest()
    on.start({"pages": [{"$ref": "file:image.png", "sha256": digest}]})
    assert go(on, until="b") == "paused"
    if content is None:
        (tmp_path / "image.png").unlink()
    else:
        (tmp_path / "image.png").write_bytes(content)
    assert go(on) == "held"
    held(on, Case.CHECKSUM, why)
    (tmp_path / "image.png").write_bytes(b"pixels")
    on.store.resolve(on.store.cases()[0].id, "retry", "Ada")
    assert go(on) == "done"


def test_code_that_has_changed_is_told_of(on: Bench) -> None:
    (on.folder / "gate_nodes.py").write_text(NODES.replace('"c"', '"sea"'))
    assert go(on) == "done"
    assert "note: the code of a, b, c (gate_nodes) has changed since this thread last ran" in [
        event.fields.get("text") for event in on.events
    ]
    assert on.state()["trail"] == ["a", "b", "sea"]


HELPED = {
    "helped_nodes.py": "import json\nimport odd.inner\ndef a(state): return {}\ndef b(state): return {}\n",
    "odd/__init__.py": "",
    "odd/inner.py": "def f():\n    from . import deep\n    from .names import *\n",
    "odd/deep.py": "from helped_nodes import a\n",
    "odd/names.py": "",
    "odd/unused.py": "",
}


def test_the_code_behind_a_node_is_what_its_module_imports_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "odd").mkdir()
    for name, content in HELPED.items():
        (tmp_path / name).write_text(content)
    nodes = [{**node("a", "b"), "run": "helped_nodes:a"}, {**node("b", None), "run": "nowhere:b"}]
    workflow = load_workflow(write_flow(tmp_path, nodes))
    before = fingerprint(workflow)
    assert set(before.modules) == {"helped_nodes", "odd", "odd.inner", "odd.deep", "odd.names"}
    (tmp_path / "odd" / "unused.py").write_text("changed = True\n")
    assert fingerprint(workflow) == before
    (tmp_path / "odd" / "names.py").write_text("changed = True\n")
    after = fingerprint(workflow)
    assert [id for id, code in after.nodes.items() if code != before.nodes[id]] == ["a"]
    assert not {"helped_nodes", "odd"} & set(sys.modules)


def test_code_that_has_changed_holds_where_the_definition_is_strict(tmp_path: Path) -> None:
    on = stopped(tmp_path, strict_code=True)
    (tmp_path / "gate_nodes.py").write_text(NODES + "# changed\n")
    assert go(on) == "held"
    held(on, Case.VERSION, "strict_code")


def test_without_its_code_a_run_is_held(on: Bench) -> None:
    (on.folder / "gate_nodes.py").write_text(NODES.replace("def b(", "def other("))
    assert go(on) == "held"
    held(on, Case.VERSION, "b cannot be run any more: gate_nodes:b: gate_nodes has no 'b'")


RENAMED = (node("a", "b"), {**node("b", "c"), "run": "gate_nodes:c"}, node("c", None))


def test_without_its_code_a_run_goes_on_with_a_definition_that_is_compatible(on: Bench) -> None:
    new = register(on, "2", RENAMED, compatible_with=["1"])
    (on.folder / "gate_nodes.py").write_text(NODES.replace("def b(", "def other("))
    assert go(on) == "done"
    assert on.state()["trail"] == ["a", "c", "c"]
    moved = next(header for header in on.store.headers("t").items if header.source == "migrate")
    assert (moved.meta["workflow_hash"], moved.step, moved.next) == (new, 0, ("b",))
    assert on.store.run("run-t").workflow_hash == new
    assert on.store.fault(on.store.head("t")) is None


def test_a_migration_changes_the_state_in_a_checkpoint_of_its_own(on: Bench) -> None:
    new = register(on, "2", migrations=[{"from": "1", "run": "gate_nodes:renamed"}])
    before = on.store.head("t")
    assert go(on, adopt=new, folder=str(on.folder)) == "done"
    assert on.state() == {"migrated": True, "trail": ["a", "b", "c"]}
    assert "migrated" not in on.store.load(before).state
    assert [header.source for header in on.store.headers("t").items] == ["step", "step", "migrate", "step", "input"]


@pytest.mark.parametrize(
    ("function", "schema", "why"),
    [
        ("fails", None, "failed: ValueError: no"),
        ("no_state", None, "gives a list instead of a state"),
        ("renamed", {"properties": {"migrated": {"type": "string"}}}, "does not allow"),
        ("missing", None, "has no 'missing'"),
    ],
)
def test_a_migration_that_fails_writes_nothing_and_holds(
    on: Bench, function: str, schema: Mapping[str, Any] | None, why: str
) -> None:
    top = {} if schema is None else {"state_schema": schema}
    new = register(on, "2", migrations=[{"from": "1", "run": f"gate_nodes:{function}"}], **top)
    before = on.store.headers("t").items
    assert go(on, adopt=new) == "held"
    held(on, Case.VERSION, why)
    assert [header.ref for header in on.store.headers("t").items] == [header.ref for header in before]
    assert on.store.run("run-t").workflow_hash == on.workflow.hash


def test_a_definition_that_does_not_take_over_holds(on: Bench) -> None:
    new = register(on, "2")
    assert go(on, adopt=new) == "held"
    held(on, Case.VERSION, "2 has no migration from 1, and does not say it is compatible with it")
    damage(on, "UPDATE runs SET workflow_hash = ?", new)


def test_a_case_that_is_decided_lets_the_run_try_again(on: Bench) -> None:
    text = (on.folder / "gate_nodes.py").read_text()
    (on.folder / "gate_nodes.py").write_text(text.replace("def b(", "def other("))
    assert go(on) == "held"
    (on.folder / "gate_nodes.py").write_text(text)
    (case,) = on.store.cases()
    run = on.store.resolve(case.id, "retry", "Ada")
    assert run is not None
    assert run.status == RunStatus.PENDING
    assert go(on) == "done"


def test_the_rule_of_compatible_definitions(tmp_path: Path) -> None:
    def flow(version: str, nodes: Any, **top: Any) -> Any:
        file = tmp_path / "flow.json"
        file.write_text(json.dumps({"workflow_id": "flow", "version": version, "nodes": nodes, **top}))
        return load_workflow(file)

    ask = {"id": "ask", "type": "human_task", "next": None}
    old = flow("1", [node("a", "ask"), ask])
    same = flow("2", [node("a", "ask", retry={"max": 2}), {**ask, "prompt": "Well?"}], compatible_with=["1"])
    assert way(old, same, ["a", "ask"]).migration is None
    other_answer = flow("2", [node("a", "ask"), {**ask, "response_schema": {"type": "boolean"}}], compatible_with=["1"])
    with pytest.raises(NoWay, match="its node ask has another type or answer"):
        way(old, other_answer, ["a", "ask"])
    assert way(old, other_answer, ["a"]).migration is None
    gone = flow("2", [ask], compatible_with=["1"])
    with pytest.raises(NoWay, match="its node a is gone"):
        way(old, gone, ["a"])
    migrated = flow("2", [ask], migrations=[{"from": "1", "run": "gate_nodes:renamed"}])
    assert way(old, migrated, ["a"]).migration is not None
    with pytest.raises(NoWay, match="under the same version"):
        way(old, flow("1", [ask], compatible_with=["1"]), ["a"])
