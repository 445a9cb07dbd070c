"""The same history as `tests.bench.data.linear` in a git repository: as many commits, with the same side branches.

Owns the repository and where it lies.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench import data

_START: Final = 1_767_323_045
_WHO: Final = "Ada <ada@example.org>"


def linear(count: int) -> Path:
    """A bare repository of ``count`` commits without files, made whole or not at all."""
    path = data.folder() / f"linear-{count}.v{data.SHAPE}.git"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=data.folder()) as unfinished:
            made = Path(unfinished) / "made"
            subprocess.run(["git", "init", "--quiet", "--bare", made], check=True)
            stream = "".join(_commits(count)).encode()
            subprocess.run(["git", "-C", made, "fast-import", "--quiet"], input=stream, check=True)
            subprocess.run(["git", "-C", made, "pack-refs", "--all"], check=True)
            made.rename(path)
    return path


def _commits(count: int) -> Iterator[str]:
    line: list[int] = []
    for number in range(1, count + 1):
        branches = number % data.BRANCH_EVERY == 0
        parent = line[-2] if branches and len(line) > 1 else line[-1] if line else None
        if not branches:
            line.append(number)
        message = f"loop agent {number}"
        yield f"commit refs/heads/{f'side-{number}' if branches else 'main'}\nmark :{number}\n"
        yield f"committer {_WHO} {_START + number // 2} +0000\ndata {len(message)}\n{message}\n"
        yield "" if parent is None else f"from :{parent}\n"
