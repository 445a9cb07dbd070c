"""The effects on record that a run would come to next, for its plan. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stores.effects import Effect, EffectClass, EffectStatus
from stores.model import Ref
from stores.protocol import RunStore
from tt_debug.session.plans import RunPlan
from tt_debug.session.thread_view import ThreadView


def ahead(store: RunStore, view: ThreadView, ref: Ref) -> tuple[Effect, ...]:
    """What the line of work that ends at ``ref`` has on record for visits that are still to come, oldest first.

    A fork with effects of its own shares none with the line that it left.
    """
    threads: dict[str, None] = {}
    for place in reversed(view.line(ref)):
        threads[place.thread] = None
        if "business_id" in view.headers[place].meta:
            break
    visits = store.visits(ref)
    found = {
        use.effect.key: use.effect
        for thread in threads
        for use in store.effects(thread)
        if use.effect.status in EffectStatus.ANSWERED
        and use.effect.slot.visit > visits.get(use.effect.slot.node, 0)
        and use.effect.slot.name not in ("now", "uuid", "random")
    }
    return tuple(found.values())


def business_id_of(store: RunStore, view: ThreadView, ref: Ref) -> str:
    """Whose effects the line that ends at ``ref`` has."""
    for place in reversed(view.line(ref)):
        own = view.headers[place].meta.get("business_id")
        if isinstance(own, str):
            return own
        for run in store.runs(place.thread):
            if run.business_id is not None:
                return run.business_id
    return view.line(ref)[0].thread


def told(plan: RunPlan, found: Sequence[Effect]) -> RunPlan:
    """The plan with what becomes of them."""
    differing = (effect for effect in found if effect.kind != EffectClass.REPEATABLE)
    return replace(plan, recorded=_names(found), differing=_names(tuple(differing)))


def _names(effects: Sequence[Effect]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{effect.slot.name} in {effect.slot.node} ({effect.kind})" for effect in effects))
