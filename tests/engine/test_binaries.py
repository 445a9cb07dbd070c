"""Nodes that give and take bytes: references in the history, the bytes for every node, whichever process runs it."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.supervision import Case
from tests.engine.flows import Bench, bench
from tt_debug.binaries import Binaries
from tt_debug.engine.worker import WorkflowJob, run_workflow

NODES = """
IMAGE = bytes(range(256)) * 4000
def draw(state): return {"image": IMAGE, "thumbs": [{"small": IMAGE[:100]}]}
def look(state):
    assert type(state["image"]) is bytes, type(state["image"])
    return {"seen": len(state["image"]) + len(state["thumbs"][0]["small"])}
def crop(state): return {"image": state["image"][:1000]}
def cached(state): return {"image": IMAGE}
"""
IMAGE = bytes(range(256)) * 4000
DIGEST = hashlib.sha256(IMAGE).hexdigest()


def node(id: str, next: str | None, **fields: Any) -> dict[str, Any]:
    return {"id": id, "type": "python", "run": f"image_nodes:{id}", "next": next, **fields}


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    (tmp_path / "image_nodes.py").write_text(NODES)
    edges = [{"when": 'image."$blob" && seen > `0`', "to": "crop"}, {"to": None}]
    made = bench(tmp_path, [node("draw", "look"), {**node("look", None), "next": edges}, node("crop", None)])
    made.start({})
    return made


def go(on: Bench, **fields: Any) -> str:
    on.events.clear()
    return run_workflow(WorkflowJob(on.store.info.path or "", "run-t", **fields), on.events.append).status


def head_state(on: Bench) -> Any:
    return on.store.load(on.store.head("t")).state


def test_a_node_is_given_the_bytes_another_gave_also_after_a_stop(on: Bench) -> None:
    assert go(on, until="look") == "paused"
    drawn = head_state(on)
    assert (drawn["image"].digest, drawn["image"].data) == (DIGEST, IMAGE)
    assert go(on) == "done"
    assert head_state(on)["seen"] == len(IMAGE) + 100
    assert head_state(on)["image"].data == IMAGE[:1000]
    states = [on.store.load(header.ref).state for header in on.store.headers("t").items]
    assert sum(getattr(state.get("image"), "digest", None) == DIGEST for state in states) == 2
    with closing(sqlite3.connect(on.folder / "store.sqlite")) as db:
        assert max(size for (size,) in db.execute("SELECT length(state) FROM checkpoints")) < 1000
        assert db.execute("SELECT output FROM steps WHERE node = 'draw'").fetchone()[0].count("$blob") == 2


@pytest.mark.parametrize("damage", ["DELETE FROM chunks", "UPDATE chunks SET data = x'00'"])
def test_nothing_is_run_on_a_state_whose_bytes_are_gone(on: Bench, damage: str) -> None:
    assert go(on, until="look") == "paused"
    with closing(sqlite3.connect(on.folder / "store.sqlite")) as db, db:
        db.execute(f"{damage} WHERE hash = ?", (bytes.fromhex(DIGEST),))
    assert go(on) == "held"
    (case,) = on.store.cases()
    assert case.kind == Case.CHECKSUM
    assert DIGEST in str(case.prompt)
    assert "image" in str(case.prompt)
    first = on.store.headers("t").items[-1].ref
    assert f"intact, to fork from: t@{first.id}" in str(case.prompt)
    assert "step_started" not in on.kinds()


def test_an_edit_of_another_value_keeps_the_bytes(on: Bench) -> None:
    from stores.model import Change

    assert go(on, until="look") == "paused"
    head = on.store.head("t")
    edited = on.store.fork(head, "t", [Change("remove", ("thumbs",))])
    assert on.store.load(edited.ref).state["image"].data == IMAGE


def test_a_node_whose_result_is_kept_for_its_input_may_give_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "image_nodes.py").write_text(NODES)
    on = bench(tmp_path, [node("cached", None, cache=True)])
    on.start({})
    assert go(on) == "failed"
    assert "image" in str(on.store.run("run-t").error)


def test_bytes_are_read_once_for_a_line_of_nodes() -> None:
    asked: list[str] = []

    def read(digest: str) -> bytes:
        asked.append(digest)
        return IMAGE

    binaries = Binaries(read)
    text = Binaries().text({"image": IMAGE})
    for _ in range(3):
        assert binaries.handed(text) == {"image": IMAGE}
    assert asked == [DIGEST]
    assert binaries.given == {}
    binaries.taken({"image": IMAGE})
    assert list(binaries.given) == [DIGEST]
    binaries.stored()
    assert binaries.given == {}
