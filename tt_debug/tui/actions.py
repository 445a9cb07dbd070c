"""What is made from the action table: a screen's actions, its key bindings, the hints of its key bar."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from textual.binding import Binding, BindingType

from tt_debug.tui.action import EVERYWHERE, ROWS, Action, Safety
from tt_debug.tui.action_table import ACTIONS
from tt_debug.tui.key_names import shown_key

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


def for_screen(where: str, actions: Sequence[Action] = ACTIONS) -> tuple[Action, ...]:
    """The actions of a screen and those of every screen, in the table's order; "rows" gives the list's own.

    ``actions`` is the table with the user's keys.
    """
    if where == ROWS:
        return tuple(action for action in actions if ROWS in action.where)
    return tuple(action for action in actions if where in action.where or EVERYWHERE in action.where)


def find(action_id: str, actions: Sequence[Action] = ACTIONS) -> Action:
    """The action of that id; KeyError when there is none."""
    for action in actions:
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


class KeyHint(NamedTuple):
    """One entry of the key bar. ``action`` is what a click does; a disabled one is shown dimmed and answers why."""

    keys: str
    label: str
    rank: int
    action: str
    enabled: bool = True


def key_hints(
    where: str,
    disabled: Iterable[str] = (),
    raised: Collection[str] = (),
    *,
    actions: Sequence[Action] = ACTIONS,
    ascii_only: bool = False,
) -> tuple[KeyHint, ...]:
    """The key bar of a screen, in table order; neighbours with one label share an entry.

    ``raised`` are the ids of actions that matter more than any other just now. What the user has taken every key from
    is not there."""
    refused = frozenset(disabled)
    hints: list[KeyHint] = []
    lists: Sequence[Action] = for_screen(ROWS, actions) if where != "help" else ()
    for action in (*lists, *for_screen(where, actions)):
        rank = RAISED if action.id in raised else action.rank
        if not rank or not action.keys:
            continue
        key = shown_key(action.keys[0], ascii_only=ascii_only)
        if hints and hints[-1].label == action.hint:
            last = hints[-1]
            hints[-1] = KeyHint(last.keys + key, last.label, last.rank, last.action, last.enabled)
        else:
            hints.append(KeyHint(key, action.hint, rank, action.id, action.id not in refused))
    return tuple(hints)
