"""Reading a thread's graph and the list of threads."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph


def graph_ours(path: str, thread: str, *, again: bool = False) -> Callable[[], object]:
    """The thread's graph as the front ends get it: every address, lineage, lanes. For the first time, unless ``again``:
    with what was kept of it."""
    from stores.places import cache_folder
    from tt_debug.session.session import Session

    home = TemporaryDirectory()
    os.environ["TT_DEBUG_HOME"] = home.name

    def work() -> object:
        if not again:
            shutil.rmtree(cache_folder(), ignore_errors=True)
        session = Session.open(path, read_only=True)
        try:
            view = session.open_thread(thread)
            return view.rows()
        finally:
            session.close()

    return work


def graph_peer(path: str, thread: str) -> Callable[[], object]:
    """LangGraph's own history of the same thread."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    def work() -> object:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)) as db:
            saver = SqliteSaver(db)
            saver.is_setup = True
            return sum(1 for _ in _graph(saver).get_state_history({"configurable": {"thread_id": thread}}))

    return work


def graph_peer_postgres(path: str, thread: str) -> Callable[[], object]:
    """The same by PostgresSaver."""
    from langgraph.checkpoint.postgres import PostgresSaver

    def work() -> object:
        with PostgresSaver.from_conn_string(path) as saver:
            return sum(1 for _ in _graph(saver).get_state_history({"configurable": {"thread_id": thread}}))

    return work


def graph_floor_postgres(path: str, thread: str) -> Callable[[], object]:
    """Ids and parents by SQL alone, by a binary cursor."""
    import psycopg

    question = "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = %s"

    def work() -> object:
        with psycopg.connect(path) as db, db.cursor(binary=True) as cursor:
            return cursor.execute(question, (thread,)).fetchall()

    return work


def _graph(saver: BaseCheckpointSaver[Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A graph over the channels that the threads of these databases have."""
    from langgraph.graph import START, StateGraph

    channels = {"count": int, "topic": str, "text": str, "messages": list, "n": int}
    graph = StateGraph(TypedDict("State", channels, total=False))  # type: ignore[operator]
    graph.add_node("agent", lambda state: {})
    graph.add_edge(START, "agent")
    return graph.compile(checkpointer=saver)


def graph_floor(path: str, thread: str) -> Callable[[], object]:
    """Ids and parents by SQL alone."""
    question = "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = ?"
    return lambda: _rows(path, question, thread)


def threads_ours(path: str) -> Callable[[], object]:
    """The whole list of threads as a listing shows it at first."""
    from tt_debug.session.session import Session

    def work() -> object:
        session = Session.open(path, read_only=True)
        try:
            return session.threads(brief=True)
        finally:
            session.close()

    return work


def threads_floor(path: str) -> Callable[[], object]:
    """A loose scan of the index: each thread's newest id."""
    question = """
    WITH RECURSIVE t(thread) AS (
      SELECT min(thread_id) FROM checkpoints
      UNION ALL
      SELECT (SELECT min(thread_id) FROM checkpoints WHERE thread_id > t.thread) FROM t WHERE t.thread IS NOT NULL)
    SELECT thread, (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = thread AND checkpoint_ns = '')
    FROM t WHERE thread IS NOT NULL"""
    return lambda: _rows(path, question)


def _rows(path: str, question: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(question, values).fetchall()
