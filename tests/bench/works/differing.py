"""What changed between two states."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from tests.bench.data import messages

Pair = tuple[dict[str, Any], dict[str, Any]]


def pair(kind: str, count: int) -> Pair:
    """Two states of ``count`` messages: one appended, edited, inserted; nothing changed; everything changed; one leaf
    of a large tree beside them changed; one appended to the very same ones."""
    before = {"messages": messages(count), "plan": {"status": "draft"}}
    if kind == "leaf":
        before["tree"] = {f"branch {at}": {"leaf": "x" * 480, "number": at} for at in range(10_000)}
    after = {"messages": [*before["messages"]], "plan": before["plan"]} if kind == "shared" else deepcopy(before)
    said = after["messages"]
    if kind in ("append", "shared"):
        said.append({"id": "new", "type": "ai", "content": "One more.", "usage": {"in": 1, "out": 2, "cost": 0.1}})
    elif kind == "edit":
        said[count // 2]["content"] = "Changed."
    elif kind == "insert":
        said.insert(0, {"id": "new", "type": "ai", "content": "Before.", "usage": {"in": 1, "out": 2, "cost": 0.1}})
    elif kind == "leaf":
        after["tree"]["branch 5000"]["number"] = 5000.0
    elif kind == "all":
        for number, message in enumerate(said):
            message["content"] = f"Another {number}."
            message["usage"]["cost"] += 1
    return before, after


def diff_ours(kind: str, count: int) -> Callable[[], object]:
    """Our diff."""
    from tt_debug.diff import diff

    before, after = pair(kind, count)
    return lambda: diff(before, after)


def diff_peer(kind: str, count: int) -> Callable[[], object]:
    """deepdiff."""
    from deepdiff import DeepDiff

    before, after = pair(kind, count)
    return lambda: DeepDiff(before, after)


def diff_floor(kind: str, count: int) -> Callable[[], object]:
    """Writing both states as JSON."""
    import orjson

    before, after = pair(kind, count)
    return lambda: (orjson.dumps(before), orjson.dumps(after))
