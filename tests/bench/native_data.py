"""The native files that questions are measured on.

Owns their shape; where they lie is `tests.bench.data`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.past import PastCheckpoint, PastThread
from tests.bench import data

THREAD = "agent"


def linear(count: int) -> Path:
    """One thread of ``count`` checkpoints of small states, without a branch: "count" is another value in each, "phase"
    became another once."""
    return data.made(f"native-linear-{count}.sqlite", lambda path: _write(path, count))


def _write(path: Path, count: int) -> None:
    create_native(path)
    with closing(NativeStore(path, read_only=False)) as store:
        store.restore([PastThread(THREAD)], _line(count))


def _line(count: int) -> Iterator[PastCheckpoint]:
    before: Ref | None = None
    for number in range(count):
        ref = Ref(THREAD, "", data.checkpoint_id(number, number - 1))
        state = {
            "count": number,
            "phase": "draft" if number < count // 3 else "review",
            "topic": f"topic {number % 7}",
            "plan": {"steps": ["read", "write", "check"], "at": number % 3},
        }
        source = "input" if before is None else "step"
        yield PastCheckpoint(NewCheckpoint(ref, before, state, source, step=number - 1, nodes=("work",)))
        before = ref
