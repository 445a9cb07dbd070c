"""tt-debug: a time-travel debugger for checkpoint graphs, in the terminal.

``tt_debug.snapshot(saver, path)`` is for programs; it is imported when it is first used (PEP 562).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tt_debug.snapshots import snapshot as snapshot

__version__ = "0.1.0"
__all__ = ["__version__", "snapshot"]


def __getattr__(name: str) -> object:
    if name == "snapshot":
        from tt_debug.snapshots import snapshot

        return snapshot
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
