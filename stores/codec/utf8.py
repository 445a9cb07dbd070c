"""Whether a text can be written down: one that came of invalid bytes holds half surrogates, and has no UTF-8."""

from __future__ import annotations


def has_utf8(text: str) -> bool:
    """Whether it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
