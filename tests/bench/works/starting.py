"""Whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def process(argv: Sequence[str]) -> Callable[[], object]:
    """Run a command to its end. ``{python}`` in it is this interpreter, ``{tt-debug}`` the script installed with it."""
    here = {"{python}": sys.executable, "{tt-debug}": str(Path(sys.executable).with_name("tt-debug"))}
    command = [here.get(part, part) for part in argv]
    # An installed program has its bytecode: what would keep it from being written is no part of a start.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return lambda: subprocess.run(command, check=True, env=environment, **silent)
