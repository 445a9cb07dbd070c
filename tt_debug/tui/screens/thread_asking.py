"""Questions from the Thread screen: who wrote the value under the cursor, and where it changed before and after.

Owns which value is meant; the answers are a screen of their own, or a move.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stores.model import Path, Ref
from stores.paths import format_path, get_path
from tt_debug.errors import UsageError
from tt_debug.query import equality_of
from tt_debug.redaction import Hidden
from tt_debug.session import questions
from tt_debug.session.metrics import Extent
from tt_debug.session.questions import Scope
from tt_debug.tui.asking import Question
from tt_debug.tui.screens.answers import AnswersScreen
from tt_debug.tui.screens.asking_from import AskingFrom
from tt_debug.tui.screens.thread_walking import ThreadWalking

if TYPE_CHECKING:
    from tt_debug.tui.opening import OpenStore


class ThreadAsking(ThreadWalking, AskingFrom):
    """The keys that ask the history of this thread."""

    def asked_of(self) -> tuple[OpenStore, Ref | None] | None:
        """This line."""
        return None if not self.line else (self.store, self.line[-1])

    def measured(self) -> tuple[Extent, str]:
        """This thread; where A is pinned on the line to the cursor, what lies between the two."""
        here, pin = self.selected, self.pin
        if here is not None and pin is not None and self.view is not None and pin != here:
            line = self.view.line(here)
            if pin in line:
                steps = (self.view.seen[ref].step for ref in (pin, here))
                start, end = ("?" if step is None else str(step) for step in steps)
                return Extent(Scope(here), pin), f"A={start} {self.tt.glyphs.arrow} B={end}"
        return Extent(Scope(self.line[-1], every_branch=True)), self.thread

    def shows(self, store: OpenStore, ref: Ref) -> bool:
        """Whether a checkpoint is one of this graph."""
        return store is self.store and self.view is not None and ref in self.view.headers

    def act_blame(self) -> None:
        """Who wrote the value under the cursor."""
        path = self._asked_path()
        if path and self.selected is not None:
            self.app.push_screen(AnswersScreen(self.store, Question("who", self.selected, path)))

    def act_search_value(self) -> None:
        """Where else on this line the value under the cursor is what it is here."""
        path, details = self._asked_path(), self.details
        if not path or details is None or not self.line:
            return
        try:
            if isinstance(get_path(dict(details.checkpoint.state), path), Hidden):
                self.say(f"a secret: {self.tt.key_of('secrets')} shows secrets, then it can be asked for")
                return
            words = equality_of(path, details.state)
        except LookupError:
            self.say("this value is not there any more: nothing has it to compare with")
        except UsageError as error:
            self.say(f"{error}; {error.hint}", severity="warning")
        else:
            self.app.push_screen(AnswersScreen(self.store, Question("when", self.line[-1], words=words)))

    def act_nav_change_back(self) -> None:
        """To the checkpoint before that changed the value under the cursor."""
        path, ref = self._asked_path(), self.selected
        if path and ref is not None:
            look = partial(questions.change_before, self.session, ref, path)
            self.walk(look, f"{format_path(path)} does not change before this on the line")

    def act_nav_change_fwd(self) -> None:
        """To the next checkpoint that changes it."""
        path, ref = self._asked_path(), self.selected
        if path and ref is not None and self.line:
            end = self.line[-1] if ref in self.places else ref
            look = partial(questions.change_after, self.session, ref, end, path)
            self.walk(look, f"{format_path(path)} does not change after this on the line")

    def _asked_path(self) -> Path:
        """The path under the cursor; says where to put it when there is none."""
        path = self._path()
        if not path:
            self.say("put the cursor on a value in State, Diff or Messages: its history is asked then")
        return path
