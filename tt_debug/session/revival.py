"""What LangGraph's own reader would import and call when it loads a stored state, for the question before a run.

By default that reader imports whatever module a value names and calls what it names in it (langgraph-checkpoint,
serde/_msgpack.py). Ours never does, and a run's is guarded (`tt_debug.engine.graph_guard`): only the graph itself can
say what it has imported, so that some of it is known here, and the rest only once it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import Final

from stores.model import Checkpoint, Opaque, Tagged, Value
from tt_debug.engine.graph_guard import PICKLE, SAFE, is_held
from tt_debug.values import walk

_UNNAMED: Final = "delta snapshot"
_SHOWN: Final = 5


def notes_of(checkpoint: Checkpoint, trusted: Collection[str]) -> tuple[str, ...]:
    """A sentence on what the run will be refused for, and one on what the graph has to have imported; none for neither.

    Imports nothing, and asks only modules of the standard library that are here anyway.
    """
    held = [checkpoint.state, *(write.value for task in checkpoint.tasks for write in task.writes)]
    names = dict.fromkeys(name for part in held for value in walk(part) for name in _named(value))
    foreign = [name for name in names if name not in SAFE and name not in trusted]
    refused = [name for name in foreign if _is_no_value(name)]
    unknown = [name for name in foreign if name not in refused]
    notes = []
    if refused:
        notes.append(f"will be refused: the stored state names {_few(refused)}, no class of plain values")
    if unknown:
        notes.append(f"refused unless the graph imports {_few(unknown)}, which the stored state names")
    return tuple(notes)


def _named(value: Value) -> Iterator[str]:
    if isinstance(value, Tagged) and value.type_name != _UNNAMED:
        yield value.type_name
    elif isinstance(value, Opaque) and value.kind == PICKLE:
        yield PICKLE
    elif isinstance(value, dict) and value.get("lc") == 2 and isinstance(value.get("id"), list):
        yield ".".join(str(part) for part in value["id"])


def _is_no_value(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    here = module.partition(".")[0] in sys.stdlib_module_names and module in sys.modules
    return name == PICKLE or (here and not is_held(module, attribute))


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
