"""Nodes that give and take bytes: references in the history, the bytes for every node, whichever process runs it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.native.sqlite import NativeStore
from stores.supervision import Case
from tests.engine.flows import Bench, bench
from tt_debug.binaries import Binaries
from tt_debug.engine.worker import WorkflowJob, run_workflow
from tt_debug.session.importing import import_into
from tt_debug.session.session import Session

NODES = """
IMAGE = bytes(range(256)) * 4000
def draw(state): return {"image": IMAGE, "thumbs": [{"small": IMAGE[:100]}]}
def look(state):
    assert type(state["image"]) is bytes, type(state["image"])
    return {"seen": len(state["image"]) + len(state["thumbs"][0]["small"])}
def crop(state): return {"image": state["image"][:1000]}
def cached(state): return {"image": IMAGE}
def asks(state, ctx):
    import os, pathlib
    def call():
        with open(os.environ["CALLS"], "a") as file:
            file.write("called ")
        return {"image": IMAGE, "n": 1}
    image = ctx.effect("draw", call, cls="repeatable")["image"]
    assert type(image) is bytes, type(image)
    part = ctx.substep("crop", lambda: image[:2000])
    assert type(part) is bytes, type(part)
    if not pathlib.Path(os.environ["CALLS"]).with_suffix(".go").exists():
        raise ValueError("not yet")
    return {"size": len(image) + len(part)}
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


def test_a_result_that_is_kept_for_its_input_may_hold_bytes(tmp_path: Path) -> None:
    (tmp_path / "image_nodes.py").write_text(NODES)
    on = bench(tmp_path, [node("cached", None, cache=True)])
    for thread in ("t", "u"):
        on.start({}, thread)
        assert run_workflow(WorkflowJob(on.store.info.path or "", f"run-{thread}"), on.events.append).status == "done"
        assert on.store.load(on.store.head(thread)).state["image"].data == IMAGE
    assert [use.called for thread in ("t", "u") for use in on.store.effects(thread)] == [True, False]


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


def test_an_effect_and_a_part_may_give_bytes_which_stay_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    (tmp_path / "image_nodes.py").write_text(NODES)
    on = bench(tmp_path, [node("asks", None)])
    on.start({})
    assert go(on) == "failed"
    assert on.store.run("run-t").error == "ValueError: not yet"
    (effect,) = [use.effect for use in on.store.effects("t")]
    assert effect.result == {"image": {"$blob": DIGEST, "size": len(IMAGE)}, "n": 1}
    assert on.store.blob(DIGEST) == IMAGE
    (tmp_path / "calls.go").touch()
    on.store.requeue("run-t", None)
    assert go(on) == "done"
    assert head_state(on) == {"size": len(IMAGE) + 2000}
    assert (tmp_path / "calls").read_text() == "called "
    lines = list(Session.open(str(on.folder / "store.sqlite")).export("t"))
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    import_into(str(tmp_path / "new.sqlite"), file)
    with closing(NativeStore(tmp_path / "new.sqlite")) as new:
        assert new.blob(DIGEST) == IMAGE
        assert new.blob(hashlib.sha256(IMAGE[:2000]).hexdigest()) == IMAGE[:2000]
