"""tt-debug: a time-travel debugger for checkpoint graphs, in the terminal.

For programs: ``tt_debug.snapshot(saver, path)``, and ``tt_debug.effect(name, fn, request)`` in the nodes of a graph.
All of it is imported when it is first used (PEP 562).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tt_debug.effects import aeffect as aeffect
    from tt_debug.effects import effect as effect
    from tt_debug.engine.retry import FatalError as FatalError
    from tt_debug.engine.retry import RetryableError as RetryableError
    from tt_debug.snapshots import snapshot as snapshot

__version__ = "0.1.0"
__all__ = ["FatalError", "RetryableError", "__version__", "aeffect", "effect", "snapshot"]

_PLACES = {
    "FatalError": "tt_debug.engine.retry",
    "RetryableError": "tt_debug.engine.retry",
    "aeffect": "tt_debug.effects",
    "effect": "tt_debug.effects",
    "snapshot": "tt_debug.snapshots",
}


def __getattr__(name: str) -> object:
    if name in _PLACES:
        import importlib

        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
