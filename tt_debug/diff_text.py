"""Plain text of diffs: a change a line, for the command line, the clipboard and golden files.

Owns the wording of changes; how a value reads is `tt_debug.text`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from stores.blobs import Blob
from stores.model import MISSING, Change, Diff, Opaque, Path, Tagged, Value
from stores.paths import format_path, get_path, unwrap
from tt_debug.redaction import Hidden
from tt_debug.text import LONGEST, clip, message_line, one_line, safe_text, shown_class
from tt_debug.words import Piece, reads_as_one, word_diff

LONG_TEXT: Final = 24
"""Characters from which on two texts are compared word by word."""
CONTEXT: Final = 24
"""Characters of unchanged text kept beside a change in a long one."""


def format_diff(diff: Diff, old: Value = MISSING, new: Value = MISSING) -> list[str]:
    """A change a line: ``+ - ~ ↷``, the path, what happened; long texts by words as ``[-old-]{+new+}``.

    With the two states it lies between, lists of messages are counted before their first change, and keys that did
    not change at the end.
    """
    lines: list[str] = []
    counted: set[Path] = set()
    for change in diff:
        place = _message_list(change.path, new if change.op != "remove" else old)
        if place is not None and place not in counted:
            counted.add(place)
            lines.append(_count_line(place, diff, old, new))
        lines.append(_change_line(change))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        touched = {change.path[0] for change in diff if change.path}
        same = sum(key not in touched for key in new)
        lines += [f"⋯ {same} key{'s' * (same != 1)} unchanged"] if same else []
    return lines


def _message_list(path: Path, state: Value) -> Path | None:
    """The list of messages that ``path`` leads into, if it does."""
    for depth in range(len(path)):
        try:
            value = unwrap(get_path(state, path[:depth]))
        except LookupError:
            return None
        if isinstance(value, list) and value and message_line(value[-1]) is not None:
            return path[:depth]
    return None


def _count_line(path: Path, diff: Diff, old: Value, new: Value) -> str:
    """What became of a list of messages as a whole."""
    depth = len(path)
    inside = [change for change in diff if change.path[:depth] == path and len(change.path) > depth]
    gone = sum(change.op == "remove" and len(change.path) == depth + 1 for change in inside)
    touched = {change.path[depth] for change in inside if change.op != "add" and len(change.path) > depth + 1}
    touched |= {
        change.path[depth] for change in inside if change.op in ("change", "move") and len(change.path) == depth + 1
    }
    before, after = (_length(state, path) for state in (old, new))
    kept = max(0, before - gone - len(touched))
    amount = f"{before} → {after}" if before != after else f"{after}"
    return f"≡ {safe_text(format_path(path))}  {amount}, {kept} unchanged"


def _length(state: Value, path: Path) -> int:
    try:
        value = unwrap(get_path(state, path))
    except LookupError:
        return 0
    return len(value) if isinstance(value, list) else 0


def _change_line(change: Change) -> str:
    path = safe_text(format_path(change.path)) or "(the whole)"
    if change.op == "move":
        return f"↷ {path}  from {safe_text(format_path(change.source or ()))}  {one_line(change.new)}"
    if change.op == "add":
        return f"+ {path}  {one_line(change.new)}"
    if change.op == "remove":
        return f"- {path}  {one_line(change.old)}"
    old, new = change.old, change.new
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > LONG_TEXT:
        pieces = word_diff(old, new)
        if reads_as_one(pieces):
            return f"~ {path}  {_worded(pieces)}"
    kinds = _kind(old), _kind(new)
    types = f"  {kinds[0]} → {kinds[1]}" if kinds[0] != kinds[1] else ""
    before, after = one_line(old), one_line(new)
    if before == after:
        before, after = told_apart(old, new)
    return f"~ {path}  {before} → {after}{types}"


def told_apart(old: Value, new: Value) -> tuple[str, str]:
    """Two values that read alike on a line, by what tells them apart: a digest, or where their texts part."""
    if isinstance(old, Hidden) or isinstance(new, Hidden):
        return one_line(old), one_line(new)
    sides = unwrap(old), unwrap(new)
    if isinstance(sides[0], str) and isinstance(sides[1], str):
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*sides, strict=False)))
        start = max(0, alike - CONTEXT)
        before, after = (f"…{one_line(side[start:])}" for side in sides)
        return before, after
    before, after = (_digest(side) for side in sides)
    return before, after


def _digest(value: Value) -> str:
    if isinstance(value, Opaque) and not isinstance(value, Blob):
        return f"{one_line(value)[:-1]} sha256 {value.digest[:8]}>"
    if isinstance(value, bytes):
        return f"{one_line(value)[:-1]} sha256 {hashlib.sha256(value).hexdigest()[:8]}>"
    return one_line(value)


def _worded(pieces: Sequence[Piece]) -> str:
    """A long text with its changed words marked, and only a little of what stands between them."""
    shown: list[str] = []
    for at, (op, text) in enumerate(pieces):
        if op == "remove":
            shown.append(f"[-{safe_text(clip(text, LONGEST))}-]")
        elif op == "add":
            shown.append(f"{{+{safe_text(clip(text, LONGEST))}+}}")
        elif len(text) <= 2 * CONTEXT + 1:
            shown.append(safe_text(text))
        else:
            head = text[:CONTEXT] if at else ""
            tail = text[-CONTEXT:] if at < len(pieces) - 1 else ""
            shown.append(f"{safe_text(head)}…{safe_text(tail)}")
    return "".join(shown)


def _kind(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, Tagged):
        return shown_class(value.type_name)
    words = {"dict": "object", "Opaque": "undecoded bytes", "Partial": "partly known", "Hidden": "hidden"}
    return words.get(type(value).__name__, type(value).__name__)
