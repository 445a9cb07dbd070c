"""Inks: the named foreground styles that rows are written in, and the app's own ``$tt-*`` colour variables.

Owns which token each ink stands for. Only ``$text-*`` tokens: they keep their contrast in every theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

INKS: Final = (
    "plain",
    "strong",
    "muted",
    "primary",
    "secondary",
    "success",
    "warning",
    "error",
    "accent",
    "key",
    "string",
    "number",
    "constant",
    "human",
    "ai",
    "tool",
    "system",
    "added",
    "removed",
    "changed",
    "lane-0",
    "lane-1",
    "lane-2",
    "lane-3",
    "lane-4",
    "lane-5",
)
"""Each is a component class ``ink--<name>`` of every `RowView`, styled in styles.tcss."""

LANES: Final = 6
"""Lane colours repeat after so many."""

_OWN: Final = {
    "tt-bar": "panel",
    "tt-human": "text-success",
    "tt-ai": "text-primary",
    "tt-tool": "text-warning",
    "tt-system": "text-secondary",
    "tt-added": "text-success",
    "tt-removed": "text-error",
    "tt-changed": "text-warning",
    "tt-key": "text-primary",
    "tt-string": "foreground",
    "tt-number": "text-warning",
    "tt-constant": "text-secondary",
    "tt-lane-0": "text-primary",
    "tt-lane-1": "text-success",
    "tt-lane-2": "text-warning",
    "tt-lane-3": "text-secondary",
    "tt-lane-4": "text-accent",
    "tt-lane-5": "text-error",
}


def own_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """The ``$tt-*`` variables of a theme whose generated variables are ``variables``; a theme may set its own."""
    own = {name: variables.get(name, variables[token]) for name, token in _OWN.items()}
    foreground = variables["foreground"]
    # A line that is seen in dark and light themes alike; the terminal's own colours cannot be blended.
    own.setdefault("tt-rule", foreground if foreground.startswith("ansi") else f"{foreground} 30%")
    return own


def wants_no_color(environ: Mapping[str, str]) -> bool:
    """Whether NO_COLOR asks for it; as https://no-color.org says, only a non-empty value counts."""
    return bool(environ.get("NO_COLOR"))
