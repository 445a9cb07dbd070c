"""The list every other list is made of: cursor, messages, the mouse, selection, safety."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.screen import Screen
from textual.selection import Selection

from tests.tui.fakes import HOSTILE
from tt_debug.tui.rows.pieces import Piece
from tt_debug.tui.widgets.line import Line, cut
from tt_debug.tui.widgets.piece_view import PieceView
from tt_debug.tui.widgets.row_view import RowView


class Numbers(RowView):
    """Rows that say their number; every tenth is a heading."""

    built = 0

    def build(self, row: int, width: int) -> Sequence[Segment]:
        self.built += 1
        return self.line(width).add(f" row {row}", self.ink("accent")).segments()

    def selectable(self, row: int) -> bool:
        return row % 10 != 0

    def empty_text(self) -> str:
        return "nothing; press n"


class Host(App[None]):
    """One list, and what it said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, int]] = []

    def get_css_variables(self) -> dict[str, str]:
        from tt_debug.tui.theme import own_variables

        variables = super().get_css_variables()
        return {**variables, **own_variables(variables)}

    def compose(self) -> ComposeResult:
        yield Numbers(id="list")

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        self.said.append(("highlighted", event.row))

    def on_row_view_opened(self, event: RowView.Opened) -> None:
        self.said.append(("opened", event.row))


async def test_a_bar_that_appears_after_the_list_has_moved_shows_where_it_is() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(100)
        await pilot.pause()
        view.show_vertical_scrollbar = False
        view.scroll_to(y=50, animate=False, force=True, immediate=True)
        view.show_vertical_scrollbar = True
        assert view.vertical_scrollbar.position == view.scroll_y == 50


async def test_the_keys_move_the_cursor_past_headings() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.focus()
        view.set_rows(100)
        await pilot.pause()
        assert view.cursor == 1
        expected = {"j": 2, "down": 3, "k": 2, "G": 99, "g": 1, "pagedown": 24, "ctrl+d": 35, "ctrl+u": 24, "pageup": 1}
        for key, row in expected.items():
            await pilot.press(key)
            assert view.cursor == row, key
        await pilot.press("j", "j", "j", "j", "j", "j", "j", "j", "j")
        assert view.cursor == 11
        await pilot.press("enter")
        await pilot.pause()
        assert app.said[-1] == ("opened", 11)
        assert ("highlighted", 99) in app.said


async def test_the_cursor_is_always_in_view() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.focus()
        view.set_rows(1000)
        await pilot.pause()
        for key in ("G", "g", "pagedown", "pagedown", "k", "k", "ctrl+u"):
            await pilot.press(key)
            await pilot.pause()
            top, height = view.scroll_offset.y, view.scrollable_content_region.height
            assert top <= view.cursor < top + height, key


async def test_only_visible_rows_are_built() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(1_000_000)
        await pilot.pause()
        await pilot.press("G")
        await pilot.pause()
        assert 0 < view.built < 500


async def test_more_rows_lay_out_nothing_but_where_the_bar_comes_or_goes() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        laid_out: list[Screen[object]] = []
        app.screen.screen_layout_refresh_signal.subscribe(app.screen, laid_out.append)
        view = app.query_one(Numbers)
        for count, changes in ((20, False), (100, True), (1_000, False), (90, False), (10, True), (20, False)):
            laid_out.clear()
            view.set_rows(count, cursor=count - 1)
            await pilot.pause()
            assert bool(laid_out) == changes, count
            assert view.show_vertical_scrollbar == (count > 24)
            assert view.max_scroll_y == view.scroll_y == max(0, count - 24)
            assert not view.show_vertical_scrollbar or view.vertical_scrollbar.window_virtual_size == count


@pytest.mark.parametrize("count", [30, 1_000, 1_000_000])
async def test_the_cells_of_the_bar_that_are_drawn_again_are_all_that_change(count: int) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.focus()
        view.set_rows(count)
        await pilot.pause()
        bar = view.vertical_scrollbar
        for key in ("pagedown", "pagedown", "G", "pageup", "k", "g", "ctrl+d"):
            await pilot.press(key)
            await pilot.pause()
            assert bar.position == view.scroll_y, key
            drawn = [list(strip) for strip in app.screen._compositor.render_strips()]
            bar.refresh()
            assert [list(strip) for strip in app.screen._compositor.render_strips()] == drawn, key


