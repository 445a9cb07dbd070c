"""What the user has set for the interface, read once before it is drawn.

Owns gathering it; where it is kept and what it means is said by those it is asked of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tt_debug import config
from tt_debug.redaction import Redaction
from tt_debug.tui.action import Action
from tt_debug.tui.action_table import ACTIONS
from tt_debug.tui.keymap import read_actions
from tt_debug.usage import Prices


@dataclass(frozen=True, slots=True)
class Preferences:
    """``hiding`` says which values are secrets; ``actions`` is the action table with the user's keys; ``prices`` what
    model calls cost, as far as the user has said."""

    hiding: Redaction = field(default_factory=Redaction)
    actions: tuple[Action, ...] = ACTIONS
    prices: Prices = field(default_factory=Prices)


def read_preferences() -> Preferences:
    """From the user's files and environment. Raises UsageError, naming the file, where one cannot be read."""
    return Preferences(config.hiding(), read_actions(), config.prices())
