"""Going from a checkpoint to the next one and what it changed, where states are large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench import data
from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works.stepping"
_STEPS: Final = 1_000


def cases(size: int) -> Iterator[Case]:
    """The end of a long conversation: in messages of LangChain's, and in plain ones."""
    count = min(size, _STEPS)
    for id, path, thread, words in (
        ("step", data.talk(count), "talk", "LangChain's messages"),
        ("step-plain", data.chat(count), "chat", "plain messages"),
    ):
        where = {"path": str(path), "thread": thread}
        yield Case(
            id,
            f"next checkpoint and its diff, {words} / LangGraph and deepdiff / SELECT of both rows",
            Work(f"{_WORKS}:step_ours", where),
            Work(f"{_WORKS}:step_peer", where),
            Work(f"{_WORKS}:step_floor", where),
            {"ours/floor": 1.5, **({"peer/ours": 500} if id == "step" else {})},
            rounds=25,
        )
    yield Case(
        "step-painted",
        "the same in the interface, painted, p95; 16 ms wanted",
        Work("tests.bench.works.terminal:stepping", {"path": str(data.talk(count))}),
        rounds=3,
    )
    where = {"path": str(data.talk(count)), "thread": "talk"}
    yield Case(
        "step-panels",
        "next checkpoint with everything the panels show, before it is painted / SELECT of both rows",
        Work(f"{_WORKS}:panels_ours", where),
        None,
        Work(f"{_WORKS}:step_floor", where),
        rounds=25,
    )
