"""Edits of a LangGraph thread while a run of ours drives it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stores.errors import Conflict
from stores.model import Change
from tests.engine.graph_threads import AGENTS, started, stored_log
from tt_debug.engine.events import Event
from tt_debug.session.plans import GraphTarget, RunRequest
from tt_debug.session.session import Session


def test_an_edit_is_refused_while_a_run_drives_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on from what it holds in memory: its next checkpoint would silently overtake the edit."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    path = started(tmp_path / "t.sqlite", "letters:builder", interrupt_before=["b"])
    session = Session.open(str(path), graph=GraphTarget("letters:graph", folder=AGENTS))
    edit = (Change("add", ("log", 2), new="edited"),)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    monkeypatch.setenv("GATE", str(gate))
    monkeypatch.setenv("GATE_AT", "b")
    seen: list[str] = []

    def listen(event: Event) -> None:
        if event.kind == "step_started" and not seen:
            with pytest.raises(Conflict, match=r"process \d+ is running thread 't'") as caught:
                session.edit(session.resolve("t"), edit)
            seen.append(caught.value.hint)
            session.fork(session.resolve("t"), "beside", edit)
            gate.write_bytes(b"")

    assert session.execute(session.plan(RunRequest("resume", session.resolve("t"))), listen).status == "done"
    assert len(seen) == 1
    assert stored_log(path) == ["in", "a", "b", "c", "d"]
    assert stored_log(path, "beside") == ["in", "a", "edited"]
    session.edit(session.resolve("t"), (Change("add", ("log", 5), new="after"),))
