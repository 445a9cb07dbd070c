"""Run a command line in this process and look at what it wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stores.places import cache_folder
from tests.cli.fakes import Asked
from tests.cli.shell import Shell
from tt_debug.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What came of a command line."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The ``data`` of the one JSON document."""
        document = json.loads(self.out)
        assert document["v"] == 1
        return document["data"]

    @property
    def lines(self) -> list[Any]:
        """JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def nothing_told_yet() -> None:
    """A notice is told once a day; each test begins a day of its own."""
    shutil.rmtree(cache_folder() / "told", ignore_errors=True)


@pytest.fixture
def asked() -> Asked:
    """The surroundings: change its session before running."""
    return Asked()


@pytest.fixture
def run(asked: Asked, capsys: pytest.CaptureFixture[str]) -> Run:
    """``run("threads", "trip.db")`` on the fake session."""

    def call(*words: str) -> Ran:
        code = main(words, asked.front())
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
