"""Applications of stock LangGraph: scripts in processes of their own, copied from one that has imported LangGraph.

A fresh interpreter takes a second for that, a copy a few milliseconds.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Final

_IMPORTED: Final = ["langgraph.graph", "langgraph.checkpoint.sqlite", "langgraph.checkpoint.postgres", "pytest"]


def run_application(script: str, *arguments: str, folder: Path) -> None:
    """Run ``python -c script arguments`` in a folder; AssertionError with its traceback when it fails."""
    ours, theirs = _context().Pipe(duplex=False)
    with ours:
        job = (script, arguments, str(folder), dict(os.environ))
        child = _context().Process(target=_application, args=(theirs, *job))
        child.start()
        theirs.close()
        try:
            failure = ours.recv()
        except EOFError:
            failure = "it ended without a word"
        child.join()
    assert not failure, failure


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    return context


def _application(
    ended: Connection, script: str, arguments: tuple[str, ...], folder: str, environment: dict[str, str]
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv, sys.path[0:0] = ["-c", *arguments], [folder]
    try:
        exec(compile(script, "application", "exec"), {"__name__": "__main__"})
    except BaseException:  # noqa: BLE001 - whatever the script raises is told
        ended.send(traceback.format_exc())
    else:
        ended.send("")
