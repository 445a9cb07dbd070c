"""Copying on every screen: a menu of what there is under the cursor, sent to the terminal or, when long, to a file.

Owns what is said about it; what there is to copy is each screen's to know.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_debug.errors import UsageError
from tt_debug.tui.copying import Copyable, fits, kept_in_file, size_of, tried, warning
from tt_debug.tui.screens.everywhere import EverywhereActions


class CopyingActions(EverywhereActions):
    """y, and where a copied text goes."""

    def copyables(self) -> Sequence[Copyable]:
        """What can be copied here, the likeliest first."""
        return ()

    def act_copy(self) -> None:
        """Ask what to copy; the key of the menu picks its first entry."""
        from tt_debug.tui.dialogs.menu import MenuDialog

        found = list(self.copyables())
        if not found:
            self.say("there is nothing to copy here")
            return
        rows = [(item.key, item.name, tried(item)) for item in found]

        def chosen(key: str | None) -> None:
            picked = next((item for item in found if item.key == key), None)
            if picked is not None:
                self.send(picked)

        self.app.push_screen(MenuDialog("Copy", rows), chosen)

    def send(self, item: Copyable) -> None:
        """To the terminal's clipboard, which answers nothing; a long text to a file."""
        try:
            text = item.text()
        except UsageError as error:
            self.say(f"{item.name}: {error}", severity="warning")
            return
        notes = [warning(text)]
        if "$redacted" in text and not self.tt.revealed:
            notes.append(f"secrets are left out, {self.tt.key_of('secrets')} shows them")
        told = "".join(f"; {note}" for note in notes if note)
        if fits(text):
            self.app.copy_to_clipboard(text)
            self.say(f"{item.name}: sent to the terminal's clipboard{told}")
            return
        name = kept_in_file(text, ".json" if item.key == "j" else ".txt")
        self.say(f"{item.name} has {size_of(text)}, more than a terminal takes: written to {name}{told}")
