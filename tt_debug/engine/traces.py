"""What is kept and shown of a failure in user code: text that a store can hold, and the user's own frames.

Owns cleaning and cutting; what a failure means for the run is `retry`'s to say.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from traceback import TracebackException
from typing import Final

LONGEST: Final = 4_000
"""Characters of one message or line: a whole document in an error would be stored with every attempt."""

_FIRST, _LAST = 40, 80  # lines of a trace that are kept of a longer one
_OURS: Final = (str(Path(__file__).parents[1]), str(importlib.__file__), "<frozen importlib")


def storable(text: str, longest: int = LONGEST) -> str:
    """``text`` as a store takes it: half surrogate pairs written out, and what is beyond ``longest`` counted only."""
    clean = text[:longest].encode("utf-8", "backslashreplace").decode()
    return clean if len(text) <= longest else f"{clean}… ({len(text):,} characters in all)"


def message(error: BaseException) -> str:
    """What an exception says, whatever its class does when asked."""
    try:
        return storable(str(error))
    except Exception:  # noqa: BLE001  user code: an exception whose text fails is a failure like any other
        return "its text cannot be made"


def trace_lines(error: BaseException) -> list[str]:
    """The traceback from the user's first frame on; nothing where no code of the user's had a part in it."""
    trace = TracebackException.from_exception(error)
    if not _has_own_part(trace):
        return []
    _cut_causes(trace)
    lines = [storable(line) for line in "".join(trace.format()).splitlines()]
    if len(lines) <= _FIRST + _LAST:
        return lines
    return [*lines[:_FIRST], f"… {len(lines) - _FIRST - _LAST} lines left out …", *lines[-_LAST:]]


def _has_own_part(trace: TracebackException) -> bool:
    """Leave out the frames before the user's first; a file that does not even parse has none, and shows its line."""
    frames = trace.stack
    ours = next((at for at, frame in enumerate(frames) if not frame.filename.startswith(_OURS)), len(frames))
    del frames[:ours]
    return bool(frames) or issubclass(trace.exc_type or type(None), SyntaxError)


def _cut_causes(trace: TracebackException) -> None:
    above: TracebackException | None = trace
    while above is not None:
        if above.__cause__ is not None and not _has_own_part(above.__cause__):
            above.__cause__ = None
        if above.__context__ is not None and not _has_own_part(above.__context__):
            above.__context__ = None
        above = above.__cause__ or above.__context__
