"""Whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence


def process(argv: Sequence[str]) -> Callable[[], object]:
    """Run a command to its end; ``{python}`` in it is this interpreter."""
    command = [sys.executable if part == "{python}" else part for part in argv]
    # An installed program has its bytecode: what would keep it from being written is no part of a start.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return lambda: subprocess.run(command, check=True, env=environment, **silent)
