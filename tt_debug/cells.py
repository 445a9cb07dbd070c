"""Text that is safe to show, its width in terminal cells, and amounts in few characters.

Owns nothing about what is shown. Costs next to nothing to import: rich's tables of widths come with the first wide
character.
"""

from __future__ import annotations

import re
from datetime import datetime

# Never shown as they are. C0, DEL and C1 drive a terminal; bidi marks reorder a line, zero-width ones hide in it,
# U+2028/9 break it, tag characters carry text nobody sees, lone surrogates cannot be encoded. ZWJ and ZWNJ stay:
# emoji and several scripts need them.
# Not compiled before there is one: none of these is printable, and most texts are.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_TAB = "    "


def safe_text(text: str, *, newlines: bool = False) -> str:
    """``text`` with nothing in it that acts on a terminal or deceives a reader.

    Controls become control pictures (ESC ``␛``; a C1 control the two it stands for, ``␛[``), a tab four spaces, a
    line end ``⏎`` (with ``newlines`` it stays), half a surrogate pair its escape (``\\ud83d``), everything else that
    is unsafe U+FFFD.
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if newlines:
        return "\n".join(re.sub(_UNSAFE, _picture, line) for line in text.split("\n"))
    return re.sub(_UNSAFE, _picture, text)


def signs(text: str) -> str:
    """As `safe_text`, with exactly one character for each: where a cursor counts them."""
    return text if text.isprintable() else re.sub(_UNSAFE, _sign, text)


def _sign(match: re.Match[str]) -> str:
    picture = _picture(match)
    return "\ufffd" if picture[0] == "\\" else picture[0]


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
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return "\ufffd"


def cell_width(text: str) -> int:
    """Columns the text takes in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # 9 ms

    return cell_len(text)


def clip(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, cut between characters and ending in ``…`` when it was longer."""
    if text.isascii():
        return text if len(text) <= width else text[: max(0, width - 1)] + "…" * (width > 0)
    from rich.cells import cell_len, set_cell_size  # 9 ms

    if width <= 0:
        return ""
    # A cell holds at least a part of a character, so the rest need not be measured.
    head = text[: 16 * width + 64]
    if len(head) == len(text) and cell_len(text) <= width:
        return text
    return set_cell_size(head, width - 1).rstrip() + "…"


def human_size(size: int) -> str:
    """Bytes in three figures or so: ``812``, ``5.9k``, ``183k``, ``2.1M``."""
    if size < 1000:
        return str(size)
    amount = float(size)
    for unit in ("k", "M", "G", "T"):
        amount /= 1000
        if amount < 9.95:
            return f"{amount:.1f}{unit}"
        if amount < 999.5:
            return f"{amount:.0f}{unit}"
    return f"{amount:.0f}T"


def human_age(then: datetime | None, now: datetime) -> str:
    """How long ago, in one unit: ``12s``, ``4m``, ``3h``, ``2d``, ``1y``. Empty when it is not known."""
    if then is None:
        return ""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, length in (("y", 31_557_600), ("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def human_duration(seconds: float) -> str:
    """A time taken: ``174ms``, ``2.1s``, ``9m12s``, ``2h05m``."""
    if round(seconds * 1000) < 1000:
        return f"{round(seconds * 1000)}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"
