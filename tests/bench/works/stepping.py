"""Going to the next checkpoint, and what changed there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import cycle, pairwise
from pathlib import Path
from typing import Final

LAST: Final = 100
"""Steps at the end of the thread that are gone through, again and again."""


def step_ours(path: str, thread: str) -> Callable[[], object]:
    """The state and the diff of the next checkpoint, as the Thread screen asks for them."""
    from tt_debug.session.session import Session

    session = Session.open(path, read_only=True)
    view = session.open_thread(thread)
    line = view.line()[-LAST - 1 :]
    for ref in line:
        _ = view.headers[ref]  # the rows beside the one that the cursor is on are on the screen
    pairs = iter(cycle(pairwise(line)))
    session.load(line[0])

    def work() -> object:
        before, at = next(pairs)
        return session.load(at), session.diff(at, before)

    return work


def step_floor(path: str, thread: str) -> Callable[[], object]:
    """Both rows by SQL alone."""
    with closing(_open(path)) as db:
        question = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY 1"
        ids = [row[0] for row in db.execute(question, (thread,))][-LAST - 1 :]
    db, pairs = _open(path), iter(cycle(pairwise(ids)))
    question = "SELECT checkpoint, metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_id IN (?, ?)"
    return lambda: db.execute(question, (thread, *next(pairs))).fetchall()


def step_peer(path: str, thread: str) -> Callable[[], object]:
    """LangGraph's reading of both checkpoints, and deepdiff."""
    from deepdiff import DeepDiff
    from langgraph.checkpoint.sqlite import SqliteSaver

    with closing(_open(path)) as db:
        question = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY 1"
        ids = [row[0] for row in db.execute(question, (thread,))][-LAST - 1 :]
    saver = SqliteSaver(_open(path))
    saver.is_setup = True
    pairs = iter(cycle(pairwise(ids)))

    def work() -> object:
        read = [
            saver.get_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id}})
            for id in next(pairs)
        ]
        states = [one.checkpoint["channel_values"] for one in read if one is not None]
        return DeepDiff(*states)

    return work


def _open(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, check_same_thread=False)


def panels_ours(path: str, thread: str) -> Callable[[], object]:
    """All that the Thread screen's panels show of the next checkpoint, the transcript too, but for the painting."""
    from tt_debug.redaction import Redaction
    from tt_debug.session.session import Session
    from tt_debug.tui.glyphs import UNICODE
    from tt_debug.tui.screens.thread_details import Remembered, Wanted, read_details

    session = Session.open(path, read_only=True)
    view = session.open_thread(thread)
    line = view.line()[-LAST:]
    hiding, remembered = Redaction(), Remembered()
    refs = iter(cycle(line))

    def work() -> object:
        shown = Wanted(next(refs), None, {}, 60, frozenset(), UNICODE, hiding, remembered=remembered)
        return read_details(session, shown)

    work()
    return work
