"""Whole processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence


def process(argv: Sequence[str]) -> Callable[[], object]:
    """Run a command to its end; ``{python}`` in it is this interpreter."""
    command = [sys.executable if part == "{python}" else part for part in argv]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
