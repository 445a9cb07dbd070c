"""Going along the line of a thread to where something changed, checkpoint after checkpoint, until that is stopped.

Owns one such walk at a time; what is looked for is said by whoever begins it.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.message import Message

from stores.model import Ref
from tt_debug.session.questions import OnProgress, Stopped
from tt_debug.tui.messages import Failed
from tt_debug.tui.screens.thread_tailing import ThreadTailing
from tt_debug.tui.watch import Watch

_WALKING = "change"


class Walked(Message):
    """How a walk ended: at ``ref``, or at the line's end, after ``asked`` checkpoints; ``stopped``: before either."""

    def __init__(self, watch: Watch, nothing: str, ref: Ref | None, asked: int, *, stopped: bool = False) -> None:
        super().__init__()
        self.watch = watch
        self.nothing = nothing
        self.ref = ref
        self.asked = asked
        self.stopped = stopped


class StillWalking(Message):
    """A walk takes long: so many checkpoints were asked, of how many at most."""

    def __init__(self, watch: Watch, asked: int, of: int | None) -> None:
        super().__init__()
        self.watch = watch
        self.asked = asked
        self.of = of


class ThreadWalking(ThreadTailing):
    """Esc stops it."""

    _walk: Watch | None = None

    def walk(self, look: Callable[[OnProgress], Ref | None], nothing: str) -> None:
        """Go to the checkpoint that ``look`` finds; ``nothing`` is said where there is none."""
        self._stop_walking()
        watch = self._walk = Watch()
        loader, asked = self.tt.loader, 0

        def on_progress(done: int, of: int | None) -> bool:
            nonlocal asked
            loader.give_way()
            asked = done
            first = not watch.spoken_of
            return watch.goes_on(
                done, lambda: None, lambda so_far: loader.post(self, StillWalking(watch, so_far, of)) if first else None
            )

        def work() -> Walked:
            try:
                return Walked(watch, nothing, look(on_progress), asked)
            except Stopped:
                return Walked(watch, nothing, None, asked, stopped=True)

        loader.call(self, _WALKING, work, lambda message: message)

    def _stop_walking(self) -> bool:
        walking, self._walk = self._walk, None
        if walking is not None:
            walking.stop()
        return walking is not None

    @on(StillWalking)
    def _still_walking(self, event: StillWalking) -> None:
        if event.watch is self._walk:
            of = f" of {event.of:,}" if event.of else ""
            self.say(f"looking: {event.asked:,}{of} checkpoints asked so far; Esc stops")

    @on(Walked)
    def _walked(self, event: Walked) -> None:
        if event.watch is not self._walk:
            return
        self._walk = None
        if event.ref is not None:
            self.select_ref(event.ref)
        else:
            self.say(event.nothing)

    def show_failure(self, event: Failed) -> None:
        """A walk that failed is over."""
        if event.kind == _WALKING:
            self._walk = None
        super().show_failure(event)

    def action_escape(self) -> None:
        """Stop the walk first."""
        if self._stop_walking():
            self.say("stopped: it may have changed further on")
        else:
            super().action_escape()

    def on_unmount(self) -> None:
        """Nobody waits for the rest."""
        self._stop_walking()
