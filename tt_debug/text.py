"""Text that is safe to show: what the command line prints, the screen draws and the clipboard gets.

Owns the cleaning and the cutting; what to say about a log, a state or a diff is in `tt_debug.prose`.
"""

from __future__ import annotations

import re

# Never shown as they are. C0, DEL and C1 drive a terminal; bidi marks reorder a line, zero-width ones hide in it,
# U+2028/9 break it, tag characters carry text nobody sees, lone surrogates cannot be encoded. ZWJ and ZWNJ stay:
# emoji and several scripts need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_TAB = "    "


def safe_text(text: str, *, newlines: bool = False) -> str:
    """``text`` with nothing in it that acts on a terminal or deceives a reader.

    Controls become control pictures (ESC ``␛``; a C1 control the two it stands for, ``␛[``), a tab four spaces, a
    line end ``⏎`` (with ``newlines`` it stays), everything else that is unsafe U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    if _UNSAFE.search(text) is None:
        return text
    if newlines:
        return "\n".join(_UNSAFE.sub(_picture, line) for line in text.replace("\r\n", "\n").split("\n"))
    return _UNSAFE.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x09:
        return _TAB
    if code == 0x0A:
        return "⏎"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code <= 0x9F:
        return "␛" + chr(code - 0x40)
    return "\ufffd"
