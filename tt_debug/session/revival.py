"""What LangGraph's own reader imports and calls when it loads a stored state, for the question before a run.

By default that reader imports whatever module a value names and calls what it names in it (langgraph-checkpoint,
serde/_msgpack.py). Ours never does; but a run loads the state with theirs.
"""

from __future__ import annotations

from typing import Final

from stores.model import Checkpoint, Tagged
from tt_debug.values import walk

_OWN_PACKAGES: Final = frozenset(
    {"datetime", "decimal", "ipaddress", "langchain_core", "langgraph", "numpy", "pathlib", "uuid", "zoneinfo"}
)
_OWN: Final = frozenset({"builtins.frozenset", "builtins.set", "collections.deque", "re.compile"})
_NAMED: Final = 5


def note_of(checkpoint: Checkpoint) -> str | None:
    """One sentence that names the classes and functions from elsewhere; None when there are none."""
    held = [checkpoint.state, *(write.value for task in checkpoint.tasks for write in task.writes)]
    names = dict.fromkeys(value.type_name for part in held for value in walk(part) if isinstance(value, Tagged))
    foreign = [name for name in names if name not in _OWN and name.partition(".")[0] not in _OWN_PACKAGES]
    if not foreign:
        return None
    more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
    return f"LangGraph imports and calls what the stored state names: {', '.join(foreign[:_NAMED])}{more}"
