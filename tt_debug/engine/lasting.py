"""Imports that the garbage collector is spared. Runs in the user's interpreter too: stdlib only, Python 3.9, nothing of
ours.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def lasting_imports() -> Iterator[None]:
    """What is there after the block lives as long as the process, so that the collector need not look at it.

    It would again and again, at the very end too: a third of what a short run costs. Nothing that is made later is
    exempt, so that nothing of the user's is.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
