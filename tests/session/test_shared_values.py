"""Decoded values are shared between checkpoints and questions: whatever is done with a state, it stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

import pytest

from stores.model import Change
from tests.stores.handmade import Row, ext, handmade, uuid
from tt_debug.blame import origins
from tt_debug.diff import diff, invert
from tt_debug.patch import to_json_patch
from tt_debug.query import compile_expr, evaluate
from tt_debug.redaction import Redaction
from tt_debug.session.hiding import hidden_checkpoint
from tt_debug.session.session import Session
from tt_debug.values import to_json

MESSAGES = [
    ext(5, "langchain_core.messages.ai", "AIMessage", {"content": f"Message {at}.", "id": f"m{at}"}) for at in range(4)
]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Session]:
    rows = [
        Row(uuid(at, at), uuid(at - 1, at - 1) if at else None, {"messages": MESSAGES[: at + 1]}, step=at)
        for at in range(4)
    ]
    session = Session.open(str(handmade(tmp_path / "talk.sqlite", rows)))
    yield session
    session.close()


def test_checkpoints_share_the_messages_that_they_have_in_common(talk: Session) -> None:
    states = [talk.load(ref).state["messages"] for ref in talk.open_thread("t").line()]
    for before, after in pairwise(states):
        assert len(after) == len(before) + 1
        assert all(old is new for old, new in zip(before, after, strict=False))


def test_nothing_that_is_done_with_a_state_changes_it(talk: Session) -> None:
    view = talk.open_thread("t")
    first, last = talk.load(view.line()[0]), talk.load(view.head)
    was = deepcopy((first.state, last.state))
    edit = Change("change", ("messages", 0, "content"), "Message 0.", "Another.")
    changes = diff(first.state, last.state)
    invert(changes)
    to_json_patch(changes, first.state)
    talk.preview(view.head, (edit, Change("remove", ("messages", 1), last.state["messages"][1])))
    assert talk.load(talk.fork(view.head, None, (edit,)).ref).state != last.state
    assert talk.load(talk.edit(view.head, (edit,)).ref).state != last.state
    hidden_checkpoint(last, Redaction(("content",)))
    evaluate(compile_expr("sort_by(messages, &id)"), last.state)
    origins(first.state, last.state["messages"][3], ("messages", 3))
    to_json(last.state)
    assert (first.state, last.state) == was
