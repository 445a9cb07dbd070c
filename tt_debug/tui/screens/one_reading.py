"""What screens share that read for long and show what has come so far."""

from __future__ import annotations

from tt_debug.tui.watch import Watch


class OneReading:
    """Mixin: one reading at a time. Another ends the one before, and so does leaving the screen."""

    _watch: Watch | None = None

    def begin_reading(self) -> Watch:
        """The watch over a new reading."""
        self.on_unmount()
        self._watch = Watch()
        return self._watch

    def on_unmount(self) -> None:
        """Nobody waits for the rest."""
        if self._watch is not None:
            self._watch.stop()
