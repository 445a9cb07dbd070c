"""Watches on the Thread screen: expressions with their value at the cursor and their values over the line.

Owns what is known of their answers, and when the line is asked; which are watched lies in our own record.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from textual import events, on
from textual.message import Message

from stores.model import Ref
from tt_debug.query import expression_of
from tt_debug.redaction import Redaction
from tt_debug.session import watches
from tt_debug.session.session import Session
from tt_debug.tui.asking import Question
from tt_debug.tui.dialogs.expression import ExpressionDialog
from tt_debug.tui.glyphs import Glyphs
from tt_debug.tui.rows.watches import Point, point, watch_rows
from tt_debug.tui.screens.answers import AnswersScreen
from tt_debug.tui.screens.thread_marking import ThreadMarking
from tt_debug.tui.screens.thread_parts import DetailsRead
from tt_debug.tui.watch import Watch
from tt_debug.tui.widgets.row_view import RowView

MOST = 6
"""Rows that the watches take below the other panels; more of them scroll."""
Points = dict[tuple[str, Ref], Point]


class WatchesRead(Message):
    """Which expressions are watched, and which of them has a ``column`` of the graph; ``said`` is what was done about
    one just now, ``command`` asks the same."""

    def __init__(self, expressions: tuple[str, ...], column: str = "", said: str = "", command: str = "") -> None:
        super().__init__()
        self.expressions = expressions
        self.column = column
        self.said = said
        self.command = command


class PointsRead(Message):
    """Answers of checkpoints; ``left`` are still to be asked of the line of ``watch``, None for those at the cursor."""

    def __init__(self, points: Points, watch: Watch | None = None, left: int = 0) -> None:
        super().__init__()
        self.points = points
        self.watch = watch
        self.left = left


def read_watches(session: Session, thread: str, said: str = "", command: str = "") -> WatchesRead:
    """As our own record has them."""
    return WatchesRead(session.watches.of(thread), session.watches.column(thread) or "", said, command)


def points_along(
    session: Session, refs: Sequence[Ref], expressions: tuple[str, ...], hiding: Redaction, glyphs: Glyphs
) -> Iterator[Points]:
    """What each of these checkpoints answers."""
    for ref, answers in zip(refs, watches.along(session, refs, expressions), strict=True):
        yield {(text, ref): point(answer, text, hiding, glyphs) for text, answer in answers.items()}


def read_points(
    session: Session, refs: Sequence[Ref], expressions: tuple[str, ...], hiding: Redaction, glyphs: Glyphs
) -> Points:
    """What all of them answer."""
    return {
        key: found for each in points_along(session, refs, expressions, hiding, glyphs) for key, found in each.items()
    }


class ThreadWatches(ThreadMarking):
    """``w``, and the panel of watches: a tab where there is one column, else below the others."""

    expressions: tuple[str, ...] = ()
    _known: Points
    _asking: Watch | None = None
    _asked_line: tuple[object, ...] = ()
    _left = 0

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._known = {}

    def on_unmount(self) -> None:
        """Nobody waits for the rest."""
        if self._asking is not None:
            self._asking.stop()

    @on(events.ScreenResume)
    def _watches_wanted(self) -> None:
        self.tt.loader.call(self, "watches", partial(read_watches, self.session, self.thread), lambda message: message)

    @on(WatchesRead)
    def _watches_read(self, event: WatchesRead) -> None:
        if event.said:
            self.tt.note_done(event.said, event.command, wrote=False)
            self.say(event.said)
        if event.expressions != self.expressions:
            self.expressions = event.expressions
            self.show_tab(self.tab)
            self._ask_watches()

    # --- the panel

    def show_tab(self, name: str) -> None:
        """Where there is room the watches are no tab."""
        if not self.narrow or not self.expressions:
            self.tab = "state" if self.tab == "watches" else self.tab
            name = self.tab if name == "watches" else name
        styles = self.views.watches.styles
        if self.narrow:
            styles.clear_rule("height")
        elif self.expressions:
            styles.height = min(len(self.expressions), MOST) + 2
        super().show_tab(name)

    def _on_top(self) -> set[str]:
        standing = {"watches"} if self.expressions and not self.narrow else set()
        return super()._on_top() | standing

    def _has_tab(self, name: str) -> bool:
        if name == "watches":
            return self.narrow and bool(self.expressions)
        return super()._has_tab(name)

    def show_titles(self) -> None:
        """The panel's own, with how much of the line has not been asked yet."""
        super().show_titles()
        view = self.views.watches
        if not self.narrow:
            view.border_title = "w Watch"
        if not self.narrow or self.tab == "watches":
            view.border_subtitle = f"{self._left:,} checkpoints to be asked" if self._left else ""

    # --- their answers

    @on(DetailsRead)
    def _details_watched(self) -> None:
        self._ask_watches()

    def _ask_watches(self) -> None:
        """Ask the checkpoint under the cursor at once, and the line around it once."""
        self._show_watches()
        ref, view = self.selected, self.view
        if ref is None or view is None or ref not in view.headers or not self.expressions:
            return
        parent = view.seen[ref].parent
        near = [each for each in (ref, parent) if each is not None and self._misses(each)]
        if near:
            self.tt.loader.call(self, "watched here", self._reading(near), PointsRead)
        key = (self.expressions, self.line[-1:], len(self.line))
        if key != self._asked_line:
            self._asked_line = key
            self._ask_line(ref)

    def _misses(self, ref: Ref) -> bool:
        return any((text, ref) not in self._known for text in self.expressions)

    def _reading(self, refs: Sequence[Ref]) -> Callable[[], Points]:
        return partial(read_points, self.session, refs, self.expressions, self.tt.redaction, self.tt.glyphs)

    def _ask_line(self, ref: Ref) -> None:
        """What is nearest to the cursor first."""
        if self._asking is not None:
            self._asking.stop()
        here = self.places.get(ref, 0)
        wanted = sorted((at for at, each in enumerate(self.line) if self._misses(each)), key=lambda at: abs(at - here))
        refs = [self.line[at] for at in wanted]
        watch = self._asking = Watch()
        loader = self.tt.loader
        points = points_along(self.session, refs, self.expressions, self.tt.redaction, self.tt.glyphs)

        def work() -> PointsRead:
            found: Points = {}

            def tell(done: int) -> None:
                nonlocal found
                loader.post(self, PointsRead(found, watch, len(refs) - done))
                found = {}

            for done, each in enumerate(points):
                found.update(each)
                loader.give_way()
                if not watch.goes_on(done + 1, _nothing, tell):
                    break
            return PointsRead(found, watch)

        if refs:
            loader.call(self, "watched line", work, lambda message: message)

    @on(PointsRead)
    def _points_read(self, event: PointsRead) -> None:
        self._known.update(event.points)
        if event.watch is not None and event.watch is self._asking:
            self._left = event.left
            self.show_titles()
        self._show_watches()

    def _show_watches(self) -> None:
        header = self.header()
        if header is not None:
            rows = watch_rows(self.expressions, self._known, self.line, header.ref, header.parent)
            self.views.watches.show(rows)

    def secrets_changed(self) -> None:
        """What is known was hidden, or shown."""
        self._known, self._asked_line = {}, ()
        super().secrets_changed()
        self._ask_watches()

    def act_refresh(self) -> None:
        """A checkpoint that could not answer may be able to now."""
        self._known, self._asked_line = {}, ()
        super().act_refresh()
        self._watches_wanted()

    # --- which

    def act_watch(self) -> None:
        """Watch the value under the cursor, or an expression; on a watch: no more."""
        current = self.views.watches.current()
        if self.panel() is self.views.watches and current is not None:
            self._change(current, add=False)
        elif path := self._path():
            self._change(expression_of(path), add=True)
        else:
            self.app.push_screen(ExpressionDialog(), self._typed)

    def _typed(self, expression: str | None) -> None:
        if expression:
            self._change(expression, add=True)

    def _change(self, expression: str, *, add: bool) -> None:
        session, kept, thread = self.session, self.session.watches, self.thread
        words = ["tt-debug", "find", self.store.url, thread, expression, "--changes"]

        def changed() -> WatchesRead:
            if add:
                kept.add(thread, expression)
            else:
                kept.drop(thread, expression)
            said = f"{expression} is watched" + ("" if add else " no more")
            return read_watches(session, thread, said, shlex.join(words))

        self.tt.loader.write(self, "watch", changed, lambda message: message)

    @on(RowView.Opened, "#watches")
    def _watch_opened(self, event: RowView.Opened) -> None:
        """Every change of it, on a screen of its own."""
        event.stop()
        expression = self.views.watches.current()
        if expression is not None and self.line:
            question = Question("when", self.line[-1], words=expression, how="changes")
            self.app.push_screen(AnswersScreen(self.store, question))


def _nothing() -> None:
    """Answers are shown when they have come."""
