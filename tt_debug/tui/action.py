"""What an action is: its id, words, keys, how safe it is, and where it applies.

Owns the shape; the actions there are stand in `action_table`, what is made of them in `actions`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

EVERYWHERE: Final = "everywhere"
ROWS: Final = "rows"


class Safety(StrEnum):
    """What an action may do: look (no write), note (our own files), write (append to the store), execute (run code)."""

    LOOK = "look"
    NOTE = "note"
    WRITE = "write"
    EXECUTE = "execute"


class Action(NamedTuple):
    """One thing a user can do. ``keys`` are Textual's names, the first one is shown.

    ``where`` are screens ("home", "thread", "pager", "approvals", "recovery", "answers", "marks", "log", "stores",
    "help", "compare"), "everywhere", or "rows" (the focused list).
    ``hint`` is the word in the key bar; neighbours with the same hint are shown together (``,. step``). ``rank`` is
    its claim to a place there, 0 for none unless the screen raises it. ``cli`` is the same thing as a command line,
    empty where there is none.
    """

    id: str
    title: str
    keys: tuple[str, ...]
    help: str
    where: tuple[str, ...]
    safety: Safety = Safety.LOOK
    cli: str = ""
    hint: str = ""
    rank: int = 0

    @property
    def method(self) -> str:
        """The screen's method that does it."""
        return "act_" + self.id.replace(".", "_")
