"""What a run tells while it runs: one JSON object a line on the child's pipe, one `Event` here.

Kinds and their fields (all have ``run``, ``thread`` and ``at``):

    run_started    workflow, version, next, base
    step_started   node, step, attempt
    step_finished  node, step, checkpoint, duration_ms, next
    substep_finished  node, substep, step, checkpoint
    step_failed    node, attempt, error, retry_in (seconds, or null when it is final)
    log            node, text               what the node said through ``ctx.log``
    output         stream, text             what the user's code printed
    diverged       node, step, what (node, effects, output or next), recorded, replayed    of a replay
    waiting        node, approval, prompt, ns
    run_ended      status, head, error      always the last; status as in `stores.model.Status`,
                   or "lost": another process took the run over
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stores.model import Value


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a run. ``at`` is ISO 8601 in UTC."""

    kind: str
    run: str
    thread: str
    at: str
    fields: Mapping[str, Value] = field(default_factory=dict)

    def to_json(self) -> dict[str, Value]:
        """The object as it stands on the pipe and in ``--json``."""
        return {"event": self.kind, "run": self.run, "thread": self.thread, "at": self.at, **self.fields}

    @classmethod
    def from_json(cls, line: Mapping[str, Value]) -> Event:
        """Raises KeyError when one of the four common fields is missing."""
        common = {"event", "run", "thread", "at"}
        rest = {key: value for key, value in line.items() if key not in common}
        return cls(line["event"], line["run"], line["thread"], line["at"], rest)
