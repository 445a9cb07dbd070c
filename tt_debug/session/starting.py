"""New threads of a workflow, and what a repeated batch finds of the ones it started before.

Refuses to run or to store anything: what is said here is part of a plan.
"""

from __future__ import annotations

from pathlib import Path

from stores.codec import json as strict_json
from stores.errors import Conflict
from stores.model import Header, Ref, Status
from stores.protocol import RunStore, Store
from tt_debug.definition.load import differences, load_body
from tt_debug.definition.workflow import Workflow
from tt_debug.equality import strict_equal
from tt_debug.errors import DefinitionChanged
from tt_debug.session import owners
from tt_debug.session.addresses import thread_exists
from tt_debug.session.listing import every_header
from tt_debug.session.plans import RunPlan, RunRequest, RunResult


def check_new(store: RunStore, workflow: Workflow, given: Path) -> None:
    """Raises DefinitionChanged when the store knows that version with another body: one version has one."""
    known = store.registered(workflow.workflow_id, workflow.version)
    if known is not None and known.hash != workflow.hash:
        raise DefinitionChanged(
            f"{given.name} differs from {workflow.workflow_id} {workflow.version}, which has run in this store",
            differences(load_body(known.body, known.origin), workflow),
            hint="give the changed workflow another version",
        )


def name_of(store: Store, workflow: Workflow, request: RunRequest) -> str:
    """The new thread's name. Raises Conflict when there is such a thread, Invalid for an input that is no JSON."""
    strict_json.dumps(dict(request.input))
    if request.thread:
        if thread_exists(store, request.thread):
            raise Conflict(
                f"thread {request.thread!r} exists already", hint="give another --thread, or resume that one"
            )
        return request.thread
    number = 1
    while thread_exists(store, f"{workflow.workflow_id}-{number}"):
        number += 1
    return f"{workflow.workflow_id}-{number}"


def started_before(store: Store, request: RunRequest) -> Header | None:
    """The head of the thread that the request would start, when it was started with the same input.

    None for a thread that is not there. Raises Conflict for one that came about in another way.
    """
    if not request.thread or not thread_exists(store, request.thread):
        return None
    headers = every_header(store, request.thread)
    first = headers[0]
    if first.parent is not None or not strict_equal(dict(store.load(first.ref).state), dict(request.input)):
        raise Conflict(
            f"thread {request.thread!r} exists, and was not started with this input",
            hint="give the line another id, or resume that thread",
        )
    head = store.head(request.thread)
    return next(header for header in headers if header.ref == head)


def done_before(store: RunStore, request: RunRequest, head: Header) -> RunPlan | None:
    """The plan of a request whose thread has run to its end: nothing. None when there is something left to run."""
    if head.status != Status.DONE or head.next:
        return None
    run = next((run.run_id for run in owners.known_runs(store, head.ref.thread)), "")
    return RunPlan(
        title=f"{head.ref.thread} is done already",
        request=request,
        runner="workflow",
        thread=head.ref.thread,
        base=Ref(*head.ref),
        step=head.step,
        nodes=(),
        stops="at once: it is done already",
        ended=RunResult(run, head.ref.thread, Status.DONE, head.ref),
    )
