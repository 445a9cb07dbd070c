"""A recorded line of a thread, run again by the user's graph in the driver process and compared: our side of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stores.effects import Effect
from stores.model import Header, Ref, Value
from tt_debug.engine.events import Event
from tt_debug.engine.graph import Target, common, died, drive
from tt_debug.engine.worker import RunEnd


@dataclass(frozen=True, slots=True)
class VerifyJob:
    """The line from ``base`` on, oldest first, ``base`` not among it; the effects on record, and the visits at it."""

    target: Target
    store_path: str = field(repr=False)
    base: Ref
    line: Sequence[Header]
    effects: Sequence[Effect]
    visits: Mapping[str, Mapping[str, int]]


def verify_graph(job: VerifyJob, on_event: Callable[[Event], None]) -> RunEnd:
    """Run it again in memory; nothing is written. Raises what `tt_debug.engine.graph.describe_graph` does."""
    ended: list[RunEnd] = []
    diverged: list[Mapping[str, Value]] = []

    def listen(line: dict[str, Value]) -> None:
        event = Event.from_json({"run": "", "thread": job.base.thread, **line})
        if event.kind == "diverged":
            diverged.append(event.fields)
        if event.kind == "run_ended":
            head = Ref(job.base.thread, "", event.fields["head"])
            first = diverged[0] if diverged else None
            ended.append(
                RunEnd("", job.base.thread, event.fields["status"], head, event.fields["error"], diverged=first)
            )
        on_event(event)

    what = {
        "do": "verify",
        "base": job.base.id,
        "line": [header.ref.id for header in job.line],
        "nodes": {header.ref.id: list(header.nodes) for header in job.line},
        "effects": [
            {
                "node": effect.slot.node,
                "visit": effect.slot.visit,
                "name": effect.slot.name,
                "call_no": effect.slot.call_no,
                "request": effect.request,
                "result": effect.result,
            }
            for effect in job.effects
        ],
        "visits": {ns: dict(counts) for ns, counts in job.visits.items()},
    }
    end = drive({**common(job.target, job.store_path, job.base.thread), **what}, job.target, listen)
    if not ended:
        raise died(end, "before the replay ended")
    return ended[0]
