"""The README's table of keys, made from the action table: ``python -m tt_debug.tui.key_table README.md`` renews it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tt_debug.tui.actions import ACTIONS, EVERYWHERE, ROWS, Action, Safety, shown_key

BEGIN: Final = "<!-- keys:begin -->"
END: Final = "<!-- keys:end -->"

_PLACES: Final = {ROWS: "any list", EVERYWHERE: "everywhere"}


def markdown_table() -> str:
    """One row an action: keys, what it does, its id for the keymap, where, what it may touch and its command."""
    rows = ["| key | does | id | where | command |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *map(_row, ACTIONS)])


def replaced(text: str) -> str:
    """``text`` with the table between its markers renewed. Raises ValueError when the markers are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no {BEGIN} … {END} in the text")
    return f"{before}{BEGIN}\n{markdown_table()}\n{END}{after}"


def _row(action: Action) -> str:
    keys = " ".join(f"`{shown_key(key)}`" for key in action.keys)
    where = ", ".join(_PLACES.get(place, place) for place in action.where)
    safety = "" if action.safety is Safety.LOOK else f" ({action.safety.value})"
    command = f"`{action.cli}`" if action.cli else ""
    cells = (keys, f"{action.title.rstrip('…')}{safety}", f"`{action.id}`", where, command)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main(path: str) -> None:
    """Renew the table in a file."""
    file = Path(path)
    file.write_text(replaced(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
