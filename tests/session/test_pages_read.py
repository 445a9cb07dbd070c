"""How much of a file is read for what is shown of it: a state lies in many pages, and metadata behind it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stores.model import Ref
from tests.stores.handmade import Row, handmade, uuid
from tt_debug.session.session import Session

COUNTS = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel counts what a process reads")
STEPS = 24


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A thread whose state is about a megabyte, as at the end of a long conversation."""
    rows = [
        Row(uuid(at, at - 1), uuid(at - 1, at - 2) if at else None, {"text": f"{at} " * 300_000}, step=at - 1)
        for at in range(STEPS)
    ]
    return handmade(tmp_path / "chat.sqlite", rows)


def bytes_read() -> int:
    """By this process so far, from files of any kind."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["rchar"])


@COUNTS
def test_the_graph_of_a_growing_chat_takes_a_hundredth_of_its_file(chat: Path) -> None:
    before = bytes_read()
    session = Session.open(str(chat), read_only=True)
    try:
        view = session.open_thread("t")
        rows, line = view.rows(), view.line()
        glimpses = [view.headers.glimpse(ref) for ref in line]
    finally:
        session.close()
    assert len(rows) == len(line) == STEPS
    assert [header.step for header in glimpses] == list(range(-1, STEPS - 1))
    assert not any(header.read for header in glimpses)
    assert bytes_read() - before <= chat.stat().st_size / 100


@COUNTS
def test_a_header_is_read_with_its_neighbours_only_where_it_is_looked_at(chat: Path) -> None:
    session = Session.open(str(chat), read_only=True)
    try:
        view = session.open_thread("t")
        first = view.line()[0]
        assert not view.headers.glimpse(first).read
        view.headers.learn([first])
        assert view.headers.glimpse(first).read
        assert view.headers.glimpse(first).source == "loop"
        assert not view.headers.knows(view.line()[-1])
        assert view.headers[view.line()[-1]].read
        assert view.headers.get(Ref("t", "", "none")) is None
    finally:
        session.close()
