"""Delta channels: values that are stored as writes since a snapshot (langgraph 1.2 channels/delta.py).

Owns finding the snapshot and the writes in the order the runtime applies them; refuses to apply them, as the
reducer lives in the user's code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from stores.codec.msgpack import DELTA_SNAPSHOT
from stores.langgraph.rows import WriteRow
from stores.langgraph.skeleton import Key
from stores.model import MISSING, Partial, Tagged, Value

COUNTERS: Final = "counters_since_delta_snapshot"


def delta_channels(metadata: Mapping[str, Value]) -> frozenset[str]:
    """The delta channels that a checkpoint does not hold in full: the runtime counts what came since their snapshot."""
    counters = metadata.get(COUNTERS)
    return frozenset(counters) if isinstance(counters, dict) else frozenset()


def is_snapshot(value: Value) -> bool:
    """Whether a channel's stored value is the whole of a delta channel."""
    return isinstance(value, Tagged) and value.tag == (DELTA_SNAPSHOT,)


def whole(value: Value) -> Value:
    """A channel's value as the graph sees it."""
    return value.value if is_snapshot(value) else value


def rebuild(
    names: Iterable[str],
    ancestors: Iterable[Key],
    seed_at: Callable[[Key, str], Value],
    writes_at: Callable[[Key], Iterable[WriteRow]],
    decode: Callable[[WriteRow], Value],
) -> Iterator[tuple[str, Partial]]:
    """Each channel as its seed and the writes since, oldest first.

    ``ancestors`` are nearest first; ``seed_at`` gives MISSING where a checkpoint holds no value of the channel.
    The writes of the checkpoint with the seed came after it, so they count; the target's own are still pending.
    """
    left = {name: list[list[Value]]() for name in names}
    for key in ancestors:
        if not left:
            return
        rows = sorted(writes_at(key), key=lambda row: (row.path, row.task, row.idx))
        for name, steps in list(left.items()):
            steps.append([decode(row) for row in rows if row.channel == name])
            seed = seed_at(key, name)
            if seed is not MISSING:
                yield name, _partial(seed, left.pop(name))
    for name, steps in left.items():
        yield name, _partial(MISSING, steps)


def _partial(seed: Value, steps: list[list[Value]]) -> Partial:
    return Partial(whole(seed), tuple(value for step in reversed(steps) for value in step))
