"""Whether stored bytes may hold a text, asked before they are decoded: a yes may be wrong, a no never is.

Owns what a text may look like in UTF-8 and in JSON, and in either case.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from stores.codec.utf8 import has_utf8

_PLAIN: Final = re.compile(r"[ !#-\[\]-~]+")
"""Runs of characters that JSON writes as they are: ASCII without quotes, backslashes and what controls."""


_STRANGERS: Final = {
    b"\xc3\x9f": "s",  # ß
    b"\xc4\xb0": "i",  # İ
    b"\xc5\x89": "n",  # ŉ
    b"\xc5\xbf": "s",  # ſ
    b"\xc7\xb0": "j",  # ǰ
    b"\xe1\xba": "ahstwy",  # ẚ ẖ ẞ ẗ ẘ ẙ
    b"\xe2\x84": "k",  # the sign for Kelvin
    b"\xef\xac": "filst",  # ﬀ ﬁ ﬂ ﬅ ﬆ
}
"""How the characters beyond ASCII begin in UTF-8 that are ASCII once their case is folded, and which letters."""
_SURE: Final = re.compile(rf"[^{''.join(sorted({*''.join(_STRANGERS.values())}))}]+")
"""Runs without those letters."""
_AS_JSON: Final = (b"\\u00d", b"\\u01", b"\\u1e9", b"\\u212", b"\\ufb0")
"""The same as JSON may escape them, in lower case."""
_CASELESS: Final = frozenset({"Lo", "Nd", "No", "Pd", "Pe", "Po", "Ps", "Sc", "Sm", "So"})
"""Categories of characters that have no case, and that nothing folds into: 京, ¥, 🙂."""


_IN_NUMBERS: Final = re.compile(r"[-+.0-9eE]+")
"""What a number is written of; its bytes need not show it."""


class Needle:
    """One text; ``case``: upper and lower case differ."""

    def __init__(self, text: str, *, case: bool = False) -> None:
        self._case = case
        self.in_numbers = _IN_NUMBERS.fullmatch(text) is not None
        """Whether it may be a part of a number as that is written."""
        run = _longest(text, case=case)
        self._run, self._escaped = run.encode(), _PLAIN.fullmatch(run) is None
        self._sure = b"" if case else max(_SURE.findall(run), key=len, default="").encode()
        self._strangers = [] if case else [each for each, letters in _STRANGERS.items() if {*run} & {*letters}]

    def __call__(self, raw: bytes) -> bool:
        """Whether it may stand in these bytes: UTF-8 text, or JSON with whatever is escaped there."""
        if self.in_numbers:
            return True
        if not self._case:
            raw = raw.lower()
        if self._escaped and b"\\" in raw:
            return True
        if self._sure not in raw:
            return False
        if self._run in raw:
            return True
        return any(each in raw for each in self._strangers) or (
            bool(self._strangers) and b"\\u" in raw and any(each in raw for each in _AS_JSON)
        )


def _longest(text: str, *, case: bool) -> str:
    """The longest part of a text that stands, in lower case, in any bytes that hold it."""
    if case:
        return text if has_utf8(text) else ""
    runs = [text] if has_utf8(text) and _is_caseless(text) else []
    runs += re.findall(r"[\x00-\x7f]+", text.casefold())
    return max(runs, key=len, default="").lower()


def _is_caseless(text: str) -> bool:
    """Whether no letters but ASCII's have two cases in it."""
    return all(
        part.isascii() or (unicodedata.category(part) in _CASELESS and part.lower() == part.upper()) for part in text
    )
