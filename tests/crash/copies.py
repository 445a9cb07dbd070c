"""How a worker of the soak runs: with short leases, and with copies of its own process for children if that is wanted.

A thousand fresh interpreters take an hour; a copy of one takes a moment, and is killed and stopped as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from stores.errors import StoreError
from tt_debug.engine import worker
from tt_debug.engine.surroundings import StopFlag
from tt_debug.errors import DebuggerError


def lease(seconds: float) -> None:
    """Every job from now on has a lease of so many seconds."""
    make = worker.WorkflowJob
    worker.WorkflowJob = lambda *given, **named: make(*given, **{**named, "lease": seconds})  # type: ignore[misc, assignment]


def instead_of_children() -> None:
    """Every run from now on is a copy of this process."""
    worker.run_child = _copy  # type: ignore[assignment]


def _copy(_argv: object, job: Mapping[str, Any], take: Callable[[dict[str, Any]], None]) -> SimpleNamespace:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "w", buffering=1) as pipe:
                _run(job, lambda line: print(json.dumps(line), file=pipe))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        for line in pipe:
            if line.endswith("\n"):  # else its writer was killed in the middle
                take(json.loads(line))
    return SimpleNamespace(code=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), last_words="")


def _run(job: Mapping[str, Any], tell: Callable[[Mapping[str, Any]], None]) -> None:
    try:
        worker.run_here(worker.WorkflowJob(**job), StopFlag(), lambda event: tell(event.to_json()))
    except (StoreError, DebuggerError) as error:
        told = {"class": type(error).__name__, "error": str(error), "hint": error.hint}
        tell({"event": "refused", **told, "problems": list(getattr(error, "problems", ()))})
