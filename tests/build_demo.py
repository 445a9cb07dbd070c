"""Writes the demo's two files, by running its workflows and its graph: `python -m tests.build_demo`.

Run it after a change of anything in tt_debug/demo/files; the results are packed into the package.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import zstandard

from stores import create_native
from stores.model import Change
from tt_debug.session.plans import RunRequest
from tt_debug.session.session import Session

FILES = Path(__file__).parents[1] / "tt_debug" / "demo" / "files"
KYOTO = "Plan a trip to 京都: 3 nights for ¥96,000 in all 🙂"
OSAKA = "Plan a trip to 大阪: 2 nights for ¥300,000 in all"
NARA = "Plan a trip to 奈良: 3 nights for ¥60,000 in all 🦌"
PACE = "1"


def build_native(path: Path) -> None:
    """The long thread that ends wrong, one with forks, one that waits for a person, one that failed."""
    create_native(path)
    session = Session.open(str(path))
    try:
        run(session, "quote-8", "quote.yaml", {"customer": "Ōno & Söhne"})
        run(session, "旅-奈良 🦌", "trip.yaml", {"request": NARA})
        cheaper = (Change("change", ("budget", "per_night"), 60000, 20000),)
        fork = session.fork(session.resolve("旅-奈良 🦌@15"), "旅-奈良 🦌-budget", cheaper)
        resume(session, RunRequest("resume", fork.ref))
        fork = session.fork(session.resolve("旅-奈良 🦌@9"), "旅-奈良 🦌-no-trains")
        resume(session, RunRequest("resume", fork.ref, until="check_trains"))
        run(session, "offer-17", "offer.yaml", {"customer": "Ōno & Söhne"})
        run(session, "trip-planner", "trip.yaml", {"request": KYOTO})
    finally:
        session.close()


def run(session: Session, thread: str, workflow: str, values: dict[str, object]) -> None:
    """Run one thread until it ends, waits or fails."""
    request = RunRequest("run", thread=thread, input=values, workflow=FILES / workflow)
    resume(session, request)


def resume(session: Session, request: RunRequest) -> None:
    """Plan and run."""
    session.execute(session.plan(request), lambda event: print(event.thread, event.kind, event.fields.get("node", "")))  # noqa: T201


def build_langgraph(path: Path) -> None:
    """The same agent as a LangGraph graph, run twice, durably step by step."""
    sys.path.insert(0, str(FILES))
    import trip_graph
    from langgraph.checkpoint.sqlite import SqliteSaver

    with closing(sqlite3.connect(path, check_same_thread=False)) as db:
        agent = trip_graph.build().compile(checkpointer=SqliteSaver(db))
        for thread, request in {"trip-osaka": OSAKA, "trip-kyoto": KYOTO}.items():
            agent.invoke({"request": request}, {"configurable": {"thread_id": thread}}, durability="sync")


def pack(path: Path, target: Path) -> None:
    """Leave WAL mode, so that one file holds everything and no machine's path, and compress it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'definitions'").fetchone():
            db.execute("UPDATE definitions SET origin = NULL")
            db.execute("DELETE FROM meta WHERE key = 'place'")
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("VACUUM")
    target.write_bytes(zstandard.ZstdCompressor(level=19).compress(path.read_bytes()))


def main() -> None:
    """Build both."""
    os.environ["TT_DEBUG_DEMO_PACE"] = PACE
    with tempfile.TemporaryDirectory() as folder:
        native, langgraph = Path(folder) / "native.db", Path(folder) / "langgraph.db"
        build_native(native)
        pack(native, FILES / "trip_native.sqlite.zst")
        build_langgraph(langgraph)
        pack(langgraph, FILES / "trip_langgraph.sqlite.zst")


if __name__ == "__main__":
    main()
