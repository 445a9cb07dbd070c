"""How every screen looks: sizes, signs, and themes with and without colours."""

from __future__ import annotations

import pytest

from tests.tui.conftest import app_over, screen_lines, screen_text, settled
from tests.tui.fakes import FakeSession
from tt_debug.tui.glyphs import ASCII, UNICODE, choose
from tt_debug.tui.theme import own_variables, wants_no_color
from tt_debug.tui.widgets.row_view import RowView

SIZES = [(80, 24), (120, 40), (200, 60), (60, 12)]


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_and_last_lines_are_whole_at_every_size(size: tuple[int, int], session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        for key in ("", "a", "question_mark"):
            if key:
                await pilot.press(key)
                await settled(pilot, app)
            lines = screen_lines(app)
            assert lines[0].startswith(" tt  ")
            assert lines[-1].endswith("? keys ")
            assert len(lines) == size[1]
            await pilot.press("q") if key == "question_mark" else None


async def test_below_60x12_one_sentence_says_so(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(50, 10)) as pilot:
        await settled(pilot, app)
        text = " ".join(screen_text(app).split())
        assert text.startswith("tt-debug needs 60×12, this is 50×10.")
        assert "Threads" not in text
        await pilot.resize_terminal(80, 24)
        await settled(pilot, app)
        assert "Threads" in screen_text(app)


async def test_narrow_has_no_side_borders_and_wide_has(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert "┃" not in screen_text(app)
        await pilot.resize_terminal(120, 40)
        await settled(pilot, app)
        assert "┃" in screen_text(app)
        assert "3 Forks" in screen_text(app)


async def test_ascii_draws_nothing_else_of_our_own(session: FakeSession) -> None:
    app = app_over(session, ascii_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("j")
        await settled(pilot, app)
        own = {char for char in screen_text(app) if ord(char) > 0x7F}
        assert own <= set("写作京都🙂·"), own


def test_the_table_of_signs_follows_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(True) is ASCII
    assert choose(False) is UNICODE
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "ANSI_X3.4-1968")
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    assert choose() is ASCII
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "UTF-8")
    assert choose() is UNICODE
    monkeypatch.setenv("LANG", "C")
    assert choose() is ASCII
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert choose() is UNICODE


def test_no_color_counts_only_when_it_is_not_empty() -> None:
    assert wants_no_color({"NO_COLOR": "1"})
    assert not wants_no_color({"NO_COLOR": ""})
    assert not wants_no_color({})


async def test_no_color_chooses_an_ansi_theme(session: FakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert app.theme == "ansi-dark"
        styles = [part.style for strip in app.screen._compositor.render_strips() for part in strip if part.style]
        assert not [style for style in styles if style.color is not None and not style.color.is_default]
        assert not [style for style in styles if style.bgcolor is not None and not style.bgcolor.is_default]
        assert [style for style in styles if style.reverse], "the cursor is seen without colours"


async def test_an_empty_no_color_is_no_wish(session: FakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert not app.no_color
        assert app.theme == "textual-dark"


@pytest.mark.parametrize(
    "theme", ["textual-dark", "textual-light", "nord", "ansi-dark", "ansi-light", "solarized-light"]
)
async def test_each_theme_has_all_our_colours(theme: str, session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await settled(pilot, app)
        variables = app.get_css_variables()
        assert set(own_variables(variables)) <= set(variables)
        view = app.screen.query_one(RowView)
        assert view.ink("error").color != view.ink("success").color
