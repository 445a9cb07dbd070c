"""Completion: what is proposed behind a store, silently, lightly, and as a real bash puts it on the line."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click import Argument, Context

from stores.conformance import SAMPLE
from stores.model import NewCheckpoint, Ref, ThreadInfo
from tests.builders import native_file
from tests.cli.fakes import Asked
from tt_debug.cli import commands
from tt_debug.cli import main as cli
from tt_debug.cli.completing import REF, THREAD
from tt_debug.cli.front import Front
from tt_debug.cli.group import group
from tt_debug.demo import prepare
from tt_debug.errors import RefNotFound

SPACED = "旅 in 奈良@home"
HOSTILE = "trip\x1b[31m"
BREAKS = " \t\n\"'@><=;|&(:"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    more = [NewCheckpoint(Ref(name, "", "c0ffee01"), None, {}, "input") for name in (SPACED, HOSTILE, "trip-2")]
    return native_file(tmp_path / "trip.db", [*SAMPLE, *more])


@pytest.fixture(autouse=True)
def _where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def proposed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, shell: str = "bash"
) -> list[str]:
    """The lines that a shell is answered with."""
    monkeypatch.setenv("_TT_DEBUG_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_LINE", line)
    monkeypatch.setenv("COMP_POINT", str(len(line)))
    monkeypatch.setenv("COMP_WORDBREAKS", BREAKS)
    words = line.split(" ")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1) if shell == "zsh" else words[-1])
    with pytest.raises(SystemExit):
        cli.main([], Front(lambda screen: 0))
    written = capsys.readouterr()
    assert written.err == ""
    return [line for line in written.out.split("\n") if line]


@pytest.mark.parametrize(
    ("typed", "answers"),
    [
        ("tt-debug log trip.db tr", ["plain,trip-2", "plain,trip"]),
        ("tt-debug log trip.db 旅", [r"plain,旅\ in\ 奈良@home"]),
        ("tt-debug log trip.db '旅", [f"plain,{SPACED}"]),
        ("tt-debug show trip.db trip@", ["plain,@head", "plain,@1", "plain,@0", "plain,@-1"]),
        ("tt-debug show trip.db trip@1", ["plain,@1"]),
        ("tt-debug show trip.db 'trip@h", ["plain,trip@head"]),
        ("tt-debug show trip.db 旅\\ in\\ 奈良@home@h", ["plain,@head"]),
        ("tt-debug show trip.db trip@1f000000-0005", [f"plain,@{SAMPLE[5].ref.id}"]),
        ("tt-debug diff trip.db trip@1 trip-", ["plain,trip-2"]),
        ("tt-debug show trip.db nobody@", []),
        ("tt-debug show nowhere.db tr", []),
        ("tt-debug show ", ["file,"]),
        ("tt-debug exp", ["plain,export", "file,exp"]),
        ("tt-debug export trip.db trip --format m", ["plain,mermaid"]),
    ],
)
def test_what_is_proposed(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, answers: list[str]
) -> None:
    assert proposed(monkeypatch, capsys, typed) == answers


def test_a_command_is_proposed_without_importing_any(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "load", lambda name: pytest.fail(f"imports {name}"))
    assert proposed(monkeypatch, capsys, "tt-debug re", "fish") == [
        *(f"plain,{name}\t{commands.SECTIONS['Write'][name].help}" for name in ("reject", "resolve")),
        *(f"plain,{name}\t{commands.SECTIONS['Run'][name].help}" for name in ("resume", "replay", "retry", "recover")),
        "file,re",
    ]


def test_other_shells_are_told_what_it_is(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert proposed(monkeypatch, capsys, "tt-debug show trip.db trip@0", "zsh") == ["plain", "trip@0", "plan"]
    assert proposed(monkeypatch, capsys, "tt-debug show trip.db trip@0", "fish") == ["plain,trip@0\tplan"]


def test_zsh_takes_no_backslash_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    native_file(tmp_path / "odd.db", [NewCheckpoint(Ref("a\\b:c", "", "c0ffee01"), None, {}, "input")])
    assert proposed(monkeypatch, capsys, "tt-debug log odd.db a", "zsh")[:2] == ["plain", r"a\\b\:c"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_a_real_fish_proposes_names_with_commas(tmp_path: Path) -> None:
    native_file(tmp_path / "odd.db", [NewCheckpoint(Ref("a, b", "", "c0ffee01"), None, {}, "input")])
    (tmp_path / "tt-debug").write_text(f'#!/bin/sh\nexec {sys.executable} -m tt_debug "$@"\n')
    (tmp_path / "tt-debug").chmod(0o755)
    script = "_TT_DEBUG_COMPLETE=fish_source tt-debug | source; complete -C 'tt-debug log odd.db a'"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert "a, b\tdone" in done.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("command", ["show", "export", "stats", "fork"])
def test_bookmarks_are_proposed_behind_their_thread(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shell: str,
    command: str,
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    assert cli.main(["mark", "trip.db", "trip@1", "good one", "--note", "before the mistake"], Front(lambda _: 0)) == 0
    capsys.readouterr()
    answers = "\n".join(proposed(monkeypatch, capsys, f"tt-debug {command} trip.db trip@goo", shell))
    word = r"good\ one" if shell == "bash" else "good one"
    assert word in answers
    assert ("before the mistake" in answers) is (shell != "bash")


def test_open_questions_are_proposed(tmp_path: Path) -> None:
    store = prepare(tmp_path).native
    line = f"tt-debug answer {store} "
    environment = {**os.environ, "_TT_DEBUG_COMPLETE": "bash_complete", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    done = subprocess.run(
        [sys.executable, "-m", "tt_debug"], capture_output=True, text=True, check=True, env=environment
    )
    listed = subprocess.run(
        [sys.executable, "-m", "tt_debug", "approvals", str(store), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    (asked,) = json.loads(listed.stdout)["data"]
    assert done.stdout == f"plain,{asked['id']}\n"


def test_a_session_is_closed_and_its_errors_are_nobodys_business(asked: Asked) -> None:
    asked.session.infos = tuple(ThreadInfo(name, 1, None, 0, "done", None) for name in ("trip", "other", "trip-eu"))
    with Context(group, obj=asked.front()) as context:
        context.params["store"] = "trip.db"
        assert [item.value for item in THREAD.shell_complete(context, Argument(["thread"]), "trip")] == [
            "trip",
            "trip-eu",
        ]
        asked.session.raises["threads"] = RefNotFound("gone")
        assert REF.shell_complete(context, Argument(["ref"]), "trip") == []
    assert asked.session.closed == 2


PROBE = """
import json, sys
from tt_debug.__main__ import main
try:
    main()
