"""Going back to a turn of the conversation from the Thread screen, to say it otherwise on a fork.

Owns which message is meant; where it came in is the session's to find, the form is the editing part's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from textual import on
from textual.message import Message

from stores.model import Path, Ref, Value
from tt_debug.conversation import Turn
from tt_debug.session.session import Session
from tt_debug.session.turns import HumanTurn, turns
from tt_debug.tui.asking import Question
from tt_debug.tui.screens.answers import AnswersScreen
from tt_debug.tui.screens.thread_asking import ThreadAsking
from tt_debug.tui.screens.thread_parts import DetailsRead


class TurnFound(Message):
    """Where a human message came in, with the state there; None where it is not on the line."""

    def __init__(self, found: tuple[HumanTurn, Mapping[str, Value]] | None) -> None:
        super().__init__()
        self.found = found


def came_in(session: Session, ref: Ref, said: Turn) -> tuple[HumanTurn, Mapping[str, Value]] | None:
    """The turn of a message of the state at ``ref``, and the state where it came in."""
    like: HumanTurn | None = None
    for found in turns(session, ref):
        if found.text == said.message.text:
            like = like or found
            # Where messages before it have been taken out since, it stood elsewhere.
            if found.path[: len(said.path)] == said.path:
                like = found
                break
    return None if like is None else (like, session.load(like.ref).state)


class ThreadTurns(ThreadAsking):
    """``T``."""

    _to_show: tuple[Ref, Path] | None = None

    def act_turn(self) -> None:
        """From the message under the cursor where it came in; else the list of them all."""
        messages = self.views.messages
        said = next((each for each in messages.turns if each.path == messages.current()), None)
        if self.panel() is messages and said is not None and self.selected is not None:
            if said.message.role != "human":
                self.say("this was not said by a person: a turn begins with a human message")
                return
            self.tt.loader.call(self, "turn", partial(came_in, self.session, self.selected, said), TurnFound)
        elif self.line:
            self.app.push_screen(AnswersScreen(self.store, Question("turns", self.line[-1])))

    @on(TurnFound)
    def _turn_found(self, event: TurnFound) -> None:
        """Go there, and open the form over what was said."""
        header = self.view.seen.get(event.found[0].ref) if event.found is not None and self.view else None
        if event.found is None or header is None:
            self.say("where this message came in is not on the line")
            return
        turn, state = event.found
        self.select_ref(turn.ref)
        if turn.unsure:
            self.say(f"it may have come in earlier: {turn.unsure}", severity="warning")
        if self.tt.read_only:
            self.say("here the message came in; a read-only store takes no fork")
        else:
            self._open_form(self.target_at(header, dict(state), turn.path))

    def show_message(self, path: Path) -> None:
        """The conversation, with the cursor on the message around ``path`` once it has been read."""
        self.action_tab("messages")
        if self.selected is not None:
            self._to_show = self.selected, path
            self._put_cursor()

    @on(DetailsRead)
    def _details_put_cursor(self) -> None:
        self._put_cursor()

    def _put_cursor(self) -> None:
        if self._to_show is None or self.details is None or self.details.ref != self._to_show[0]:
            return
        path, self._to_show = self._to_show[1], None
        self.views.messages.go_to(path)
        key = self.tt.key_of("edit")
        self.say(f"here this message came in, and nothing has answered it: {key} says it otherwise on a fork")
