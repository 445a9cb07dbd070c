"""What is made from the action table: a screen's actions, its key bindings, the hints of its key bar.

Owns how keys are written for people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from textual.binding import Binding, BindingType

from tt_debug.tui.action import EVERYWHERE, ROWS, Action, Safety
from tt_debug.tui.action_table import ACTIONS

__all__ = [
    "ACTIONS",
    "EVERYWHERE",
    "ROWS",
    "Action",
    "KeyHint",
    "Safety",
    "bindings",
    "find",
    "for_screen",
    "key_hints",
    "shown_key",
]

RAISED: Final = 99
"""The rank of what a screen raises: only ``? keys`` is above it."""

_SHOWN: Final = {
    "comma": ",",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "at": "@",
    "percent_sign": "%",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
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
    "f1": "F1",
}


def shown_key(key: str, *, ascii_only: bool = False) -> str:
    """A key as people write it: ``,``, ``^p``, ``⏎``."""
    *modifiers, name = key.split("+")
    text = _SHOWN.get(name, name)
    if ascii_only:
        text = {"⏎": "Enter", "↑": "Up", "↓": "Down", "←": "Left", "→": "Right"}.get(text, text)
    for modifier in reversed(modifiers):
        text = f"^{text}" if modifier == "ctrl" else f"{modifier}+{text}"
    return text


def for_screen(where: str) -> tuple[Action, ...]:
    """The actions of a screen and those of every screen, in the table's order; "rows" gives the list's own."""
    if where == ROWS:
        return tuple(action for action in ACTIONS if ROWS in action.where)
    return tuple(action for action in ACTIONS if where in action.where or EVERYWHERE in action.where)


def find(action_id: str) -> Action:
    """The action of that id; KeyError when there is none."""
    for action in ACTIONS:
        if action.id == action_id:
            return action
    raise KeyError(action_id)


def bindings(where: str) -> list[BindingType]:
    """Textual bindings for a screen class, or with "rows" for the list's base class."""
    return [
        Binding(",".join(keys), verb, action.title, show=action.rank > 0, id=name, tooltip=action.help)
        for action in for_screen(where)
        for keys, verb, name in _verbs(action)
    ]


def _verbs(action: Action) -> Iterable[tuple[tuple[str, ...], str, str]]:
    """Keys, Textual action and binding id. The panel keys differ in what they do, so each is a binding of its own."""
    if action.id == "pane.focus":
        return tuple(((key,), f"pane({key})", f"pane.{key}") for key in action.keys)
    if ROWS in action.where:
        return ((action.keys, f"row('{action.id.removeprefix('row.')}')", action.id),)
    return ((action.keys, f"act('{action.id}')", action.id),)


@dataclass(frozen=True, slots=True)
class KeyHint:
    """One entry of the key bar. ``action`` is what a click does; a disabled one is shown dimmed and answers why."""

    keys: str
    label: str
    rank: int
    action: str
    enabled: bool = True


def key_hints(
    where: str, disabled: Iterable[str] = (), raised: Collection[str] = (), *, ascii_only: bool = False
) -> tuple[KeyHint, ...]:
    """The key bar of a screen, in table order; neighbours with one label share an entry.

    ``raised`` are the ids of actions that matter more than any other just now."""
    refused = frozenset(disabled)
    hints: list[KeyHint] = []
    lists: Sequence[Action] = for_screen(ROWS) if where != "help" else ()
    for action in (*lists, *for_screen(where)):
        rank = RAISED if action.id in raised else action.rank
        if not rank:
            continue
        key = shown_key(action.keys[0], ascii_only=ascii_only)
        if hints and hints[-1].label == action.hint:
            last = hints[-1]
            hints[-1] = KeyHint(last.keys + key, last.label, last.rank, last.action, last.enabled)
        else:
            hints.append(KeyHint(key, action.hint, rank, action.id, action.id not in refused))
    return tuple(hints)
