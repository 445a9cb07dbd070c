"""Inks: the named foreground styles that rows are written in, and the app's own ``$tt-*`` colour variables.

Owns which token each ink stands for, only ``$text-*`` ones, and that these can be read in every theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rich.style import Style
from textual.color import Color


class Ink(NamedTuple):
    """A theme's variable for the colour of a text, a weight, and a variable for what it is marked with, if it is."""

    color: str
    weight: str = ""
    ground: str = ""


INKS: Final[Mapping[str, Ink]] = {
    "plain": Ink("foreground"),
    "strong": Ink("foreground", "bold"),
    "muted": Ink("text-muted"),
    "primary": Ink("text-primary"),
    "secondary": Ink("text-secondary"),
    "success": Ink("text-success"),
    "warning": Ink("text-warning"),
    "error": Ink("text-error"),
    "accent": Ink("text-accent"),
    "key": Ink("tt-key"),
    "string": Ink("tt-string"),
    "number": Ink("tt-number"),
    "constant": Ink("tt-constant", "italic"),
    "human": Ink("tt-human", "bold"),
    "ai": Ink("tt-ai", "bold"),
    "tool": Ink("tt-tool", "bold"),
    "system": Ink("tt-system", "bold"),
    "added": Ink("tt-added"),
    "removed": Ink("tt-removed"),
    "changed": Ink("tt-changed"),
    # Words of a diff, never told by colour alone.
    "added-word": Ink("text-success", "underline", "success-muted"),
    "removed-word": Ink("text-error", "strike", "error-muted"),
    **{f"lane-{number}": Ink(f"tt-lane-{number}") for number in range(6)},
}
"""What rows are written in. Not styled by CSS: the same for every list, they would be matched again for each."""

LANES: Final = 6
"""Lane colours repeat after so many."""

READABLE: Final = 4.5
"""The least contrast of a text with what it stands on (WCAG 2.1, 1.4.3)."""
_GROUNDS: Final = ("background", "surface", "panel")
_ROLES: Final = ("primary", "secondary", "accent", "success", "warning", "error")

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
    """The ``$tt-*`` variables of a theme whose generated variables are ``variables``, and those of its own colours for
    text that would be hard to read; a theme may set the former itself."""
    foreground = variables["foreground"]
    if foreground.startswith("ansi"):
        # The terminal's own colours are unknown here: they can neither be measured nor blended.
        own = {name: variables.get(name, variables[token]) for name, token in _OWN.items()}
        return {**own, "tt-rule": foreground}
    mended = _mended(variables)
    every = {**variables, **mended}
    own = {name: variables.get(name, every[token]) for name, token in _OWN.items()}
    # A line that is seen in dark and light themes alike.
    own.setdefault("tt-rule", f"{every['foreground']} 30%")
    return {**mended, **own}


def _mended(variables: Mapping[str, str]) -> dict[str, str]:
    """The theme's colours for text, moved towards black or white as far as reading them needs."""
    grounds = [Color.parse(variables[name]) for name in _GROUNDS]
    found = {"foreground": readable(Color.parse(variables["foreground"]), grounds).hex}
    for name in _ROLES:
        # A badge stands on the muted colour of its own role.
        badge = Color.parse(variables[f"{name}-muted"])
        found[f"text-{name}"] = readable(Color.parse(variables[f"text-{name}"]), [*grounds, badge]).hex
    cursor = Color.parse(variables["block-cursor-background"])
    text = variables["block-cursor-foreground"]
    start = cursor.get_contrast_text(1) if text.startswith("auto") else Color.parse(text)
    found["block-cursor-foreground"] = readable(start, [cursor]).hex
    found["text-muted"] = "auto 72%"
    found["text-disabled"] = "auto 52%"
    return found


def ink_style(name: str, variables: Mapping[str, str], ground: Color) -> Style:
    """How the ink ``name`` is written on ``ground``, in the theme with these variables."""
    ink, marked = INKS[name], None
    if ink.ground:
        ground = marked = _on(ground, variables[ink.ground])
        if marked.ansi is not None:
            # The terminal has no muted colours: a word would be written in what it stands on.
            marked = None
    color = _on(ground, variables[ink.color]).rich_color
    return Style.parse(ink.weight) + Style(color=color, bgcolor=None if marked is None else marked.rich_color)


def _on(ground: Color, value: str) -> Color:
    """A colour as a variable tells it ("#rrggbb", "auto 72%"), blended with what it stands on."""
    name, _, share = value.partition(" ")
    alpha = float(share.removesuffix("%")) / 100 if share else 1.0
    color = ground.get_contrast_text(1) if name == "auto" else Color.parse(name)
    return ground + color.multiply_alpha(alpha)


def readable(text: Color, grounds: Iterable[Color], least: float = READABLE) -> Color:
    """``text``, or the nearest blend of it with black or white that reads on each of ``grounds``; black or white itself
    where nothing does."""
    grounds = list(grounds)
    towards = max((Color(0, 0, 0), Color(255, 255, 255)), key=lambda each: _worst(each, grounds))
    for share in range(21):
        blended = text.blend(towards, share / 20)
        if _worst(blended, grounds) >= least:
            return blended
    return towards


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG 2.1, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _worst(text: Color, grounds: Iterable[Color]) -> float:
    return min(contrast(text, ground) for ground in grounds)


def _luminance(color: Color) -> float:
    parts = (part / 255 for part in color.rgb)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def wants_no_color(environ: Mapping[str, str]) -> bool:
    """Whether NO_COLOR asks for it; as https://no-color.org says, only a non-empty value counts."""
    return bool(environ.get("NO_COLOR"))
