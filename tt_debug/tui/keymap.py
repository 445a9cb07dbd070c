"""The user's keys: ``keys.toml`` beside the configuration, laid over the action table. Pure but for reading the file.

Owns what may stand there. Every fault is one sentence and none is passed over: an unknown action, a key that two
actions of one screen would share, a key that no terminal sends.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from stores.model import Value
from stores.places import config_folder
from tt_debug.config import settings
from tt_debug.errors import UsageError
from tt_debug.tui.action import EVERYWHERE, ROWS, Action
from tt_debug.tui.action_table import ACTIONS
from tt_debug.tui.key_names import shown_key, spelled, unreachable

PRESETS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "default": {},
    # As debuggers with function keys have it; the letters stay.
    "fkeys": {"run.continue": ("f8", "c"), "run.step": ("f10", "s"), "refresh": ("f5", "r"), "edit": ("f2", "e")},
}
NEEDED: Final = "palette"
"""The action that must keep a key: every other can be found there."""

_KNOWN: Final = ("preset", "keys")


def keys_file() -> Path:
    """Where it is, or would be."""
    return config_folder() / "keys.toml"


def read_actions(file: Path | None = None) -> tuple[Action, ...]:
    """The action table with the user's keys. Raises UsageError, naming the file and each fault in a sentence."""
    path = file or keys_file()
    said = settings(path)
    if not said:
        return ACTIONS
    faults = [*_shape(said)]
    actions = ACTIONS
    if not faults:
        given = said.get("keys", {})
        wanted = {**PRESETS[str(said.get("preset", "default"))], **{name: _keys(given[name]) for name in given}}
        actions = with_keys(wanted)
        faults = [*_unknown(wanted), *_unsent(wanted), *_shared(actions), *_missing(actions)]
    if faults:
        raise UsageError(f"{path}: {'; '.join(faults)}", hint="mend it, or move it away")
    return actions


def with_keys(wanted: Mapping[str, Sequence[str]]) -> tuple[Action, ...]:
    """The action table with other keys for some actions."""
    return tuple(
        action._replace(keys=tuple(map(spelled, wanted[action.id]))) if action.id in wanted else action
        for action in ACTIONS
    )


def bound(actions: Iterable[Action]) -> dict[str, str]:
    """The same for Textual: binding id → keys parted by commas. Every id is named, so that nothing of the table's own
    keys is left over; an action without keys gets one that no terminal sends."""
    keymap: dict[str, str] = {}
    for action in actions:
        if action.id == "pane.focus":
            keymap |= {f"pane.{number}": key for number, key in enumerate(action.keys, 1)}
        else:
            keymap[action.id] = ",".join(action.keys) or "<ignore>"
    return keymap


def _shape(said: Mapping[str, Value]) -> Iterator[str]:
    yield from (f"{name!r} is not known, only {' and '.join(_KNOWN)} are" for name in said if name not in _KNOWN)
    preset = said.get("preset", "default")
    if not isinstance(preset, str) or preset not in PRESETS:
        yield f"there is no preset {preset!r}, only {' and '.join(PRESETS)}"
    keys = said.get("keys", {})
    if not isinstance(keys, Mapping):
        yield 'keys is a table: [keys], then "run.continue" = ["f8", "c"]'
        return
    for name, value in keys.items():
        if isinstance(value, Mapping):
            inner = next(iter(value), "…")
            yield f'an id with a dot stands in quotes: "{name}.{inner}" = …'
        elif not isinstance(value, str) and not (isinstance(value, list) and all(isinstance(k, str) for k in value)):
            yield f'the keys of {name} are a text or a list of texts, as ["f8", "c"]'


def _keys(value: Value) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _unknown(wanted: Iterable[str]) -> Iterator[str]:
    ids = [action.id for action in ACTIONS]
    for name in wanted:
        if name not in ids:
            close = difflib.get_close_matches(name, ids, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ", ? lists them"
            yield f"there is no action {name!r}{meant}"


def _unsent(wanted: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name, keys in wanted.items():
        for key in keys:
            reason = unreachable(key, name)
            if reason:
                yield f"{name} cannot have the key {key!r}: {reason}"
        if name == "pane.focus" and len(keys) != 9:
            yield f"pane.focus has {len(keys)} keys, and there are 9 panels"


def _shared(actions: Sequence[Action]) -> Iterator[str]:
    """Each key that two actions would share on one screen, once."""
    holders: dict[str, list[Action]] = {}
    for action in actions:
        for key in action.keys:
            holders.setdefault(key, []).append(action)
    for key, several in holders.items():
        for at, action in enumerate(several):
            other = next((each for each in several[at + 1 :] if _meet(action, each)), None)
            if other is not None:
                yield (
                    f"{shown_key(key)} would be both {action.id} and {other.id}: "
                    "give one of them another key, or [] for none"
                )


def _meet(one: Action, other: Action) -> bool:
    """Whether there is a screen where both apply."""
    anywhere = {EVERYWHERE, ROWS}
    return bool(anywhere & {*one.where, *other.where} or set(one.where) & set(other.where))


def _missing(actions: Iterable[Action]) -> Iterator[str]:
    if any(action.id == NEEDED and not action.keys for action in actions):
        yield f"{NEEDED} needs a key: what has none is found there"
