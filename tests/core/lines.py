"""Lines of checkpoints as values, for questions asked of them; a step whose state is None cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stores.errors import Corrupt
from stores.model import Checkpoint, Header, Ref, Task, Value, Write

State = Mapping[str, Value] | None


@dataclass
class Line:
    """The checkpoints of one line, oldest first, and which of them were read."""

    states: Sequence[State]
    sources: Mapping[int, str] = field(default_factory=dict)
    read: list[int] = field(default_factory=list)

    @property
    def headers(self) -> list[Header]:
        """Oldest first: node ``n1`` wrote step 1."""
        return [self._header(step) for step in range(len(self.states))]

    def load(self, ref: Ref) -> Checkpoint:
        """With the task of the step after it, which wrote every channel that differs there."""
        step = int(ref.id)
        self.read.append(step)
        state = self.states[step]
        if state is None:
            raise Corrupt(f"{ref.id} is torn")
        return Checkpoint(self._header(step), state, self._tasks(step))

    def _header(self, step: int) -> Header:
        parent = Ref("t", "", f"{step - 1:03}") if step else None
        source = self.sources.get(step, "loop" if step else "input")
        return Header(Ref("t", "", f"{step:03}"), parent, step, source, None, (f"n{step}",) if step else ())

    def _tasks(self, step: int) -> tuple[Task, ...]:
        after = self.states[step + 1] if step + 1 < len(self.states) else None
        if after is None:
            return ()
        before = self.states[step] or {}
        wrote = tuple(Write(key, value) for key, value in after.items() if before.get(key) != value)
        return (Task(f"task-{step + 1}", f"n{step + 1}", "", "done", wrote),)
