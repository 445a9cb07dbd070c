"""What a plan says of the step that a LangGraph thread goes on with: its questions, its subgraphs, the breakpoints.

Told by what is stored and by what an earlier run of ours noted; refuses to import the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stores.model import Checkpoint, Header, Status
from stores.protocol import Store
from tt_debug.session import asking
from tt_debug.session.journal import Journal
from tt_debug.session.listing import every_header
from tt_debug.session.plans import RunPlan
from tt_debug.session.thread_view import call_name
from tt_debug.text import one_line

_PROMPT = 60  # cells of a question in a plan


def with_step(store: Store, journal: Journal, plan: RunPlan) -> RunPlan:
    """The plan with one more note for each of them."""
    if plan.base is None:
        return plan
    base = store.load(plan.base)
    notes = list(_breakpoints(journal, plan.base.thread))
    # A replay of a step that the thread went on from starts it anew, with everything inside.
    if base.header.status != Status.DONE:
        unanswered = [] if plan.request.has_answer else _unanswered(store, journal, plan.base.thread)
        notes = [*unanswered, *_inside(base, every_header(store, plan.base.thread)), *notes]
    return replace(plan, notes=(*plan.notes, *notes))


def _unanswered(store: Store, journal: Journal, thread: str) -> Iterator[str]:
    answered = journal.answers()
    for ask in asking.questions(store, thread):
        if asking.key(ask) not in answered:
            prompt = one_line(ask.prompt, _PROMPT)
            yield f"{ask.node} still waits for an answer to {prompt} ({ask.id}), and asks again"


def _inside(base: Checkpoint, headers: list[Header]) -> Iterator[str]:
    """The subgraphs that the step's unfinished tasks are in, and where each goes on."""
    outer = f"{base.header.ref.ns}|" if base.header.ref.ns else ""
    for task in base.tasks:
        own = f"{outer}{task.node}:{task.id}"
        newest = {header.ref.ns: header for header in headers if f"{header.ref.ns}|".startswith(f"{own}|")}
        for ns, found in newest.items():
            if found.next and task.status != Status.DONE:
                yield f"{call_name(ns, base.header.ref.ns)} goes on inside at {', '.join(found.next)} (namespace {ns})"


def _breakpoints(journal: Journal, thread: str) -> Iterator[str]:
    known = journal.graph_of(thread)
    for when, nodes in (known or {}).get("breakpoints", {}).items():
        named = "every node" if nodes == "*" else ", ".join(nodes)
        yield f"the graph's own breakpoints stop {when} {named}"
