"""Whose effects the runs of a LangGraph thread have, and how often its nodes were visited. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from stores.effects import Effect, EffectStatus
from stores.model import Header, Ref
from stores.protocol import Store, TellsAddresses
from tt_debug.session.journal import Journal
from tt_debug.session.listing import newest_headers
from tt_debug.session.run_records import elsewhere


def business_id_of(store: Store, journal: Journal, thread: str) -> str:
    """That of the line of work which the thread was forked from, unless it was to have effects of its own."""
    forks, fresh, seen, origin = journal.forks(), journal.fresh(), {thread}, thread
    while origin not in fresh and origin in forks and forks[origin].thread not in seen:
        origin = forks[origin].thread
        seen.add(origin)
    own = f"{origin}~{forks[origin].id}" if origin in fresh and origin in forks else origin
    # The store's id is in it: threads of two stores may share names, and would hand the same keys to the same world.
    # So is the oldest checkpoint, which a fork copies: a file that was begun anew at the same place is another world.
    return f"{own}@{store.info.store_id[:8]}.{_oldest(store, thread)}"


def _oldest(store: Store, thread: str) -> str:
    if isinstance(store, TellsAddresses):
        return next((ref.id for ref in store.addresses(thread).refs if not ref.ns), "")
    return next((header.ref.id for header in reversed([*newest_headers(store, thread)]) if not header.ref.ns), "")


def visits_of(store: Store, thread: str, at: Ref | None = None) -> Mapping[str, Mapping[str, int]]:
    """By namespace, in how many supersteps of the line that ends at its newest checkpoint each node was completed.

    ``at`` stands for the newest one of its own namespace.
    """
    found: dict[str, Counter[str]] = {}
    line: dict[str, Ref | None] = {} if at is None else {at.ns: at}
    for header in newest_headers(store, thread):
        ns = header.ref.ns
        if ns in line and line[ns] != header.ref:
            continue
        found.setdefault(ns, Counter()).update(set(header.nodes))
        line[ns] = _parent_within(header)
    return found


def ahead(store: Store, thread: str, scope: str, base: Header) -> tuple[Effect, ...]:
    """What the line of work has on record for visits that come after ``base`` of the thread, oldest first."""
    with elsewhere(store) as records:
        if records is None:
            return ()
        visits = visits_of(store, thread, base.ref).get("", {})
        found = {
            use.effect.key: use.effect
            for use in records.effects()
            if use.effect.slot.business_id == scope
            and use.effect.status in EffectStatus.ANSWERED
            and use.effect.slot.visit > visits.get(use.effect.slot.node, 0)
            and "/" not in use.effect.slot.node
        }
    return tuple(found.values())


def _parent_within(header: Header) -> Ref | None:
    return header.parent if header.parent is not None and header.parent.ns == header.ref.ns else None
