"""An edit as a node's own update, made by the user's graph in the driver process: our side of it.

Owns how values get there: as the bytes that a store would hold, so that the graph's own serializer makes its objects.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from stores.codec import msgpack
from stores.model import Value
from tt_debug.engine.graph import Target, common, drive, lock_of
from tt_debug.errors import ChildFailed


@dataclass(frozen=True, slots=True)
class UpdateJob:
    """What ``as_node`` is to have written at checkpoint ``base`` of the root graph.

    ``values`` are by channel, and none of them only asks the node's branches anew. They replace what is there, or with
    ``by_reducer`` go through the graph's reducers. ``with_results`` counts what the base's finished tasks wrote.
    """

    target: Target
    store_path: str = field(repr=False)
    thread: str
    base: str
    as_node: str
    values: Mapping[str, Value]
    by_reducer: bool = False
    with_results: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """What came of it: the values before and after, as plain JSON, and what runs next. Saved under ``checkpoint``."""

    before: Mapping[str, Value]
    after: Mapping[str, Value]
    next: tuple[str, ...]
    checkpoint: str | None


def update_graph(job: UpdateJob, *, save: bool) -> Updated:
    """Make the update in a child process: in memory only, or to ``save`` it where ``base`` is the thread's head.

    Runs the graph's reducers and branches, and none of its nodes. Raises Invalid for a value that cannot be stored,
    Conflict when the thread has moved on or is being run, Untrusted, UsageError, NotFound, ChildFailed.
    """
    found: list[dict[str, Value]] = []
    packed = {
        name: base64.b64encode(msgpack.encode(value, (name,))).decode("ascii") for name, value in job.values.items()
    }
    what = {
        "base": job.base,
        "as_node": job.as_node,
        "values": packed,
        "replace": not job.by_reducer,
        "with_writes": job.with_results,
        "save": save,
        "lock": str(lock_of(job.store_path, job.thread)),
    }
    drive({"do": "update", **common(job.target, job.store_path, job.thread), **what}, job.target, found.append)
    line = next((line for line in found if line["event"] == "updated"), None)
    if line is None:
        raise ChildFailed("the driver process ended without a word about the update")
    return Updated(line["before"], line["after"], tuple(line["next"]), line["checkpoint"])
