"""The child of a run: its job, its events, its prints, its ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from stores.model import Value
from tt_debug.engine.child import EVENTS_FD, ChildExit, run_child
from tt_debug.errors import ChildFailed

CHILD = """
import json, os, sys
job = json.load(sys.stdin)
pipe = os.fdopen(int(os.environ["TT_DEBUG_EVENTS_FD"]), "w", buffering=1)
def tell(**event):
    sys.stdout.flush(); sys.stderr.flush()
    pipe.write(json.dumps(event) + "\\n")
"""


def run(
    body: str, job: Mapping[str, Value] | None = None, **options: object
) -> tuple[ChildExit, list[dict[str, Value]]]:
    events: list[dict[str, Value]] = []
    end = run_child([sys.executable, "-c", CHILD + body], job or {}, events.append, **options)  # type: ignore[arg-type]
    return end, events


def printed(events: list[dict[str, Value]]) -> list[tuple[str, str]]:
    return [(event["stream"], event["text"]) for event in events if event["event"] == "output"]


def test_the_job_goes_in_and_events_come_out() -> None:
    end, events = run('tell(event="echo", job=job)', {"text": "日本\u202e", "n": [1, 2.5, None]})
    assert events == [{"event": "echo", "job": {"text": "日本\u202e", "n": [1, 2.5, None]}}]
    assert end == ChildExit(0, "")


def test_a_job_larger_than_a_pipe_is_no_deadlock() -> None:
    end, events = run('tell(event="size", n=len(job["text"]))', {"text": "x" * 3_000_000})
    assert (end.code, events) == (0, [{"event": "size", "n": 3_000_000}])


def test_prints_are_captured_in_their_place_and_do_not_reach_the_protocol() -> None:
    body = """
print('{"event": "run_ended"}')
tell(event="one")
print("half", end="")
sys.stderr.write("warned\\n")
tell(event="two")
"""
    end, events = run(body)
    order = [event.get("text", event["event"]) for event in events]
    assert sorted(order) == ["half", "one", "two", "warned", '{"event": "run_ended"}']
    assert order.index('{"event": "run_ended"}') < order.index("one")  # printed before it, shown before it
    assert order.index("warned") < order.index("two")
    assert printed(events)[-1] == ("stdout", "half")
    assert end.last_words.splitlines() == [text for _, text in printed(events)]


def test_a_child_that_opened_its_events_has_its_prints_in_order() -> None:
    """Also what another part of the program writes to the descriptors is captured, where forked copies print too."""
    body = """
import json, os, subprocess, sys
from tt_debug.engine.child import open_events
json.load(sys.stdin)
tell = open_events()
for n in range(50):
    print("print", n); print("warn", n, file=sys.stderr); tell({"event": "step", "n": n})
subprocess.run(["echo", "from a subprocess"])
if os.fork() == 0:
    print("from a fork", flush=True)
    os._exit(0)
os.wait()
sys.stdout.buffer.write(b"\\xff raw\\n")
print("\\ud800 half", end="")
raise SystemExit("out of paper")
"""
    events: list[dict[str, Value]] = []
    end = run_child([sys.executable, "-c", body], {}, events.append)
    shown = [event["text"] if event["event"] == "output" else event["n"] for event in events]
    assert [text for text in shown if "from" not in str(text)] == [
        *(text for n in range(50) for text in (f"print {n}", f"warn {n}", n)),
        "\ufffd raw",
        "out of paper",
        "\\ud800 half",
    ]
    assert {"from a subprocess", "from a fork"} <= set(shown)
    assert (end.code, end.last_words.splitlines()[-2:]) == (1, ["out of paper", "\\ud800 half"])


def test_threads_that_print_at_once_do_not_mix_within_a_line() -> None:
    body = """
import json, sys, threading
from tt_debug.engine.child import open_events
json.load(sys.stdin)
open_events()
def work(name):
    for n in range(200):
        print(name, n, "end")
