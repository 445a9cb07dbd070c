"""What `make bench` measures: the cases of every subject, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tests.bench.harness import Case
from tests.bench.subjects import asking, differing, following, reading, running, starting, stepping, storing, terminal

SUBJECTS: Final[tuple[Callable[[int], Iterator[Case]], ...]] = (
    reading.cases,
    stepping.cases,
    storing.cases,
    differing.cases,
    asking.cases,
    running.cases,
    starting.cases,
    following.cases,
    terminal.cases,
)
"""One line for each subject; ``tests/bench/subjects`` holds them, ``tests/bench/works`` what they measure."""


def cases(size: int) -> Iterator[Case]:
    """Everything, up to ``size`` checkpoints a thread. Data is made as its case comes up."""
    for subject in SUBJECTS:
        yield from subject(size)
