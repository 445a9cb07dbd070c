"""A LangGraph server from the command line."""

from __future__ import annotations

import pytest

from tests.cli.shell import Shell
from tests.langgraph_server import Server


@pytest.fixture
def server(langgraph_server: Server) -> Server:
    return langgraph_server


def test_a_thread_is_listed_shown_compared_forked_answered_and_resumed(server: Server, shell: Shell) -> None:
    thread = server.thread("trip", {"city": "Łódź", "notes": []})
    (listed,) = [row for row in shell.data("threads", server.url) if row["thread"] == thread]
    assert (listed["status"], listed["step"], listed["checkpoints"]) == ("waiting", 2, None)
    assert [row["step"] for row in shell.data("log", server.url, thread)] == [-1, 0, 1, 2]
    assert shell.data("show", server.url, thread)["state"]["city"] == "Łódź"
    changes = shell.data("diff", server.url, f"{thread}@1", f"{thread}@2")
    assert {row["path"][0] for row in changes} == {"notes"}
    fork = shell.data("fork", server.url, f"{thread}@1", "--set", 'city="Kraków"', "--set", "notes=[]")
    assert fork["thread"] != thread
    assert shell.data("show", server.url, fork["thread"])["state"] == {
        "city": "Kraków",
        "notes": [],
        "plan": {"city": "Łódź", "days": 3},
    }
    (asked,) = [row for row in shell.data("approvals", server.url) if row["thread"] == thread]
    shell("answer", server.url, asked["id"], '"yes"', "--thread", thread)
    planned = shell("resume", server.url, thread, code=6)
    assert "on the server" in planned.stdout
    events = shell.events("resume", server.url, thread, "--yes")
    assert events[-1]["status"] == "done"
    assert len(shell("export", server.url, thread).stdout.splitlines()) == 10


def test_errors_say_what_to_do(server: Server, shell: Shell) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    taken = shell("fork", server.url, thread, "--to", "mine", code=2)
    assert "leave out the new thread's name" in taken.stderr
    wrong = shell("fork", server.url, thread, "--set", "nothing=1", code=2)
    assert "no such channel" in wrong.stderr
    nobody = shell("threads", "langgraph+http://127.0.0.1:1", code=3)
    assert "langgraph dev" in nobody.stderr