async def test_a_list_that_was_hidden_when_it_grew_has_its_bar_when_it_is_shown() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(5)
        await pilot.pause()
        view.display = False
        await pilot.pause()
        view.set_rows(500, cursor=499)
        await pilot.pause()
        view.display = True
        await pilot.pause()
        assert view.show_vertical_scrollbar
        assert view.vertical_scrollbar.window_virtual_size == 500
        assert view.scroll_y == 500 - 24


async def test_the_cursor_survives_fewer_rows_and_none() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(50, cursor=44)
        await pilot.pause()
        assert view.cursor == 44
        view.set_rows(20)
        await pilot.pause()
        assert view.cursor == 19
        view.set_rows(0)
        await pilot.pause()
        assert view.cursor == 0
        assert "nothing; press n" in view.render_line(0).text
        await pilot.press("enter", "j", "G")
        assert not [what for what, _ in app.said if what == "opened"]


async def test_a_click_moves_a_second_one_opens() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(100)
        await pilot.pause()
        await pilot.click("#list", offset=(3, 5))
        await pilot.pause()
        assert view.cursor == 5
        assert ("opened", 5) not in app.said
        await pilot.click("#list", offset=(3, 7), times=2)
        await pilot.pause()
        assert ("opened", 7) in app.said
        await pilot.click("#list", offset=(3, 0))
        await pilot.pause()
        assert view.cursor == 7, "a heading cannot be chosen"


async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(100)
        await pilot.pause()
        await pilot._post_mouse_events([events.MouseScrollDown], "#list", (3, 5))
        await pilot.pause()
        assert view.scroll_offset.y > 0
        assert view.cursor == 1


async def test_selected_text_is_what_was_drawn() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(100_000)
        await pilot.pause()
        view.built = 0
        found = view.get_selection(Selection(Offset(5, 1), Offset(4, 3)))
        assert found == ("1\n row 2\n row", "\n")
        assert view.built == 3


async def test_the_highlight_of_a_selection_keeps_the_text() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(Numbers)
        view.set_rows(30)
        await pilot.pause()
        plain = view.render_line(3).text
        app.screen.selections = {view: Selection(Offset(2, 2), Offset(4, 4))}
        await pilot.pause()
        assert view.render_line(3).text == plain
        offsets = [segment.style.meta.get("offset") for segment in view.render_line(3) if segment.style]
        assert (0, 3) in offsets


def test_neighbouring_pieces_of_one_ink_are_one_segment_and_dim_as_one() -> None:
    view, muted = PieceView(), Style(color="red")
    view._inks["muted"] = muted
    line = (Piece(" "), Piece("a"), Piece("b", "muted"), Piece(" c", "muted"), Piece("d"))
    assert view.segments(line) == [Segment(" a"), Segment("b c", muted), Segment("d")]
    assert view.segments(()) == []
    view.stale = True
    dim = Style(dim=True)
    assert view.segments(line) == [Segment(" a", dim), Segment("b c", muted + dim), Segment("d", dim)]


def test_a_line_is_as_wide_as_it_says_whatever_the_text() -> None:
    texts = [HOSTILE, "京都" * 40, "👨‍👩‍👧" * 20, "", "x", "a\tb\nc", "x" * 1_000_000]
    for text in texts:
        for width in (0, 1, 2, 3, 10, 79):
            line = Line(width).add(text, at_most=30).field(text, 7).right(text).add(text)
            assert sum(cell_len(segment.text) for segment in line.segments()) == width


def test_cut_never_halves_a_wide_character() -> None:
    assert cut("京都に行く", 5) == "京都…"
    assert cut("京都に行く", 4) == "京…"
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "ab…"
    assert cut("abcd", 3, "...") == "..."
