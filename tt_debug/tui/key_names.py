"""Names of keys: as Textual calls them, as people write and read them, and which of them a terminal can send at all."""

from __future__ import annotations

import string
import unicodedata
from typing import Final

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

_SHOWN: Final = {
    "enter": "⏎",
    "escape": "Esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "tab": "Tab",
    "space": "space",
}
_ASCII: Final = {"⏎": "Enter", "↑": "Up", "↓": "Down", "←": "Left", "→": "Right"}
_ALIASES: Final = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}
_FIXED: Final = {"escape": "closes what is on top", "tab": "goes to the next panel", "shift+tab": "goes one panel back"}
_OWNED: Final = {"ctrl+q": "quit", "ctrl+p": "palette"}
"""Keys that Textual keeps for what they are."""
_SAME: Final = {"ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+h": "Backspace", "ctrl+left_square_bracket": "Esc"}
_NAMES: Final = {key.value for key in Keys if not key.value.startswith("<")}


def _name_of(character: str) -> str:
    """What Textual calls the key of a character; the character itself where it has no name of its own."""
    if character.isalnum():
        return character
    name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


_SIGNS: Final = {_name_of(sign): sign for sign in string.punctuation}


def shown_key(key: str, *, ascii_only: bool = False) -> str:
    """A key as people write it: ``,``, ``^p``, ``⏎``."""
    *modifiers, name = key.split("+")
    text = _SHOWN.get(name) or _SIGNS.get(name) or key_to_character(name) or name
    if text[:1] == "f" and text[1:].isdigit():
        text = text.upper()
    if ascii_only:
        text = _ASCII.get(text, text)
    for modifier in reversed(modifiers):
        text = f"^{text}" if modifier == "ctrl" else f"{modifier}+{text}"
    return text


def spelled(key: str) -> str:
    """A key as Textual calls it, from that name or from the character itself: ``comma`` for ``,``."""
    before, plus, name = key[:-1].rpartition("+")
    name += key[-1:]
    modifiers = before.lower().split("+") if plus else []
    name = _name_of(name) if len(name) == 1 else _ALIASES.get(name.lower(), name.lower())
    return "+".join([*modifiers, name])


def unreachable(key: str, action: str) -> str:
    """Why ``action`` would never hear of ``key``, in a few words; empty when it would."""
    name = spelled(key)
    *modifiers, last = name.split("+")
    if name in _FIXED:
        return f"{shown_key(name)} always {_FIXED[name]}"
    if name in _SAME:
        return f"to a terminal it is the same as {_SAME[name]}"
    if _OWNED.get(name, action) != action:
        return f"it always means {_OWNED[name]}"
    if name in ("ctrl+c", "ctrl+z"):
        return "it belongs to the terminal"
    if strange := [each for each in modifiers if each not in ("ctrl", "shift")]:
        return f"not every terminal sends {strange[0]}, and some send Esc instead"
    if not modifiers:
        known = last.isprintable() if len(last) == 1 else last in _NAMES or last in _SIGNS or key_to_character(last)
        return "" if known else f"there is no key {last!r}"
    if modifiers == ["shift"] and len(last) == 1:
        return f"write {last.upper()!r} for the capital letter"
    is_sent = name in _NAMES and not (modifiers == ["ctrl"] and last.isdigit())
    return "" if is_sent else "terminals send it as another key, or not at all"
