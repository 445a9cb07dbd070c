"""What every edited row has of its own, whatever form it is stored in: versions, metadata, which channels change.

Owns these rules; refuses bytes: those are `stores.langgraph.edit` and `stores.langgraph.edit_json`'s.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stores.changes import apply_changes
from stores.codec import json as strict_json
from stores.errors import Invalid, Unsupported
from stores.langgraph import delta, rows
from stores.langgraph.rows import END, CheckpointRow
from stores.model import MISSING, Change, Value

# Of the metadata: who wrote the base is not who wrote its fork.
_NOT_INHERITED: Final = frozenset({"writes"})


@dataclass(frozen=True, slots=True)
class Birth:
    """What a new row has of its own. ``meta`` is added to its metadata.

    ``floor`` is the highest whole number that is a version of any value stored apart in the thread: where versions
    are counted, one that another branch gave out already would lead to that branch's value.
    """

    id: str
    parent: str | None
    step: int
    meta: Mapping[str, object]
    floor: int = 0


def wanted_channels(stored: Collection[str], state: Mapping[str, Value], changes: Sequence[Change]) -> dict[str, Value]:
    """The channels that the changes reach, with their new values; MISSING for one that is removed."""
    after = apply_changes(dict(state), changes) if changes else dict(state)
    if not isinstance(after, dict):
        raise Invalid("a state is an object: it cannot be replaced by another kind of value")
    if END in stored and END not in state:
        # The last result of a workflow of the functional API stands for its state.
        return {END: after} if changes else {}
    wanted: dict[str, Value] = {}
    for name in {**state, **after}:
        if not isinstance(name, str) or rows.is_control(name):
            raise Invalid(f"{name!r} cannot be a channel of the graph")
        value = after.get(name, MISSING)
        if value is not state.get(name, MISSING):
            wanted[name] = value
    return wanted


def next_version(versions: Sequence[Value], floor: int = 0) -> Value:
    """As ``get_next_version`` of the savers: the number after the highest, with a fresh random part."""
    try:
        highest = max(versions, default="")
        if isinstance(highest, str):
            number = int(highest.partition(".")[0] or 0) + 1
            return f"{number:032}.{random.random():016}"
        return max(highest, floor) + 1
    except (TypeError, ValueError) as error:
        raise Unsupported(f"the versions of the channels are of no known form: {error}") from error


def new_metadata(base: CheckpointRow, birth: Birth, edited: Collection[str]) -> bytes:
    """The base's metadata as those of its fork. Raises Invalid, with the path, for what JSON cannot hold."""
    old, _ = rows.read_metadata(base.metadata)
    kept = {name: value for name, value in old.items() if name not in _NOT_INHERITED}
    counters = kept.pop(delta.COUNTERS, None)
    if isinstance(counters, dict) and (left := {name: count for name, count in counters.items() if name not in edited}):
        kept[delta.COUNTERS] = left
    strict_json.dumps(dict(birth.meta), ("metadata",))
    found = {**kept, **birth.meta, "source": "fork", "step": birth.step, "parents": old.get("parents") or {}}
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "ignore")
