"""What the conformance tests look at: two threads that every adapter's fixtures hold, and a folder's fingerprint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from stores.model import NewCheckpoint, Ref, Status, Value

TRIP: Final = "trip"
ODD: Final = 'it\'s 名 / 100% "x"'
NOBODY: Final = Ref("nobody", "", "1f000000-0000-6000-8000-00000000ffff")


def sample_ref(number: int, step: int, thread: str = TRIP) -> Ref:
    """The address of a sample checkpoint: a UUIDv6 whose time is ``number``."""
    return Ref(thread, "", f"1f000000-{number:04x}-6000-{0x8000 | step & 0x3FFF:04x}-00000000{number:04x}")


def _sample() -> tuple[NewCheckpoint, ...]:
    first = {"city": "Łódź", "n": 1, "ratio": 1.0, "sure": True, "text": "1", "none": None, "steps": []}
    states: list[dict[str, Value]] = [{**first, "steps": [{"id": n} for n in range(count)]} for count in range(5)]
    trip = [sample_ref(n, n - 1) for n in range(5)]
    made = [
        NewCheckpoint(
            ref=ref,
            parent=trip[n - 1] if n else None,
            state=states[n],
            source="step" if n else "input",
            step=n - 1,
            nodes=("plan",) if n else (),
            next=("plan",) if n < 4 else (),
            status=Status.UNFINISHED if n < 4 else Status.DONE,
        )
        for n, ref in enumerate(trip)
    ]
    odd, after = sample_ref(6, -1, ODD), sample_ref(7, 0, ODD)
    branch = NewCheckpoint(sample_ref(5, 1), trip[1], {**first, "steps": ["instead"]}, "step", step=1, nodes=("plan",))
    return (
        *made,
        branch,
        NewCheckpoint(odd, None, {"x": 2**53 + 1}, "input", step=-1),
        NewCheckpoint(after, odd, {"x": [[], {}, "naïve 🚀"]}, "step", step=0, nodes=("send",)),
    )


SAMPLE: Final = _sample()
"""Two threads, oldest first: a line of five with a branch at its second, which is the newest; a line of two."""
HEADS: Final = {TRIP: SAMPLE[5].ref, ODD: SAMPLE[7].ref}


def folder_as_it_is(folder: Path) -> dict[str, list[Any]]:
    """Every file below a folder: SHA-256 and time of change, told by a process of its own.

    Reading and closing a database here would drop the locks that this process holds on it.
    """
    said = subprocess.run([sys.executable, "-c", _TELL, str(folder)], check=True, capture_output=True)
    found: dict[str, list[Any]] = json.loads(said.stdout)
    return found


_TELL: Final = """
import hashlib, json, pathlib, sys
root = pathlib.Path(sys.argv[1])
files = [path for path in sorted(root.rglob("*")) if path.is_file()]
print(json.dumps({str(path.relative_to(root)): [hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns]
                  for path in files}))
"""
