"""What was made of shared values is made once, and never taken for another value's."""

from __future__ import annotations

from stores.model import Tagged
from tt_debug import shared
from tt_debug.conversation import conversation
from tt_debug.redaction import Redaction
from tt_debug.shared import Shared
from tt_debug.tui.rows.transcript import TranscriptRow, transcript_rows


def test_it_is_made_once_for_each_value_and_way() -> None:
    made: list[str] = []
    known: Shared[int] = Shared()

    def make(word: str) -> int:
        made.append(word)
        return len(made)

    one, other = ["same"], ["same"]
    for value, how in ((one, 1), (one, 1), (other, 1), (one, 2), (other, 1)):
        known.of(value, lambda how=how: make(f"{how}"), how)  # type: ignore[misc]
    assert made == ["1", "1", "2"]


def test_a_value_that_is_gone_leaves_its_identity_to_no_other() -> None:
    known: Shared[str] = Shared()
    for number in range(200):
        assert known.of([number], lambda number=number: str(number)) == str(number)  # type: ignore[misc]


def test_it_is_bounded() -> None:
    known: Shared[int] = Shared()
    values = [[number] for number in range(shared._MOST + 10)]
    for at, value in enumerate(values):
        known.of(value, lambda at=at: at)  # type: ignore[misc]
    assert len(known._made) <= shared._MOST
    assert known.of(values[0], lambda: -1) == -1


def message(number: int, **more: object) -> Tagged:
    return Tagged("app.AIMessage", {"id": f"m{number}", "type": "ai", "content": f"Text {number}. " * 20, **more})


def test_the_transcripts_of_growing_conversations_are_those_of_each_alone() -> None:
    messages = [message(number) for number in range(6)]
    seen: Shared[object] = Shared()
    lines: Shared[list[TranscriptRow]] = Shared()
    for width in (40, 60):
        for part in (messages[:3], messages, messages[2:], messages[::-1]):
            state = {"messages": part}
            turns = conversation(state, seen)[1]  # type: ignore[arg-type]
            assert turns == conversation(state)[1]
            assert transcript_rows(turns, width, known=lines) == transcript_rows(turns, width)


def test_secrets_are_found_in_messages_that_were_seen_before() -> None:
    hiding = Redaction()
    clean, telling = message(1), message(2, api_key="sk-1")
    state = {"messages": [clean, telling]}
    for _ in range(2):
        hidden = hiding.hide(state)
        assert hidden["messages"][0] is clean
        assert "sk-1" not in repr(hidden)
    assert hiding.hide({"messages": [clean]})["messages"][0] is clean
