"""mark and marks: names for checkpoints that every REF takes, in our own record and never in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import native_file
from tests.cli.shell import Shell


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_file(tmp_path / "m.db")


def first_thread(shell: Shell, path: Path) -> str:
    return str(shell.data("threads", str(path))[0]["thread"])


def test_a_name_is_a_ref_and_the_store_stays_as_it_is(shell: Shell, path: Path) -> None:
    before, thread = path.read_bytes(), first_thread(shell, path)
    oldest = shell.data("log", str(path), thread)[0]["id"]
    made = shell.data("mark", str(path), f"{thread}@{oldest}", "good", "--note", "here it was right")
    assert (made["name"], made["id"], made["note"]) == ("good", oldest, "here it was right")
    assert shell.data("show", str(path), f"{thread}@good")["id"] == oldest
    assert shell.data("show", str(path), f"{thread}@mark:good")["id"] == oldest
    assert [each["name"] for each in shell.data("marks", str(path))] == ["good"]
    assert shell.data("marks", str(path), "nobody") == []
    assert path.read_bytes() == before


def test_a_checkpoint_has_one_name_and_a_name_one_checkpoint(shell: Shell, path: Path) -> None:
    thread = first_thread(shell, path)
    first, second = (row["id"] for row in shell.data("log", str(path), thread)[:2])
    shell("mark", str(path), f"{thread}@{first}", "one")
    shell("mark", str(path), f"{thread}@{second}", "one", code=4)
    shell("mark", str(path), f"{thread}@{first}", "uno")
    assert [each["name"] for each in shell.data("marks", str(path))] == ["uno"]
    shell("mark", str(path), f"{thread}@uno", "--remove")
    assert shell.data("marks", str(path)) == []
    shell("show", str(path), f"{thread}@uno", code=3)


@pytest.mark.parametrize("words", [("",), (" x",), ("a@b",), ("x" * 81,), (), ("x", "--remove")])
def test_what_is_no_name(shell: Shell, path: Path, words: tuple[str, ...]) -> None:
    shell("mark", str(path), first_thread(shell, path), *words, code=2)


def test_ids_and_steps_win_over_names(shell: Shell, path: Path) -> None:
    thread = first_thread(shell, path)
    rows = shell.data("log", str(path), thread)
    shell("mark", str(path), f"{thread}@{rows[0]['id']}", "head")
    assert shell.data("show", str(path), f"{thread}@head")["id"] == rows[-1]["id"]
    assert shell.data("show", str(path), f"{thread}@mark:head")["id"] == rows[0]["id"]
