"""Verifying a line of a LangGraph thread: its nodes run again in memory, and what comes out is compared.

Owns which line that is, and what is said before: of a line that no run of ours recorded effects of, states and what is
next are all that can be compared. Nothing is written anywhere.
"""

from __future__ import annotations

from dataclasses import replace

from stores.effects import Effect, EffectStatus
from stores.model import Header
from stores.protocol import Store
from tt_debug.engine.graph import interpreter
from tt_debug.engine.graph_place import path_of
from tt_debug.engine.graph_replay import VerifyJob, verify_graph
from tt_debug.errors import UsageError
from tt_debug.session import graph_scopes, heads, revival
from tt_debug.session.journal import Journal
from tt_debug.session.listing import open_view
from tt_debug.session.plans import GraphTarget, OnEvent, RunPlan, RunRequest, RunResult
from tt_debug.session.replays import in_words
from tt_debug.session.run_records import elsewhere

_NONE = "no effects are on record: only states and what is next can be compared, and every call is made for real"
_SOME = "effects come from the record; what a node does beside tt_debug.effect, it does for real, model calls too"


def plan(store: Store, journal: Journal, request: RunRequest, target: GraphTarget | None) -> RunPlan:
    """What would run again. Raises UsageError without a graph, and where nothing was recorded after the base."""
    if request.ref is None or target is None:
        raise UsageError("verifying a line needs its graph", hint="give --graph module:attr or ./file.py:attr")
    base, line = _line(store, journal, request)
    if not line:
        raise UsageError(f"nothing is on record after {heads.place(base)}", hint="verify from an earlier step")
    effects = _effects(store, journal, request)
    return RunPlan(
        title=f"Verify {base.ref.thread} from the record, with {target.graph}",
        request=replace(request, graph=target),
        runner="graph",
        thread=base.ref.thread,
        base=base.ref,
        step=base.step,
        nodes=tuple(name for header in line for name in header.nodes),
        stops="the first divergence, a question, or the end of the turn",
        notes=(
            _SOME if effects else _NONE,
            *revival.notes_of(store.load(base.ref), target.trust),
            f"{base.ref.thread!r} stays as it is; nothing is kept",
        ),
        code=f"{target.graph} in {interpreter(target)}",
    )


def execute(store: Store, journal: Journal, plan: RunPlan, on_event: OnEvent) -> RunResult:
    """Run it again in a child process and wait for that."""
    request, target = plan.request, plan.request.graph
    assert request.ref is not None
    assert target is not None
    base, line = _line(store, journal, request)
    here = {"": graph_scopes.visits_of(store, base.ref.thread, base.ref).get("", {})}
    effects = _effects(store, journal, request)
    ended = verify_graph(VerifyJob(target, path_of(store), base.ref, line, effects, here), on_event)
    found = () if ended.error else ("every step went as recorded",)
    notes = ((in_words(ended.diverged),) if ended.diverged else found) + (() if effects else (_NONE,))
    return RunResult("", ended.thread, ended.status, ended.head, ended.error, notes, divergence=ended.diverged)


def _line(store: Store, journal: Journal, request: RunRequest) -> tuple[Header, tuple[Header, ...]]:
    """The base, and the steps after it in the turn that it belongs to."""
    assert request.ref is not None
    view = open_view(store, journal, request.ref.thread)
    ref = request.ref
    refs = list(view.line(view.head if ref in view.line(view.head) else view.tip(ref)))
    line = [view.headers[each] for each in refs[refs.index(ref) :]]
    steps: list[Header] = []
    for header in line[1:]:
        if header.source != "loop":
            break
        steps.append(header)
    return line[0], tuple(steps)


def _effects(store: Store, journal: Journal, request: RunRequest) -> tuple[Effect, ...]:
    assert request.ref is not None
    scope = graph_scopes.business_id_of(store, journal, request.ref.thread)
    with elsewhere(store) as records:
        if records is None:
            return ()
        found = {
            use.effect.key: use.effect
            for use in records.effects()
            if use.effect.slot.business_id == scope and use.effect.status in EffectStatus.ANSWERED
        }
    return tuple(found.values())
