"""Secrets: hidden on every screen and in every form, shown by one key everywhere, never lost by an edit."""

from __future__ import annotations

import json

import pytest
from textual.widgets import TextArea

from stores.model import Change, Interrupt, Opaque, Status, Tagged, Task, Value, Write
from tests.tui.conftest import app_over, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession
from tests.tui.sample_threads import message
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.errors import UsageError
from tt_debug.redaction import NOTHING, Redaction, chosen
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.draft import draft_of, read_text
from tt_debug.tui.preferences import Preferences
from tt_debug.tui.screens.approvals import ApprovalsScreen

SECRET = "sk-very-secret"


def full_of_secrets() -> TripSession:
    """A secret in every place that a panel shows."""
    session = TripSession(sample=False)
    call = {"name": "pay", "args": {"card": SECRET, "sum": 3}, "id": "c"}
    state: dict[str, Value] = {
        "api_key": SECRET,
        "messages": [message("human", "pay", "m0"), message("ai", "", "m1", tool_calls=[call])],
        "headers": [{"name": "Authorization", "value": SECRET}],
        "login": Tagged("pydantic.types.SecretStr", SECRET),
    }
    session.add("t", state, source="input", next=("pay",))
    asked = Interrupt("q", {"question": "pay?", "card_number": SECRET})
    tasks = (
        Task("w", "pay", "", "waiting", (Write("api_key", SECRET), Write("out", {"token": SECRET})), None, (asked,)),
    )
    changed = {**state, "api_key": SECRET + "2", "more": {"password": SECRET}}
    session.add("t", changed, node="pay", next=("pay",), status=Status.WAITING, tasks=tasks)
    return session


async def everything(it: Opened) -> str:
    """What every panel says, one after the other, opened and closed."""
    texts = []
    for key in "123456":
        await it.press(key)
        for move in ("g", "enter", "j", "l", "G"):
            await it.press(move)
            texts.append(it.text)
    return "\n".join(texts)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((200, 60), marks=pytest.mark.soak)])
async def test_no_panel_shows_a_secret_until_it_is_asked_to(size: tuple[int, int]) -> None:
    async with thread_screen("t", session=full_of_secrets(), size=size) as it:
        text = await everything(it)
        assert SECRET not in text
        assert "●●●●" in text
        assert "SECRETS" not in text
        await it.press("S")
        assert "SECRETS" in it.text.splitlines()[0]
        text = await everything(it)
        assert text.count(SECRET) > 5
        await it.press("S")
        assert SECRET not in await everything(it)


async def test_every_open_screen_follows_and_says_so(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("a")
        await wait_for(pilot, lambda: isinstance(app.screen, ApprovalsScreen))
        await settled(pilot, app)
        assert SECRET not in screen_text(app)
        await pilot.press("S")
        await settled(pilot, app)
        assert SECRET in screen_text(app)
        assert "SECRETS SHOWN" in screen_text(app)
        await pilot.press("question_mark")
        await settled(pilot, app)
        assert "SECRETS SHOWN" in screen_text(app)
        await pilot.press("q", "q")
        await settled(pilot, app)
        assert "SECRETS SHOWN" in screen_text(app)
        await pilot.press("S")
        await settled(pilot, app)
        assert "SECRETS" not in screen_text(app)


@pytest.mark.parametrize(("words", "shown"), [(["city"], False), (["off"], True)])
async def test_the_users_own_names_count(session: FakeSession, words: list[str], shown: bool) -> None:
    app = app_over(session, preferences=Preferences(Redaction(chosen(words))))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("a")
        await wait_for(pilot, lambda: isinstance(app.screen, ApprovalsScreen))
        await settled(pilot, app)
        assert ("Kyoto" in screen_text(app)) is shown
        assert (SECRET in screen_text(app)) is shown


async def test_enter_on_a_secret_says_which_key_shows_it() -> None:
    async with thread_screen("t", session=full_of_secrets()) as it:
        await it.press("2", "g", "enter")
        assert "S shows secrets" in it.told


async def test_the_form_keeps_what_it_hides() -> None:
    session = full_of_secrets()
    async with thread_screen("t", session=session, size=(120, 40)) as it:
        await it.press("1", "g")
        await it.press("e")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, EditDialog) and bool(it.app.screen.query("#draft")))
        area = it.app.screen.query_one("#draft", TextArea)
        assert SECRET not in area.text
        assert "A $redacted value stays" in it.text
        typed = json.loads(area.text)
        typed["added"] = 1
        typed["password"] = "sk-typed"
        area.text = json.dumps(typed)
        await wait_for(it.pilot, lambda: "valid" in it.text)
        assert "sk-typed" not in it.text.split("valid")[1]
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: bool(session.forks))
        assert session.forks[0][2] == (
            Change("add", ("added",), new=1),
            Change("add", ("password",), new="sk-typed"),
        )


VALUE = {
    "api_key": SECRET,
    "cards": [{"card": "A"}, {"card": "B"}],
    "token": Opaque("bytes", b"\x00"),
    "login": Tagged("pydantic.types.SecretStr", "p"),
    "plain": [1, {"x": None}],
}


def test_a_draft_leaves_secrets_out_and_reads_back_unchanged() -> None:
    draft = draft_of(VALUE, Redaction())
    assert all(each not in draft.text for each in (SECRET, '"A"', '"B"', '"p"'))
    assert len(draft.kept) == 5
    assert read_text(draft.text, VALUE, (), draft.kept) == ()
    assert draft_of(VALUE, NOTHING).kept == ()
    assert draft_of({"$redacted": "text", "n": 1}, Redaction()).kept == ()


def test_a_kept_secret_moves_with_what_holds_it() -> None:
    draft = draft_of(VALUE, Redaction())
    typed = json.loads(draft.text)
    del typed["cards"][0]
    typed["copy"] = typed["api_key"]
    changes = read_text(json.dumps(typed), VALUE, (), draft.kept)
    assert changes == (Change("remove", ("cards", 0), {"card": "A"}), Change("add", ("copy",), new=SECRET))


def test_a_secret_alone_is_one_kept_value() -> None:
    draft = draft_of("p", Redaction(), secret=True)
    assert draft.kept == ("p",)
    assert read_text(draft.text, "p", ("password",), draft.kept) == ()
    assert read_text('"new"', "p", ("password",), draft.kept) == (Change("change", ("password",), "p", "new"),)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"$redacted": "text"}}',
        '{"a": {"$redacted": "text", "keep": 9}}',
        '{"a": {"$redacted": "x", "keep": true}}',
    ],
)
def test_a_number_that_stands_for_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is kept here"):
        read_text(text, {"a": "p"}, (), ("p",))
