"""What the user has set for the interface, read once before it is drawn.

Owns gathering it; where it is kept and what it means is said by those it is asked of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tt_debug import config
from tt_debug.redaction import Redaction


@dataclass(frozen=True, slots=True)
class Preferences:
    """``hiding`` says which values are secrets."""

    hiding: Redaction = field(default_factory=Redaction)


def read_preferences() -> Preferences:
    """From the user's files and environment. Raises UsageError, naming the file, where one cannot be read."""
    return Preferences(config.hiding())
