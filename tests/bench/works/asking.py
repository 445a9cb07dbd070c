"""Questions asked of every checkpoint of a thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

QUESTION = "SELECT checkpoint, metadata FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id"


def find_ours(path: str, thread: str, expression: str) -> Callable[[], object]:
    """Every checkpoint of the line where a condition holds."""
    from tt_debug.session import questions
    from tt_debug.session.questions import Scope

    session, ref = _opened(path, thread)
    return lambda: list(questions.find(session, expression, Scope(ref)).hits)


def find_floor(path: str, thread: str) -> Callable[[], object]:
    """Every state unpacked, whatever classes it names left as bytes."""
    import ormsgpack

    db = _open(path)

    def work() -> object:
        rows = db.execute(QUESTION, (thread,))
        return sum(len(ormsgpack.unpackb(row[0], ext_hook=lambda code, raw: raw)) for row in rows)

    return work


def native_floor(path: str, thread: str) -> Callable[[], object]:
    """Every small state of a native file, in order, read as JSON."""
    import orjson

    db = _open(path)

    def work() -> object:
        rows = db.execute("SELECT state FROM checkpoints WHERE thread_id = ? ORDER BY seq", (thread,))
        return sum(len(orjson.loads(state)) for (state,) in rows)

    return work


def find_peer(path: str, thread: str, key: str) -> Callable[[], object]:
    """LangGraph's listing, and a look at a key."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    saver = SqliteSaver(_open(path))
    saver.is_setup = True
    config = {"configurable": {"thread_id": thread}}
    return lambda: [one for one in saver.list(config) if one.checkpoint["channel_values"].get(key) == 777]


def grep_ours(path: str, thread: str, text: str, *, first: bool = False) -> Callable[[], object]:
    """Where a text came in, or ``first`` the first such place."""
    from tt_debug.searching import Search
    from tt_debug.session import questions
    from tt_debug.session.questions import Scope

    session, ref = _opened(path, thread)

    def work() -> object:
        found = questions.grep(session, Search(text), Scope(ref))
        return next(found) if first else list(found)

    return work


def grep_floor(path: str, thread: str, text: str) -> Callable[[], object]:
    """The text looked for in the bytes of every row, in any case."""
    db, wanted = _open(path), text.lower().encode()

    def work() -> object:
        rows = db.execute(QUESTION, (thread,))
        return sum(wanted in content.lower() or wanted in metadata.lower() for content, metadata in rows)

    return work


def history_ours(path: str, thread: str, key: str) -> Callable[[], object]:
    """Who wrote a value."""
    from tt_debug.session import questions

    session, ref = _opened(path, thread)
    return lambda: list(questions.history(session, ref, (key,)))


def _opened(path: str, thread: str):  # type: ignore[no-untyped-def]
    from tt_debug.session.session import Session

    session = Session.open(path, read_only=True)
    return session, session.resolve(thread)


def _open(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, check_same_thread=False)
