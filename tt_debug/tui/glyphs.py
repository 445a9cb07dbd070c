"""Every sign the interface draws that is not a letter, in two tables: Unicode and ASCII.

Owns which sign stands for what; a status always has a word beside its sign, and both are here.
"""

from __future__ import annotations

import locale
import os
from typing import Final, NamedTuple

from stores.model import Status


class Glyphs(NamedTuple):
    """One table. ``bars`` are eight heights from low to high; ``lane`` parts join into branches."""

    ascii: bool
    cursor: str
    step: str
    edited: str  # an edit, or the first checkpoint of a fork
    end: str  # an end, or not yet run
    running: str
    waiting: str
    failed: str
    done: str
    folded: str
    opened: str
    stub: str  # a fork folded to one row
    breakpoint: str
    bookmark: str
    problem: str
    subgraph: str
    tool: str
    same: str
    moved: str
    ellipsis: str
    newline: str
    arrow: str
    crumb: str
    dot: str
    enter: str
    secret: str
    bars: str
    line: str
    branch: str
    branch_open: str
    horizontal: str

    def words(self, text: str) -> str:
        """A text of ours in these signs: what asks ends in three dots where there is no ellipsis."""
        return text.replace("…", self.ellipsis) if self.ascii else text


UNICODE: Final = Glyphs(
    ascii=False,
    cursor="▌",
    step="●",
    edited="◆",
    end="○",
    running="◐",
    waiting="‖",
    failed="×",
    done="✓",
    folded="▸",
    opened="▾",
    stub="◇",
    breakpoint="■",
    bookmark="★",
    problem="!",
    subgraph="⌂",
    tool="⚙",
    same="≡",
    moved="↷",
    ellipsis="…",
    newline="⏎",
    arrow="→",
    crumb="›",
    dot="·",
    enter="⏎",
    secret="●●●●",
    bars="▁▂▃▄▅▆▇█",
    line="│",
    branch="├─",
    branch_open="├─╮",
    horizontal="─",
)

ASCII: Final = Glyphs(
    ascii=True,
    cursor=">",
    step="*",
    edited="#",
    end="o",
    running="~",
    waiting="=",
    failed="x",
    done="+",
    folded=">",
    opened="v",
    stub="o",
    breakpoint="B",
    bookmark="$",
    problem="!",
    subgraph="@",
    tool="&",
    same="=",
    moved="~",
    ellipsis="...",
    newline="\\n",
    arrow="->",
    crumb=">",
    dot="-",
    enter="Enter",
    secret="****",
    bars="_.,-=+*#",
    line="|",
    branch="+-",
    branch_open="+-\\",
    horizontal="-",
)


def choose(ascii_only: bool | None = None) -> Glyphs:
    """The table for this terminal: ASCII where it is asked for, or where the locale's encoding is not UTF-8."""
    if ascii_only is None:
        named = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
        encoding = locale.getpreferredencoding(False).lower().replace("-", "")
        # Python takes the C locale for UTF-8, whatever the terminal does.
        plain = named in ("C", "POSIX") or encoding != "utf8"
        ascii_only = plain and os.environ.get("PYTHONUTF8") != "1"
    return ASCII if ascii_only else UNICODE


def status_glyph(status: str, glyphs: Glyphs) -> str:
    """One cell for a status of `stores.model.Status`."""
    return {
        Status.DONE: glyphs.done,
        Status.WAITING: glyphs.waiting,
        Status.FAILED: glyphs.failed,
        Status.RUNNING: glyphs.running,
        Status.PENDING: glyphs.end,
        Status.UNFINISHED: glyphs.end,
        Status.PAUSED: glyphs.breakpoint,
        Status.CRASHED: glyphs.problem,
        Status.HELD: glyphs.problem,
        Status.CANCELLED: glyphs.failed,
    }.get(status, "?")


def status_ink(status: str) -> str:
    """The ink (`tt_debug.tui.theme`) a status is written in."""
    return {
        Status.DONE: "success",
        Status.WAITING: "warning",
        Status.FAILED: "error",
        Status.CRASHED: "error",
        Status.HELD: "warning",
        Status.RUNNING: "accent",
        Status.PAUSED: "warning",
    }.get(status, "muted")
