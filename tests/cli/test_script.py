"""The main job through the command line alone, as a script would do it: real stores, real processes, --json."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell
from tt_debug.demo import DemoFiles, prepare


@pytest.fixture
def demo(tmp_path: Path) -> DemoFiles:
    return prepare(tmp_path / "demo")


def lines_of(shell: Shell, store: Path, thread: str) -> list[str]:
    """A thread, one text a checkpoint."""
    return shell("export", store, thread).stdout.splitlines()


@pytest.mark.parametrize("kind", ["native", "langgraph"])
def test_fork_at_15_set_the_field_that_misled_and_resume(shell: Shell, demo: DemoFiles, kind: str) -> None:
    store, thread = (demo.native, "trip-planner") if kind == "native" else (demo.langgraph, "trip-kyoto")
    code: tuple[str, ...] = () if kind == "native" else ("--graph", demo.graph)
    assert thread in [found["thread"] for found in shell.data("threads", store)]
    before = lines_of(shell, store, thread)

    log = shell.data("log", store, thread)
    assert [row["step"] for row in log] == list(range(-1, 22))
    hotel = shell.data("diff", store, f"{thread}@17", "--path", "hotel")
    assert hotel[0]["new"]["per_night"] == 88000
    assert shell.data("show", store, f"{thread}@15", "--path", "budget.per_night")["value"] == 96000

    words = ("fork", store, f"{thread}@15", "--to", "fixed", "--set", "budget.per_night=32000")
    made = shell.data(*words)
    assert made["thread"] == "fixed"
    assert shell.data("diff", store, f"{thread}@15", "fixed")[0] == {
        "op": "change",
        "path": ["budget", "per_night"],
        "old": 96000,
        "new": 32000,
    }
    shell(*words, code=4)

    plan = shell.data("resume", store, "fixed", *code, code=6)
    assert plan["nodes"][0] == "rank_hotels"
    events = shell.events("resume", store, "fixed", *code, "--yes")
    ran = [event["node"] for event in events if event["event"] == "step_finished"]
    assert ran == ["rank_hotels", "choose_hotel", "reserve_hotel", "invoice", "check_total", "write_summary"]
    last = events[-1]
    assert (last["event"], last["thread"], last["status"]) == ("run_ended", "fixed", "done")
    assert all(event["at"].endswith("Z") for event in events)
    assert shell.data("log", store, "fixed")[-1]["id"] == last["head"]
    assert shell.data("show", store, "fixed", "--path", "verdict")["value"] == "within the budget"

    assert lines_of(shell, store, thread) == before
    shell("resume", store, f"{thread}@15", *code, "--yes", code=4)


def test_looking_leaves_the_files_as_they_were(shell: Shell, demo: DemoFiles) -> None:
    def state() -> dict[str, str]:
        files = sorted(demo.native.parent.iterdir())
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}

    before = state()
    for store, thread in ((demo.native, "trip-planner"), (demo.langgraph, "trip-kyoto")):
        for words in (
            ("threads", store),
            ("log", store, thread, "--all"),
            ("log", store, thread, "--graph"),
            ("show", store, f"{thread}@15"),
            ("diff", store, f"{thread}@17"),
            ("runs", store),
            ("approvals", store),
            ("export", store, thread),
            ("doctor", store),
        ):
            shell(*words)
    assert state() == before


def test_an_approval_and_a_resume(shell: Shell, demo: DemoFiles) -> None:
    (asked,) = shell.data("approvals", demo.native)
    refused = shell("resume", demo.native, asked["thread"], "--yes", code=5)
    assert asked["id"] in refused.stderr
    shell("answer", demo.native, asked["id"], '{"approved": "maybe"}', code=2)
    shell("approve", demo.native, asked["id"], "--as", "ada")
    assert "ada" in shell("approve", demo.native, asked["id"], code=4).stderr
    assert shell.data("approvals", demo.native) == []
    assert shell.events("resume", demo.native, asked["thread"], "--yes")[-1]["status"] == "done"


def test_a_run_makes_its_store_only_after_a_yes(shell: Shell, demo: DemoFiles, tmp_path: Path) -> None:
    workflow = demo.native.parent / "offer.yaml"
    store = tmp_path / "new.db"
    words = ("run", store, "--workflow", workflow, "--thread", "a", "--input", '{"city": "Kyoto"}')
    assert "makes the new store" in shell(*words, code=6).stdout
    shell("run", store, "--workflow", tmp_path / "nowhere.yaml", "--yes", code=2)
    shell("run", store, "--workflow", workflow, "--input", "{", "--yes", code=2)
    shell(*words, "--read-only", code=7)
    assert not store.exists()
    said = shell("run", tmp_path / "absent" / "new.db", "--workflow", flow(tmp_path, COUNTS), "--yes", code=3).stderr
    assert "there is no folder" in said
    assert not (tmp_path / "absent").exists()


def flow(folder: Path, nodes: str) -> Path:
    """A workflow of python nodes and the module they are in."""
    (folder / "flow_nodes.py").write_text(
        "import pathlib, signal\n"
        "def count(state, ctx):\n"
        "    print('counting', state['n'])\n"
        "    return {'n': state['n'] + 1}\n"
        "def fail(state, ctx):\n"
        "    raise ValueError('no \\x1b[31mway')\n"
        "def hold(state, ctx):\n"
        "    usual = signal.getsignal(signal.SIGINT)\n"
        "    heard = pathlib.Path(state['heard'])\n"
        "    signal.signal(signal.SIGINT, lambda *given: (usual(*given), heard.write_text('')))\n"
        "    with open(state['gate']) as gate:\n"
        "        gate.read()\n"
        "    return {'held': True}\n"
    )
    file = folder / "flow.yaml"
    file.write_text(f'workflow_id: flow\nversion: "1"\nnodes:\n{nodes}')
    return file


INTERRUPT = "\x03"
"""What Ctrl-C sends."""
COUNTS = (
    '  - {id: one, type: python, run: "flow_nodes:count", next: two}\n'
    '  - {id: two, type: python, run: "flow_nodes:count", next: null}\n'
)


def test_one_thread_per_line_of_a_file(shell: Shell, tmp_path: Path) -> None:
    store, workflow, people = tmp_path / "new.db", flow(tmp_path, COUNTS), tmp_path / "people.jsonl"
    people.write_text('{"who": {"id": "ada"}, "n": 1}\n{"who": {"id": "bob"}, "n": 5}\n')
    words = ("run", store, "--workflow", workflow, "--inputs", people, "--id-path", "who.id", "--yes")
    ended = [event for event in shell.events(*words) if event["event"] == "run_ended"]
    assert [(event["thread"], event["status"]) for event in ended] == [("ada", "done"), ("bob", "done")]
    assert shell.data("show", store, "bob", "--path", "n")["value"] == 7
    assert {run["status"] for run in shell.data("runs", store)} == {"done"}
    with people.open("a") as more:
        more.write('{"who": {"id": "cy"}, "n": 7}\n')
    events = shell.events(*words)
    assert {event["thread"] for event in events if event["event"] == "step_started"} == {"cy"}
    last = [(event["thread"], event["status"]) for event in events if event["event"] == "run_ended"]
    assert last == [("ada", "done"), ("bob", "done"), ("cy", "done")]


def test_a_step_at_a_time(shell: Shell, tmp_path: Path) -> None:
    store, workflow = tmp_path / "new.db", flow(tmp_path, COUNTS)
    shell("run", store, "--workflow", workflow, "--thread", "a", "--input", '{"n": 1}', "--yes")
    shell("fork", store, "a@-1", "--to", "b")
    assert shell.events("resume", store, "b", "--step", "--yes", code=5)[-1]["status"] == "paused"
    assert shell.data("show", store, "b", "--path", "n")["value"] == 2
    assert shell.events("resume", store, "b", "--until", "two", "--yes", code=5)[-1]["status"] == "paused"
    assert shell.events("resume", store, "b", "--yes")[-1]["status"] == "done"
    assert shell.data("show", store, "b", "--path", "n")["value"] == 3
    events = shell.events("replay", store, "a@0", "--to", "c", "--yes")
    assert [event["node"] for event in events if event["event"] == "step_finished"] == ["two"]
    assert {event["thread"] for event in events} == {"c"}


def test_what_user_code_prints_and_raises_cannot_steer_the_terminal(shell: Shell, tmp_path: Path) -> None:
    workflow = flow(tmp_path, '  - {id: one, type: python, run: "flow_nodes:fail", next: null}\n')
    done = shell("run", tmp_path / "new.db", "--workflow", workflow, "--input", "{}", "--yes", code=1)
    assert "␛[31mway" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


@pytest.fixture
def held(shell: Shell, tmp_path: Path) -> Iterator[Mapping[str, Any]]:
    """A run that is inside its first node and stays there until its gate is opened."""
    nodes = (
        '  - {id: one, type: python, run: "flow_nodes:hold", next: two}\n'
        '  - {id: two, type: python, run: "flow_nodes:count", next: null}\n'
    )
    store, workflow, gate, heard = tmp_path / "new.db", flow(tmp_path, nodes), tmp_path / "gate", tmp_path / "heard"
    os.mkfifo(gate)
    first = json.dumps({"n": 1, "gate": str(gate), "heard": str(heard)})
    child = shell.start("run", store, "--workflow", workflow, "--thread", "a", "--input", first, "--yes", "--json")
    assert child.stdout is not None
    # Opening a pipe for writing waits for the reader: the node is inside then.
    while '"step_started"' not in child.stdout.readline():
        pass
    with gate.open("w") as opened:
        yield {"store": store, "child": child, "gate": opened, "heard": heard}
    child.communicate()


def test_ctrl_c_stops_after_the_step_and_exits_130(shell: Shell, held: Mapping[str, Any]) -> None:
    held["child"].send_signal(signal.SIGINT)
    while not held["heard"].exists():  # it comes to the node by way of the command line
        pass
    held["gate"].close()
    out, _ = held["child"].communicate()
    assert held["child"].returncode == 130
    assert json.loads(out.splitlines()[-1])["status"] == "paused"
    assert shell.events("resume", held["store"], "a", "--yes")[-1]["status"] == "done"
    assert shell.data("show", held["store"], "a", "--path", "n")["value"] == 2


def test_a_second_ctrl_c_kills_and_the_run_can_be_resumed(shell: Shell, held: Mapping[str, Any]) -> None:
    child = held["child"]
    # Repeated, as two signals that are not yet delivered are one.
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.2)
    assert child.returncode == 130
    assert shell.data("runs", held["store"])[0]["status"] == "crashed"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_us_lets_the_run_end_its_step(shell: Shell, tmp_path: Path, sent: signal.Signals) -> None:
    loop = '  - {id: one, type: python, run: "flow_nodes:count", next: [{when: "n > `0`", to: one}, {to: null}]}\n'
    store, words = tmp_path / "new.db", ("--thread", "a", "--input", '{"n": 1}', "--yes", "--json")
    child = shell.start("run", store, "--workflow", flow(tmp_path, loop), *words)
    assert child.stdout is not None
    while '"step_finished"' not in child.stdout.readline():
        pass
    child.send_signal(sent)
    child.send_signal(signal.SIGHUP)  # of a closed terminal both the kernel and the shell tell: it is no kill
    out, _ = child.communicate()
    assert child.returncode == 130
    assert json.loads(out.splitlines()[-1])["status"] == "paused"
    assert shell.data("runs", store)[0]["status"] == "paused"


def test_a_worker_that_is_ended_stops_in_order(shell: Shell, tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    shell("run", store, "--workflow", flow(tmp_path, COUNTS), "--thread", "a", "--input", '{"n": 1}', "--yes")
    worker = shell.start("worker", store, "--yes", "--mode", "log_only")
    assert worker.stderr is not None
    assert "waits" in worker.stderr.readline()
    worker.send_signal(signal.SIGTERM)
    worker.communicate()
    assert worker.returncode == 130


def test_another_process_asks_it_to_pause(shell: Shell, held: Mapping[str, Any]) -> None:
    (running,) = shell.data("runs", held["store"])
    assert running["status"] == "running"
    shell("resume", held["store"], "a", "--yes", code=4)
    shell("pause", held["store"], "a")
    held["gate"].close()
    out, _ = held["child"].communicate()
    assert held["child"].returncode == 5
    assert json.loads(out.splitlines()[-1])["status"] == "paused"


class Terminal:
    """A command line with a terminal at stdin and stderr, and a pipe at stdout."""

    def __init__(self, shell: Shell, *words: str | Path) -> None:
        self._ours, theirs = pty.openpty()
        self.child = shell.start(*words, terminal=theirs)
        os.close(theirs)

    def read_until(self, text: str) -> str:
        """Everything shown up to and with ``text``."""
        seen = b""
        while text.encode() not in seen:
            seen += os.read(self._ours, 4096)
        return seen.decode()

    def type(self, text: str) -> None:
        """Keys, as the person presses them."""
        os.write(self._ours, text.encode())

    def insist(self, key: str) -> None:
        """Press it until it is heeded: a signal that comes just before Python begins to read waits for the next key."""
        while True:
            try:
                self.child.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self.type(key)
            else:
                return

    def end(self) -> tuple[int, str]:
        """Exit code and stdout."""
        out, _ = self.child.communicate()
        os.close(self._ours)
        return self.child.returncode, out


@pytest.mark.parametrize(("typed", "code"), [("n\n", 6), ("\n", 6), (INTERRUPT, 130), ("\x04", 130), ("y\n", 0)])
def test_a_terminal_is_asked(shell: Shell, tmp_path: Path, typed: str, code: int) -> None:
    store, workflow = tmp_path / "new.db", flow(tmp_path, COUNTS)
    terminal = Terminal(shell, "run", store, "--workflow", workflow, "--thread", "a", "--input", '{"n": 1}')
    shown = terminal.read_until("Run this? [y/N]")
    assert "will execute  one → two" in shown
    terminal.type(typed)
    if typed == INTERRUPT:
        terminal.insist(typed)
    ended, out = terminal.end()
    assert ended == code
    assert ("ended    done" in out) == store.exists() == (code == 0)
