"""Answers of questions asked of the whole history, a line each: writes of a value, hits of a condition or a text.

Pure. What is secret comes in hidden already, or is said to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from stores.model import MISSING, Change, Path, Value
from stores.paths import format_path
from tt_debug.blame import Stop
from tt_debug.equality import strict_equal
from tt_debug.finding import Hit
from tt_debug.redaction import Redaction
from tt_debug.searching import Found
from tt_debug.session.turns import HumanTurn
from tt_debug.text import counted, names_text, safe_text
from tt_debug.tui.glyphs import Glyphs
from tt_debug.tui.rows.diff import change_line
from tt_debug.tui.rows.pieces import Line, Piece, pad
from tt_debug.tui.rows.values import one_liner, value_line

_SIGNS: Final = {"add": "+", "change": "~", "remove": "-", "unknown": "?"}
WHO: Final = 16
"""Cells for the node that wrote a checkpoint."""
KEYS: Final = 200
"""Keys of two objects that are compared for one row."""
_INKS: Final = {"add": "added", "change": "changed", "remove": "removed", "unknown": "warning"}


def answer_line(
    answer: Stop | Hit | Found | HumanTurn, hiding: Redaction, glyphs: Glyphs, *, named: bool, secret: bool = False
) -> Line:
    """One answer. ``named``: the thread is said too, because there may be several. ``secret``: what was asked is."""
    thread = (Piece(f"{safe_text(answer.ref.thread)}  ", "muted"),) if named else ()
    who = names_text(answer.nodes) or (safe_text(answer.source) if isinstance(answer, Stop) else "")
    sign = (Piece(f"{_SIGNS[answer.op]} ", _INKS[answer.op]),) if isinstance(answer, Stop) else ()
    lead = (_step(answer.step), *thread, *sign, *pad((Piece(who, "strong"),), WHO, glyphs.ellipsis), Piece("  "))
    if isinstance(answer, Stop):
        return (*lead, *_stop(answer, hiding, glyphs))
    if isinstance(answer, Hit):
        return (*lead, *value_line(hiding.hide(answer.value, secret=secret), glyphs))
    if isinstance(answer, HumanTurn):
        return (*lead, *_turn(answer, glyphs))
    return (*lead, *_found(answer, hiding, glyphs))


def _step(step: int | None) -> Piece:
    return Piece(f"{'?' if step is None else step:>6}  ", "muted")


def _stop(stop: Stop, hiding: Redaction, glyphs: Glyphs) -> Line:
    if stop.op == "unknown":
        more = f", with {counted(stop.more, 'older checkpoint')}" if stop.more else ""
        why = f"cannot be read{more}; it may have changed here: {safe_text(stop.problem or '')}"
        return (Piece(why, "warning"),)
    secret = any(hiding.names(step) for step in stop.path)
    old, new = (
        () if value is MISSING else value_line(hiding.hide(value, secret=secret), glyphs)
        for value in (stop.old, stop.new)
    )
    if stop.op == "change":
        inside = () if secret else _inside(hiding.hide(stop.old), hiding.hide(stop.new), glyphs)
        return inside or (*old, Piece(f" {glyphs.arrow} ", "muted"), *new)
    return (Piece("was ", "muted"), *old) if stop.op == "remove" else new


def _inside(old: Value, new: Value, glyphs: Glyphs) -> Line:
    """Of two objects what became another within, for their keys alone would look the same; empty for other values."""
    path: Path = ()
    more = 0
    while isinstance(old, Mapping) and isinstance(new, Mapping) and len(old) + len(new) <= KEYS:
        keys = [key for key in {**old, **new} if not strict_equal(old.get(key, MISSING), new.get(key, MISSING))]
        if not keys:
            break
        path, more = (*path, keys[0]), more + len(keys) - 1
        old, new = old.get(keys[0], MISSING), new.get(keys[0], MISSING)
    if not path:
        return ()
    op: Literal["add", "remove", "change"] = "add" if old is MISSING else "remove" if new is MISSING else "change"
    rest = (Piece(f"  and {more:,} more", "muted"),) if more else ()
    return (*change_line(Change(op, path, old, new), glyphs), *rest)


def _turn(turn: HumanTurn, glyphs: Glyphs) -> Line:
    more = f"  came in with {turn.answers} more" if turn.answers else ""
    more += f"  may have come in earlier: {safe_text(turn.unsure)}" if turn.unsure else ""
    return (Piece(one_liner(turn.text, glyphs), "human"), Piece(more, "warning"))


def _found(found: Found, hiding: Redaction, glyphs: Glyphs) -> Line:
    path = safe_text(format_path(found.path))
    where = path if found.part == "state" else f"{found.part} {path}".rstrip()
    tells = any(hiding.names(step) for step in found.path) or hiding.hide(found.whole) is not found.whole
    if not found.is_key and tells:
        return (Piece(f"{where}  ", "key"), Piece(glyphs.secret, "muted"))
    return (Piece(f"{where}  ", "key"), Piece(one_liner(found.excerpt, glyphs), "string"))


def origin_words(paths: tuple[Path, ...]) -> str:
    """Where a value may have been copied from, in a sentence; empty for nowhere."""
    return f"the same stood before at {', '.join(format_path(path) for path in paths)}" if paths else ""