workers = [threading.Thread(target=work, args=(name,)) for name in ("left", "right")]
for worker in workers: worker.start()
for worker in workers: worker.join()
"""
    events: list[dict[str, Value]] = []
    run_child([sys.executable, "-c", body], {}, events.append)
    texts = [text for _, text in printed(events)]
    assert sorted(texts) == sorted(f"{name} {n} end" for name in ("left", "right") for n in range(200))


def test_undecodable_and_endless_lines_are_shown_in_pieces() -> None:
    _, events = run('sys.stdout.buffer.write(b"\\xff\\xfe!\\n" + b"y" * 200_000)')
    texts = [text for _, text in printed(events)]
    assert texts[0] == "\ufffd\ufffd!"
    assert "".join(texts[1:]) == "y" * 200_000
    assert max(len(text) for text in texts) <= 65536


def test_environment_and_folder_are_those_asked_for(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ONLY": "this"}
    _, events = run(
        'tell(event="seen", only=os.environ["ONLY"], home="HOME" in os.environ, cwd=os.getcwd())', env=env, cwd=tmp_path
    )
    assert events == [{"event": "seen", "only": "this", "home": False, "cwd": str(tmp_path.resolve())}]


def test_a_crash_leaves_its_last_words() -> None:
    end, _ = run('raise RuntimeError("the cable is cut")')
    assert end.code == 1
    assert end.last_words.endswith("RuntimeError: the cable is cut")
    end, _ = run('print("about to", flush=True); os.kill(os.getpid(), 9)')
    assert end == ChildExit(-signal.SIGKILL, "about to")


def test_an_interpreter_that_is_not_there_or_not_executable(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match=r"cannot start /no/such/python: No such file"):
        run_child(["/no/such/python"], {}, print)
    plain = tmp_path / "python"
    plain.write_text("not a program")
    with pytest.raises(ChildFailed, match="Permission denied"):
        run_child([str(plain)], {}, print)
    with pytest.raises(ChildFailed, match="cannot start /no/such/folder"):
        run_child([sys.executable], {}, print, cwd="/no/such/folder")


def test_garbage_on_the_events_pipe_ends_the_child() -> None:
    with pytest.raises(ChildFailed, match="broke its protocol"):
        run('pipe.write("hello\\n")\nwhile True: pass')
    with pytest.raises(ChildFailed, match=r"\[1, 2\]"):
        run('pipe.write("[1, 2]\\n")\nwhile True: pass')


def test_an_exception_of_the_listener_ends_the_child() -> None:
    pids: list[int] = []

    def listen(event: dict[str, Value]) -> None:
        pids.append(event["pid"])
        raise LookupError("no more")

    with pytest.raises(LookupError):
        run_child([sys.executable, "-c", CHILD + 'tell(event="up", pid=os.getpid())\nwhile True: pass'], {}, listen)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_a_grandchild_that_keeps_the_pipes_open_does_not_hold_the_run() -> None:
    body = """
import subprocess
held = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], pass_fds=(pipe.fileno(),))
tell(event="held", pid=held.pid)
"""
    end, events = run(body)
    os.kill(events[0]["pid"], signal.SIGKILL)
    assert end.code == 0


def test_the_first_interrupt_asks_and_the_second_kills() -> None:
    polite = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
tell(event="ready")
signal.sigwait([signal.SIGINT])
tell(event="asked")
while True: signal.sigwait([signal.SIGINT])
"""
    events: list[str] = []

    def listen(event: dict[str, Value]) -> None:
        events.append(event["event"])
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    end = run_child([sys.executable, "-c", CHILD + polite], {}, listen)
    assert events == ["ready", "asked"]
    assert end.code == -signal.SIGKILL
    assert signal.getsignal(signal.SIGINT) is before


def test_a_child_outlives_its_listener(tmp_path: Path) -> None:
    """The front end is killed; the run goes on, and neither its prints nor its events fail it."""
    done = tmp_path / "done"
    os.mkfifo(done)
    child = """
import json, os, sys
from tt_debug.engine.child import open_events
job = json.load(sys.stdin)
tell = open_events()
tell({"event": "up"})
while os.getppid() == job["parent"]:
    pass
for n in range(2000):
    print("x" * 1000, flush=True)
    tell({"event": "step", "n": n})
open(job["done"], "w").write("finished")
"""
    parent = """
import os, sys
from tt_debug.engine.child import run_child
run_child([sys.executable, "-c", sys.argv[1]], {"parent": os.getpid(), "done": sys.argv[2]}, lambda e: os._exit(3))
"""
    assert subprocess.run([sys.executable, "-c", parent, child, str(done)], check=False).returncode == 3
    assert done.read_text() == "finished"


def test_outside_a_run_there_is_no_events_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    from tt_debug.engine.child import open_events

    monkeypatch.delenv(EVENTS_FD, raising=False)
    with pytest.raises(KeyError):
        open_events()
