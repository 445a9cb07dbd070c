"""How large the values of a state are, for choosing what to open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.model import Value
from tt_debug.sizes import json_size

HUGE: Final = 5_000_000
"""Bytes of a state from which on only its keys and sizes are shown, until more is asked for."""


def sizes_of(state: Mapping[str, Value]) -> dict[str, int]:
    """Bytes of each value."""
    return {key: json_size(value) for key, value in state.items()}
