"""Processes that are really killed, copied from one that has imported everything: a few milliseconds each."""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import stores.points
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.runs import Run
from tt_debug.definition.load import load_workflow
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here

KILLED = -9


def forked(work: Callable[[], Any], env: Mapping[str, str]) -> int:
    """Do it in a copy of this process, which ends there: 0, 1 after an exception, below 0 the signal that killed it."""
    return ended(begun(work, env))


def begun(work: Callable[[], Any], env: Mapping[str, str]) -> int:
    """Have a copy of this process do it, and end there; its number."""
    warm()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        gc.disable()  # it would touch, and so copy, every page of the process
        signal.alarm(300)  # a copy that hangs ends by itself, and its test fails
        try:
            os.environ.update(env)
            stores.points._IS_WATCHED = True  # asked once, as a process starts; this one started long ago
            with open(os.devnull, "w") as nowhere:
                sys.stdout = sys.stderr = nowhere
                work()
                code = 0
        except Exception:
            traceback.print_exc(file=sys.__stderr__)
            raise
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    """Wait for its end."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def forgetting(folder: Path) -> Iterator[None]:
    """What is imported from the folder in the block is not found by the next one, which has modules of those names."""
    before = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = before
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(f"{folder}{os.sep}"):
                del sys.modules[name]


@functools.cache
def warm() -> None:
    """Import here what running a run imports when it is needed, so that no copy has to."""
    with tempfile.TemporaryDirectory() as folder, forgetting(Path(folder)):
        path, flow = Path(folder) / "warm.sqlite", Path(folder) / "warm.json"
        nodes = [
            {"id": "say", "type": "llm_call", "prompt": "warm", "next": [{"when": "say", "to": "ask"}]},
            {"id": "ask", "type": "human_task", "prompt": "{say}", "response_schema": {"type": "string"}, "next": None},
        ]
        schema = {"type": "object"}
        definition = {"workflow_id": "warm", "version": "1", "state_schema": schema, "nodes": nodes}
        flow.write_text(json.dumps(definition))
        workflow = load_workflow(flow)
        create_native(str(path))
        with closing(NativeStore(path, read_only=False)) as store:
            store.put_definition(workflow.definition())
            first = NewCheckpoint(Ref("t", "", new_id(-1)), None, {}, "input", step=-1, next=(workflow.start,))
            store.create_run(Run("r", "t", workflow.hash), first)
        run_here(WorkflowJob(str(path), "r", folder=folder), StopFlag(), lambda event: None)
