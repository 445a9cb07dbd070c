"""An application of stock LangGraph writes to a file while we browse, fork and edit it: neither sees an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stores.errors import Conflict
from stores.model import Change
from tests.engine.graph_threads import AGENTS
from tests.left_behind import running
from tt_debug.session.session import Session

TURNS = 15
APPLICATION = """
import sys
import letters
from langgraph.checkpoint.sqlite import SqliteSaver
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    app = letters.builder.compile(checkpointer=saver)
    for turn in range(int(sys.argv[2])):
        app.invoke({"log": ["in"]}, {"configurable": {"thread_id": f"app-{turn % 5}"}})
        print(turn, flush=True)
"""


def test_both_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    path = tmp_path / "t.sqlite"
    command = [sys.executable, "-c", APPLICATION, str(path), str(TURNS)]
    with running(command, cwd=AGENTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as app:
        assert app.stdout is not None
        app.stdout.readline()
        session = Session.open(str(path))
        written = 0
        for _ in app.stdout:  # node prints and turns: once each, we do something
            threads = session.threads()
            if not threads:
                continue  # what its first node prints may come before its first checkpoint
            (info, *_) = threads
            view = session.open_thread(info.thread)
            state = session.load(view.head).state
            if "log" not in state:
                continue  # the very first input, which no step has taken yet
            added = (Change("add", ("log", len(state["log"])), new="ours"),)
            if written % 2:
                session.fork(view.head, f"fork-{written}", added)
            else:
                try:
                    session.edit(view.head, added)
                except Conflict:  # the application was faster
                    continue
            written += 1
        assert app.stderr is not None
        assert (app.stderr.read(), app.wait()) == ("", 0)
    assert written > TURNS / 2
    assert {info.thread for info in session.threads()} >= {"app-0", "app-4", "fork-1"}
    session.close()