finally:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


def test_completing_loads_nothing_heavy(store: Path) -> None:
    line = f"tt-debug show {store} trip@"
    environment = {**os.environ, "_TT_DEBUG_COMPLETE": "bash_complete", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False, env=environment)
    assert "plain,trip@head" in done.stdout
    heavy = {"textual", "networkx", "deepdiff", "psycopg", "langgraph", "sqlite_utils", "pydantic", "jsonschema"}
    assert set(json.loads(done.stderr)) & heavy == set()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("log trip.db trip-\t", ["log", "trip.db", "trip-2"]),
        ("show trip.db trip@h\t", ["show", "trip.db", "trip@head"]),
        ("show trip.db trip@\th\t", ["show", "trip.db", "trip@head"]),
        ("show trip.db 'trip@h\t", ["show", "trip.db", "trip@head"]),
        ("log trip.db 旅\t", ["log", "trip.db", SPACED]),
        ("log trip.db '旅\t", ["log", "trip.db", SPACED]),
        ("show trip.db 旅\\ in\\ 奈良@home@h\t", ["show", "trip.db", f"{SPACED}@head"]),
        ("exp\ttrip.db trip-\t", ["export", "trip.db", "trip-2"]),
        ("show trip.db nobody@\t", ["show", "trip.db", "nobody@"]),
        ("tri\t", ["trip.db"]),
    ],
)
def test_a_real_bash_puts_it_on_the_line(store: Path, tmp_path: Path, keys: str, words: list[str]) -> None:
    (tmp_path / "tt-debug").write_text(f'#!/bin/sh\nexec {sys.executable} -m tt_debug "$@"\n')
    (tmp_path / "tt-debug").chmod(0o755)
    ready = "echo r''eady\n"
    source = 'eval "$(_TT_DEBUG_COMPLETE=bash_source tt-debug)"; '
    # At the end of the line, what was completed is printed word by word instead of being run.
    text = Bash(tmp_path).read(
        f"{source}{ready}", "ready\r\n", f"tt-debug {keys}\x01printf '<%s>\\n' \x05; echo e''nd\n"
    )
    assert re.findall(r"<(.*)>\r\n", text) == ["tt-debug", *words]


class Bash:
    """An interactive bash on a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            environment = {"PATH": f"{folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "dumb", "PS1": "$ "}
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**environment, "HOME": str(folder)})

    def read(self, first: str, answer: str, then: str) -> str:
        """What is written after ``then``, which is typed when ``answer`` to ``first`` has come."""
        os.write(self._terminal, first.encode())
        self._until(answer)
        os.write(self._terminal, then.encode())
        text = self._until("end\r\n")
        os.close(self._terminal)
        os.waitpid(self._pid, 0)
        return text

    def _until(self, mark: str) -> str:
        read = b""
        while mark not in read.decode(errors="replace"):
            read += os.read(self._terminal, 65536)
        return read.decode()
