"""stdout: the envelope, JSON lines, and no byte a terminal would obey."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from stores.runs import Approval
from tests.cli.conftest import Run
from tests.cli.fakes import Asked
from tests.left_behind import running
from tt_debug.cli.output import Output, json_text
from tt_debug.cli.tables import Column, table

HOSTILE = "\x1b]0;pwn\x07 \x9b31m \x7f \u202e \u200b \ud83d \u2028 京都 👨‍👩‍👧"


def test_json_is_the_same_value_without_a_character_that_acts() -> None:
    text = json_text({HOSTILE: HOSTILE})
    assert json.loads(text) == {HOSTILE: HOSTILE}
    assert text.encode()
    assert not set(text) & set("\x1b\x07\x9b\x7f\u202e\u200b\u2028")
    assert "京都" in text


def test_nan_is_refused_rather_than_printed() -> None:
    with pytest.raises(ValueError):
        json_text(float("nan"))


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(("levels", "code"), [(1_100, 0), (100_000, 3)])
def test_values_nested_very_deeply(run: Run, asked: Asked, levels: int, code: int) -> None:
    asked.session.questions = (Approval("a", "t", "", "c", "n", nested(levels)),)
    ran = run("approvals", "trip.db", "--json")
    assert ran.code == code
    assert bool(ran.out) == (code == 0)


def test_one_huge_name_widens_its_own_line_only() -> None:
    columns = (Column("thread"), Column("status"))
    title, huge, short = table(columns, [("x" * 1_000_000, "done"), ("trip", "failed")])
    assert huge == "x" * 1_000_000 + "  done"
    assert title.split() == ["thread", "status"]
    assert short.split() == ["trip", "failed"]
    assert max(len(title), len(short)) < 200


def test_the_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).document("log", [1])
    assert capsys.readouterr().out == '{"v":1,"kind":"log","data":[1]}\n'


def test_text_is_made_safe_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=False).text([f"a{HOSTILE}", "b\nc"])
    written = capsys.readouterr().out
    assert written.count("\n") == 2
    assert not set(written) & set("\x1b\x07\x9b\x7f\u202e\u200b")


PRINTS_FOREVER = """
import sys
from tt_debug.cli import main
from tests.cli.fakes import Asked, FakeSession

class Endless(FakeSession):
    def export(self, thread, hiding):
        while True:
            yield {"id": "x" * 1000}

sys.exit(main.main(["export", "trip.db", "trip"], Asked(Endless()).front()))
"""


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    argv = [sys.executable, "-c", PRINTS_FOREVER]
    with running(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        first = child.stdout.readline()
        child.stdout.close()
        complaint = child.stderr.read()
        code = child.wait()
    assert (first[:1], complaint, code) == ("{", "", 0)


def test_an_odd_locale_breaks_nothing() -> None:
    prints = (
        "from tt_debug.cli import output as o; o.prepare_streams(); o.Output(False).text(['\\u4eac\\u90fd \\ud83d'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", prints],
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.stdout.decode() == "京都 \\ud83d\n"


LISTS = "import sys; from tt_debug.cli.main import main; from tests.cli.fakes import Asked; "
LISTS += "sys.exit(main(['export', 'trip.db', 'trip'], Asked().front()))"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", LISTS], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3
    assert done.stderr == "tt-debug: error: the answer cannot be written to stdout: No space left on device\n"


def test_a_closed_stdout_is_nobody_listening() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" >&- 2>&-', sys.executable, LISTS], capture_output=True, check=False
    )
    assert done.returncode == 0


ASKS = """
import sys
from tt_debug.cli.main import main, open_screen
from tt_debug.cli.front import Front
from tests.cli.fakes import FakeSession

sys.exit(main(["resume", "trip.db", "trip"], Front(open_screen, lambda wanted: FakeSession())))
"""


def test_a_closed_stdin_is_nobody_to_ask() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" <&-', sys.executable, ASKS], capture_output=True, check=False, text=True
    )
    assert done.returncode == 6
    assert "no terminal to ask on" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_stderr_that_takes_nothing_changes_no_end() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", ASKS], stdin=subprocess.DEVNULL, stderr=full, check=False)
    assert done.returncode == 6
