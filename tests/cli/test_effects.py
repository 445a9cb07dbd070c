"""effects, resolve and the options about effects, over runs of a store in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell

NODES = """
from pathlib import Path

def once(name, request):
    def call(key):
        with open(Path(__file__).parent / "world.txt", "a") as file:
            file.write(f"{name} {request}\\n")
        if (name, request) == ("mail", "lost"):
            raise TimeoutError("no answer from the gate")
        return {"sent": request, "token": "s3cret"}
    return call

def look(state, ctx):
    return {"seen": ctx.effect("look", once("look", state["to"]), state["to"], cls="repeatable")}

def send(state, ctx):
    return {"mail": ctx.effect("mail", once("mail", state["to"]), state["to"])}
"""
FLOW = {
    "workflow_id": "mail",
    "version": "1",
    "nodes": [
        {"id": "look", "type": "python", "run": "mail_nodes:look", "next": "send"},
        {"id": "send", "type": "python", "run": "mail_nodes:send", "next": None},
    ],
}


@pytest.fixture
def mail(tmp_path: Path, shell: Shell) -> Path:
    """A store with one finished thread."""
    (tmp_path / "mail_nodes.py").write_text(NODES)
    (tmp_path / "mail.json").write_text(json.dumps(FLOW))
    start(shell, "done", "anna")
    return tmp_path


def start(shell: Shell, thread: str, to: str, code: int = 0) -> None:
    given = json.dumps({"to": to})
    shell("run", "m.db", "--workflow", "mail.json", "--thread", thread, "--input", given, "--yes", code=code)


def world(folder: Path) -> list[str]:
    return (folder / "world.txt").read_text().splitlines()


def test_what_was_called_and_what_was_given(mail: Path, shell: Shell) -> None:
    shell("fork", "m.db", "done@-1", "--to", "again", "--run", "--yes")
    assert world(mail) == ["look anna", "mail anna"]
    rows = shell.data("effects", "m.db")
    assert [(row["node"], row["name"], row["class"], row["status"], row["called"]) for row in rows] == [
        ("look", "look", "repeatable", "done", True),
        ("send", "mail", "at_most_once", "done", True),
        ("look", "look", "repeatable", "done", False),
        ("send", "mail", "at_most_once", "done", False),
    ]
    assert rows[0]["key"] == rows[2]["key"]
    assert (rows[1]["request"], rows[1]["result"]["sent"]) == ("anna", "anna")
    assert rows[1]["result"]["token"] != "s3cret"
    text = shell("effects", "m.db", "again").stdout.splitlines()
    assert text[0].split() == ["step", "node", "effect", "class", "status", "how", "result", "key", "at", "(UTC)"]
    assert [line.split()[5] for line in text[1:]] == ["recorded", "recorded"]
    assert [(row["thread"], row["step"]) for row in rows] == [("done", 0), ("done", 1), ("again", 1), ("again", 2)]
    shell("effects", "m.db", "nobody", code=3)
    assert shell.data("effects", "m.db", "--duplicates") == []


def test_an_edited_fork_asks_unless_it_was_decided_before(mail: Path, shell: Shell) -> None:
    edited = ("fork", "m.db", "done@-1", "--set", 'to="otto"', "--run", "--yes")
    held = shell(*edited, "--to", "asks", code=5)
    assert "done before, with another request" in held.stdout
    refused = shell("resume", "m.db", "asks", "--yes", code=5)
    assert "tt-debug resolve" in refused.stderr
    (asked,) = shell.data("approvals", "m.db")
    shell("resolve", "m.db", asked["id"], "--as", "retry", code=2)
    shell("resolve", "m.db", asked["id"][:8], "--as", "new")
    shell("resume", "m.db", "asks", "--yes")
    shell(*edited, "--to", "reuses", "--on-conflict", "reuse")
    assert world(mail) == ["look anna", "mail anna", "look otto", "mail otto"]
    shell(*edited, "--to", "fresh", "--fresh-effects")
    assert world(mail)[4:] == ["look otto", "mail otto"]
    (twice,) = shell.data("effects", "m.db", "asks", "--duplicates") or [None]
    assert twice is None


def test_an_unknown_outcome_is_resolved_by_hand(mail: Path, shell: Shell) -> None:
    start(shell, "lost", "lost", code=5)
    listed = {row["thread"]: row["status"] for row in shell.data("threads", "m.db")}
    assert listed == {"done": "done", "lost": "held"}
    (asked,) = shell.data("approvals", "m.db")
    assert "TimeoutError: no answer from the gate" in asked["prompt"]
    (called,) = (line for line in shell("effects", "m.db", "lost").stdout.splitlines() if "at_most_once" in line)
    assert "null" not in called
    shell("resolve", "m.db", asked["id"], "--as", "skip", "--result", "1", code=2)
    made = shell.data("resolve", "m.db", asked["id"], "--as", "done", "--result", '{"sent": "by hand"}', "--by", "ada")
    assert (made["by"], made["thread"]) == ("ada", "lost")
    shell("resume", "m.db", "lost", "--yes")
    assert world(mail).count("mail lost") == 1
    assert shell("show", "m.db", "lost", "--path", "mail.sent").stdout.strip() == '"by hand"'


def test_a_replay_from_the_record_and_a_verification(mail: Path, shell: Shell) -> None:
    ended = shell.events("replay", "m.db", "done@-1", "--yes")[-1]
    assert (ended["status"], ended["run"], "divergence" in ended) == ("done", "", False)
    shell("replay", "m.db", "done@-1", "--mode", "verify", "--yes")
    code = mail / "mail_nodes.py"
    code.write_text(code.read_text().replace('return {"seen"', 'return {"was": 1, "seen"'))
    events = shell.events("replay", "m.db", "done@-1", "--mode", "verify", "--yes", code=10)
    assert events[-1]["divergence"] == {
        "node": "look",
        "step": 0,
        "what": "output",
        "recorded": {},
        "replayed": {"was": 1},
    }
    told = shell("replay", "m.db", "done@-1", "--mode", "verify", "--yes", code=10)
    assert "look, output: recorded {}, now {was: 1}" in told.stdout
    assert "first divergence: output of look (step 0)" in told.stderr
    shell("replay", "m.db", "done@-1", "--mode", "verify", "--to", "x", "--yes", code=2)
    shell("replay", "m.db", "done@-1", "--mode", "live", "--allow", "never", "--yes", code=2)
    assert world(mail) == ["look anna", "mail anna"]


def test_a_plan_says_what_becomes_of_effects_on_record(mail: Path, shell: Shell) -> None:
    shell("fork", "m.db", "done@0", "--to", "aside")
    plan = shell("resume", "m.db", "aside", code=6).stdout
    assert "on record     mail in send (at_most_once): given from the record where it asks for the same" in plan
    assert "with another request by now, stops there and asks, unless that is decided" in plan
    plan = shell("resume", "m.db", "aside", "--on-conflict", "new", code=6).stdout
    assert "with another request by now, called under a new key" in plan
    plan = shell("replay", "m.db", "done@-1", "--mode", "live", code=6).stdout
    assert "on record     look in look (repeatable), mail in send (at_most_once): called again, under new keys" in plan
