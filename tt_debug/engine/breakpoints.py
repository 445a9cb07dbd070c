"""Whether a run meets a breakpoint: kept in the store, looked up at every place where one may stand.

Pure but for reading them. A condition that cannot be evaluated is met, with a message: a run that was to stop
somewhere must not run past it because of a slip of the pen. Never evaluates code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from stores.edges import NoMatch, first_match
from stores.model import Value
from stores.supervision import Breakpoint, BreakpointHit

if TYPE_CHECKING:
    from stores.protocol import RunStore
    from stores.runs import Run

Place = Literal["before", "after", "error", "effect"]
PLACES: Final[tuple[Place, ...]] = ("before", "after", "error", "effect")


def met(
    known: Iterable[Breakpoint], place: Place, node: str, state: Mapping[str, Value], name: str = ""
) -> BreakpointHit | None:
    """Those that are met at ``place`` of ``node``, as one hit; None when none is. ``name`` is an effect's."""
    ids: list[str] = []
    said: list[str] = []
    for each in known:
        if each.place != place or each.node not in (None, node) or each.name not in (None, name):
            continue
        fault = _fault(each.condition, state)
        if fault is not None:
            ids.append(each.id)
            said.append(f"breakpoint {each.id}, {_where(place, node, name)}{fault}")
    return BreakpointHit(tuple(ids), place, node, "; ".join(said)) if ids else None


def _fault(condition: str | None, state: Mapping[str, Value]) -> str | None:
    """None where the condition does not hold; else what is to be said of it."""
    if condition is None:
        return ""
    try:
        first_match([(condition, None)], state)
    except NoMatch as error:
        return f": {error}" if error.__cause__ is not None else None
    return f" when {condition}"


def _where(place: Place, node: str, name: str) -> str:
    return {"error": f"on an error of {node}", "effect": f"before the effect {name} of {node}"}.get(
        place, f"{place} {node}"
    )


class Stops:
    """The breakpoints of one run."""

    def __init__(self, store: RunStore, run: Run) -> None:
        self._store = store
        self._run = run
        self._known: tuple[Breakpoint, ...] = ()

    def look(self) -> str | None:
        """What somebody has asked of the run meanwhile, and which breakpoints stand now. Raises LeaseLost."""
        run, self._known = self._store.orders(self._run.run_id, self._run.token)
        return run.requested

    def at(self, place: Place, node: str, state: Mapping[str, Value]) -> BreakpointHit | None:
        """What is met there, as of the last look."""
        return met(self._known, place, node, state)

    def before_effect(
        self, node: str, name: str, key: str, state: Callable[[], Mapping[str, Value]]
    ) -> BreakpointHit | None:
        """What is met before a call is made; not again where the run was stopped at this very call last."""
        known = [each for each in self._store.breakpoints(self._run.thread) if each.place == "effect"]
        hit = met(known, "effect", node, state(), name) if known else None
        if hit is None:
            return None
        last = self._store.events(["breakpoint"], run_id=self._run.run_id, limit=1)
        if last and last[0].data.get("key") == key:
            return None
        return BreakpointHit(hit.ids, hit.place, hit.node, hit.said, key)
