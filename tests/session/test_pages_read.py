"""How much of a file is read for what is shown of it: a state lies in many pages, and metadata behind it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stores import ids
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
    made = handmade(tmp_path / "chat.sqlite", rows)
    opened = Session.open(str(made), read_only=True)
    opened.open_thread("t")  # what is imported for it is read from files too
    opened.close()
    return made


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


@COUNTS
def test_a_brief_list_of_threads_reads_no_states(chat: Path) -> None:
    session = Session.open(str(chat), read_only=True)
    try:
        before = bytes_read()
        (brief,) = session.threads(brief=True)
        assert bytes_read() - before < 100_000  # a state alone is more
        assert (brief.thread, brief.checkpoints, brief.step, brief.read) == ("t", STEPS, STEPS - 2, False)
        (whole,) = session.threads()
        assert whole.read
        assert (whole.head, whole.step, whole.checkpoints) == (brief.head, brief.step, brief.checkpoints)
    finally:
        session.close()


def test_a_brief_list_of_a_large_file_leaves_counting_and_what_needs_it_to_the_whole_one(
    chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "STEPS", STEPS)
    session = Session.open(str(chat), read_only=True)
    try:
        ((brief,), (whole,)) = (session.threads(brief=brief) for brief in (True, False))
        assert (brief.checkpoints, brief.step) == (None, None)
        assert (brief.thread, brief.head, brief.updated) == (whole.thread, whole.head, whole.updated)
        assert (whole.checkpoints, whole.step) == (STEPS, STEPS - 2)
    finally:
        session.close()
