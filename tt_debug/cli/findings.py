"""One line of a check-up, as text and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """``level``: "ok", "warn" (something is less good), "bad" (something will not work)."""

    part: str
    level: Literal["ok", "warn", "bad"]
    what: str
    advice: str = ""

    def record(self) -> dict[str, str]:
        """An item of ``doctor --json``."""
        return {"part": self.part, "level": self.level, "what": self.what, "advice": self.advice}

    def lines(self) -> Iterator[str]:
        """For a person: a mark, the part and what was found; the advice below."""
        mark = {"ok": "✓", "warn": "!", "bad": "×"}[self.level]
        yield f"{mark} {self.part:<10} {self.what}"
        if self.advice:
            yield f"{'':<13}{self.advice}"
