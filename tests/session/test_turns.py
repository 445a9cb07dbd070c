"""Turns of a conversation: where each human message came in, and forking there with another message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stores.errors import Corrupt
from stores.model import Change, Checkpoint, NewCheckpoint, Ref, Tagged, Value
from stores.paths import get_path
from tests.builders import native_file
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.conversation import text_path
from tt_debug.errors import RefNotFound
from tt_debug.session.session import Session
from tt_debug.session.turns import turn, turns


def said(role: str, text: str, id: str | None = None) -> dict[str, Value]:
    return {"role": role, "content": text, **({"id": id} if id else {})}


ONE, TWO, THREE = said("human", "one", "1"), said("ai", "two", "2"), said("user", "three", "3")
STATES: list[list[Value]] = [[], [ONE], [ONE, TWO], [ONE, TWO, THREE], [ONE, TWO, THREE, said("ai", "four", "4")]]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    line = [
        NewCheckpoint(
            Ref("t", "", f"{at:02d}"), Ref("t", "", f"{at - 1:02d}") if at else None, {"messages": messages}, "step"
        )
        for at, messages in enumerate(STATES)
    ]
    return Session.open(str(native_file(tmp_path / "t.db", line)))


def test_each_has_the_checkpoint_at_which_nothing_has_answered_it(session: Session) -> None:
    found = list(turns(session, session.resolve("t")))
    assert [(each.text, each.ref.id, each.before and each.before.id, each.path) for each in found] == [
        ("three", "03", "02", ("messages", 2, "content")),
        ("one", "01", "00", ("messages", 0, "content")),
    ]
    assert [session.resolve(f"t@turn:{number}").id for number in (1, 2, -1, -2)] == ["01", "03", "03", "01"]
    for number in (0, 3, -3):
        with pytest.raises(RefNotFound, match=f"no turn {number}"):
            turn(session, "t", number)


def test_the_last_one_reads_no_further_than_to_where_it_came_in(session: Session, monkeypatch: Any) -> None:
    loaded: list[str] = []
    load = session.load

    def counted(ref: Ref) -> Checkpoint:
        loaded.append(ref.id)
        return load(ref)

    monkeypatch.setattr(session, "load", counted)
    turn(session, "t", -1)
    assert loaded == ["04", "03", "02"]


def test_a_message_said_otherwise_on_a_fork_is_the_same_turn_there(session: Session) -> None:
    base = session.resolve("t@turn:2")
    session.fork(base, "again", (Change("change", ("messages", 2, "content"), "three", "3!"),))
    assert [(each.text, each.ref.thread) for each in turns(session, session.resolve("again"))] == [
        ("3!", "again"),
        ("one", "t"),
    ]


def test_what_came_in_together_and_what_cannot_be_read_is_said(session: Session, monkeypatch: Any) -> None:
    load = session.load

    def damaged(ref: Ref) -> Checkpoint:
        if ref.id == "03":
            raise Corrupt("page 7 is gone")
        return load(ref)

    monkeypatch.setattr(session, "load", damaged)
    (newest, oldest) = turns(session, session.resolve("t"))
    assert (newest.ref.id, newest.answers, newest.unsure) == ("04", 1, "page 7 is gone")
    assert (oldest.ref.id, oldest.answers, oldest.unsure) == ("01", 0, "")


def test_langgraphs_messages_are_found_and_forked_with_other_words(tmp_path: Path) -> None:
    session = Session.open(str(unpack(CURRENT, tmp_path)))
    tried = 0
    for info in session.threads():
        if info.head is None:
            continue
        for each in list(turns(session, info.head))[:1]:
            state = dict(session.load(each.ref).state)
            assert get_path(state, each.path) == each.text
            fork = session.fork(each.ref, None, (Change("change", each.path, each.text, "otherwise"),))
            assert get_path(dict(session.load(fork.ref).state), each.path) == "otherwise"
            assert fork.next == each.next
            assert turn(session, fork.ref.thread, -1).text == "otherwise"
            tried += 1
    session.close()
    assert tried > 3


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"role": "user", "content": "x"}, ("content",)),
        (Tagged("m.HumanMessage", {"content": "x", "type": "human"}), ("content",)),
        ({"lc": 1, "kwargs": {"content": "x"}}, ("kwargs", "content")),
        ({"$type": "m.HumanMessage", "value": {"content": "x"}}, ("value", "content")),
        ({"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "x"}]}, ("content", 1, "text")),
        ({"role": "user", "content": ["x", "y"]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "image"}]}, ("content",)),
    ],
)
def test_where_the_text_of_a_message_lies(message: Value, wanted: tuple[str | int, ...]) -> None:
    assert text_path({"messages": [message]}, ("messages", 0)) == ("messages", 0, *wanted)
