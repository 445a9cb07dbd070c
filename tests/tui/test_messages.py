"""Messages: recognised in classes and in plain dicts, wrapped as a transcript, cut when they are long."""

from __future__ import annotations

import pytest

from stores.model import Tagged
from tests.tui.sample_threads import message
from tt_debug.conversation import Turn, as_message, conversation
from tt_debug.tui.rows.message import call_text, summary
from tt_debug.tui.rows.pieces import cells, text_of
from tt_debug.tui.rows.transcript import transcript_rows
from tt_debug.values import to_json


@pytest.mark.parametrize(
    ("value", "role", "text"),
    [
        (message("human", "hi", "1"), "human", "hi"),
        (message("ai", "yes", "2"), "ai", "yes"),
        (Tagged("langchain_core.messages.tool.ToolMessage", {"content": "ok"}), "tool", "ok"),
        (Tagged("app.messages.SpecialMessage", {"content": "x"}), "special", "x"),
        ({"role": "assistant", "content": "plain"}, "ai", "plain"),
        ({"role": "critic", "content": "c"}, "critic", "c"),
        ({"type": "system", "content": "rules"}, "system", "rules"),
        ({"lc": 1, "type": "constructor", "kwargs": {"type": "human", "content": "lc"}}, "human", "lc"),
        (
            {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url"}]},
            "human",
            "see <image_url>",
        ),
        ({"role": "assistant", "content": None, "tool_calls": []}, "ai", ""),
        (to_json(message("human", "exported", "1")), "human", "exported"),
        (
            to_json(Tagged("langchain_core.messages.ai.AIMessage", {"content": "told by its class"})),
            "ai",
            "told by its class",
        ),
    ],
)
def test_a_message_is_known_by_its_class_or_its_fields(value: object, role: str, text: str) -> None:
    found = as_message(value)
    assert found is not None
    assert (found.role, found.text) == (role, text)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "car", "content": "x"},
        {"role": "admin"},
        {"content": "x"},
        [1],
        "text",
        None,
        {"$type": "app.AIMessage", "value": 1},
        {"$type": 1, "value": {"role": "user", "content": "x"}},
        {"$type": "app.AIMessage", "value": {"content": "x"}, "more": 1},
    ],
)
def test_what_only_looks_a_little_like_a_message_is_none(value: object) -> None:
    assert as_message(value) is None


def test_tool_calls_of_both_kinds_are_shown_with_their_arguments() -> None:
    langchain = as_message(message("ai", "", "1", tool_calls=[{"name": "search", "args": {"q": "京都", "n": 3}}]))
    openai = as_message(
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]}
    )
    assert langchain is not None
    assert openai is not None
    assert call_text(langchain.calls[0]) == 'search(q="京都", n=3)'
    assert text_of(summary(openai)) == 'ai     ⚙ f({"a": 1})'


def test_a_failed_tool_is_shown_as_an_error() -> None:
    found = as_message(message("tool", "boom", "1", status="error"))
    assert found is not None
    assert summary(found)[-1].ink == "error"


def test_the_conversation_is_the_messages_key_or_the_longest_list_of_messages() -> None:
    one, two = [message("ai", "a", "1")], [message("ai", "a", "1"), message("ai", "b", "2")]
    assert conversation({"log": two, "messages": one})[0] == ("messages",)
    assert conversation({"short": one, "history": two})[0] == ("history",)
    assert conversation({"n": [1, 2], "s": "x"}) == ((), ())


def turn(text: str, **fields: object) -> Turn:
    """One message of the transcript."""
    found = as_message(message("ai", text, "m", **fields))
    assert found is not None
    return Turn(("messages", 0), found)


def test_text_is_wrapped_beside_its_role() -> None:
    rows = transcript_rows([turn("one two three four")], 20)
    assert [text_of(row.line).rstrip() for row in rows] == ["ai      one two", "        three four"]
    assert [row.first for row in rows] == [True, False]


def test_a_blank_row_lies_between_two_messages() -> None:
    rows = transcript_rows([turn("one"), turn("two")], 30)
    assert [text_of(row.line).rstrip() for row in rows] == ["ai      one", "", "ai      two"]


def test_a_long_message_is_cut_and_says_how_much_more_there_is_until_it_is_opened() -> None:
    long = turn("word " * 3000)
    cut = transcript_rows([long], 60)
    assert "11k more, ⏎ shows them" in text_of(cut[-1].line)
    opened = transcript_rows([long], 60, frozenset({("messages", 0)}))
    assert len(opened) > 250
    assert "more" not in text_of(opened[-1].line)


@pytest.mark.parametrize("width", [26, 40, 76])
def test_no_line_is_wider_than_its_place(width: int) -> None:
    text = "京都の旅館 👨‍👩‍👧‍👦 and " * 20 + "x" * 200 + "\n\n\tindented"
    for row in transcript_rows([turn(text, tool_calls=[{"name": "f", "args": {"a": "b" * 90}}])], width):
        assert cells(row.line) <= width


def test_a_thread_that_was_exported_and_imported_still_reads_as_a_conversation() -> None:
    call = [{"name": "search", "args": {"q": "京都"}, "id": "c1"}]
    talk = [message("human", "find a ryokan", "1"), message("ai", "I look", "2", tool_calls=call)]
    path, turns = conversation({"messages": to_json(talk)})
    assert path == ("messages",)
    assert [(turn.message.role, turn.message.text, turn.message.id) for turn in turns] == [
        ("human", "find a ryokan", "1"),
        ("ai", "I look", "2"),
    ]
    assert call_text(turns[1].message.calls[0]) == 'search(q="京都")'
