"""A diff as rows: what was added, removed and changed, message lists counted, unchanged keys in one row.

Owns grouping and row text; which changes there are is decided by whoever made the diff.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal

from stores.model import MISSING, Change, Diff, Path, Tagged, Value
from stores.paths import format_path
from tt_debug.conversation import as_message, plain
from tt_debug.diff_text import told_apart
from tt_debug.redaction import Hidden
from tt_debug.text import counted, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.message import flat
from tt_debug.tui.rows.pieces import VALUE_CELLS, Line, Piece, cells, cut, text_of, wrap
from tt_debug.tui.rows.values import class_name, value_line
from tt_debug.words import Piece as Words
from tt_debug.words import reads_as_one, word_diff

LIMIT: Final = 2000
"""Changes shown; the rest is one row."""
WORDS: Final = 24
"""Strings longer than this are compared word by word."""
LEAD: Final = 24
"""Unchanged cells kept before the first changed word of a long string."""
TEXT: Final = 20_000
"""Characters of a string that are compared word by word."""
TINY: Final = 1e-9

SIGNS: Final = {"add": "+", "remove": "-", "change": "~"}
INKS: Final = {"add": "added", "remove": "removed", "change": "changed", "move": "changed"}


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row. ``kind``: "change"; "list", what is said above the changes of one key or list; "rest", what is not
    listed; "more", what is listed when it is asked for.

    ``part`` is the line of an opened change, 0 for its first.
    """

    kind: Literal["change", "list", "rest", "more"]
    path: Path = ()
    change: Change | None = None
    text: str = ""
    line: Line = ()


def counts(diff: Diff) -> tuple[int, int, int]:
    """How many were added, changed (or moved) and removed."""
    added = sum(change.op == "add" for change in diff)
    removed = sum(change.op == "remove" for change in diff)
    return added, len(diff) - added - removed, removed


def counts_text(diff: Diff) -> str:
    """``+1 ~3 -0``"""
    added, changed, removed = counts(diff)
    return f"+{added} ~{changed} -{removed}"


def changed_keys(diff: Diff, old: Mapping[str, Value], new: Mapping[str, Value], limit: int = 6) -> str:
    """``~messages+1,usage``: the top-level keys a step touched; a list that only grew with how much."""
    keys: dict[str, None] = dict.fromkeys(str(change.path[0]) for change in diff if change.path)
    parts = []
    for key in list(keys)[:limit]:
        before, after = plain(old.get(key, MISSING)), plain(new.get(key, MISSING))
        grown = len(after) - len(before) if isinstance(before, list) and isinstance(after, list) else 0
        parts.append(safe_text(key[:40]) + (f"{grown:+d}" if grown else ""))
    return "~" + ",".join(parts) + (",…" if len(keys) > limit else "") if parts else ""


def is_tiny(change: Change) -> bool:
    """Two floats that differ by rounding only."""
    old, new = change.old, change.new
    if not (change.op == "change" and isinstance(old, float) and isinstance(new, float)):
        return False
    return math.isclose(old, new, rel_tol=TINY, abs_tol=0.0)


def diff_rows(
    diff: Diff,
    old: Mapping[str, Value],
    new: Mapping[str, Value],
    limit: int = LIMIT,
    rebuilt: Set[str] = frozenset(),
) -> list[DiffRow]:
    """The rows of a diff, in its order, between the states it lies between; at most ``limit`` changes.

    ``rebuilt`` are keys of which one side is put together from other rows: what is said of them may rest on that.
    """
    rows: list[DiffRow] = []
    told: set[Path] = set()
    shown = [change for change in diff if not is_tiny(change)]
    for change in shown[:limit]:
        lists = _message_lists(change.path, old, new)
        keys = [change.path[:1]] if change.path and change.path[0] in rebuilt else []
        for place in dict.fromkeys((*keys, *lists)):
            if place not in told:
                told.add(place)
                words = [_list_text(place, diff, old, new)] if place in lists else []
                rows.append(DiffRow("list", place, text="  ".join([*words, *["rebuilt"] * (place in keys)])))
        rows.append(DiffRow("change", change.path, change))
    if len(shown) > limit:
        rows.append(DiffRow("more", text=f"{len(shown) - limit:,} more changes"))
    if len(diff) > len(shown):
        rows.append(DiffRow("rest", text=f"{len(diff) - len(shown)} numbers differ by rounding only"))
    touched = {change.path[0] for change in diff if change.path}
    same = sum(key not in touched for key in new)
    if same:
        rows.append(DiffRow("rest", text=f"{counted(same, 'key')} unchanged"))
    return rows


def _message_lists(path: Path, old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterable[Path]:
    """The outermost list of messages that ``path`` lies in, if any."""
    for depth in range(1, len(path)):
        for state in (new, old):
            value = plain(_get(state, path[:depth]))
            if isinstance(value, list) and value and as_message(value[-1]) is not None:
                return (path[:depth],)
    return ()


def _get(state: Value, path: Path) -> Value:
    value: Value = state
    for step in path:
        value = plain(value)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def _list_text(path: Path, diff: Diff, old: Mapping[str, Value], new: Mapping[str, Value]) -> str:
    before, after = plain(_get(old, path)), plain(_get(new, path))
    had = len(before) if isinstance(before, list) else 0
    has = len(after) if isinstance(after, list) else 0
    depth = len(path)
    inside = [change for change in diff if change.path[:depth] == path and len(change.path) > depth]
    gone = {change.path[depth] for change in inside if change.op == "remove" and len(change.path) == depth + 1}
    touched = {change.path[depth] for change in inside if change.op != "remove" or len(change.path) > depth + 1}
    kept = max(0, min(had - len(gone), has - len(touched)))
    return f"{had} → {has}, {kept} unchanged" if had != has else f"{has}, {kept} unchanged"


def change_line(change: Change, glyphs: Glyphs = UNICODE) -> Line:
    """A change on one line, as long as it is: sign, path, what happened."""
    return (*change_lead(change, glyphs), Piece("  "), *change_body(change, glyphs))


def change_lead(change: Change, glyphs: Glyphs) -> tuple[Piece, Piece]:
    """The sign of what happened, and the path."""
    sign = glyphs.moved if change.op == "move" else SIGNS[change.op]
    return Piece(f"{sign} ", INKS[change.op]), Piece(flat(format_path(change.path), glyphs), "key")


def change_body(change: Change, glyphs: Glyphs) -> Line:
    """What happened."""
    if change.op == "move":
        source = flat(format_path(change.source or ()), glyphs)
        return (Piece("from ", "muted"), Piece(source, "key"), Piece("  "), *value_line(change.new, glyphs))
    if change.op == "add":
        return _inked(value_line(change.new, glyphs), "added")
    if change.op == "remove":
        return _inked(value_line(change.old, glyphs), "removed")
    return _changed(change, glyphs)


def _changed(change: Change, glyphs: Glyphs) -> Line:
    pieces = _as_one_text(change.old, change.new)
    if pieces:
        return tuple(_words(pieces, glyphs))
    kinds = kind_of(change.old), kind_of(change.new)
    types: Line = ()
    if kinds[0] != kinds[1]:
        types = (Piece(f"  {kinds[0]} {glyphs.arrow} {kinds[1]}", "muted"),)
    before, after = _both(change, glyphs)
    return (*before, Piece(f" {glyphs.arrow} ", "muted"), *after, *types)


def sides_of(change: Change, glyphs: Glyphs, lead: int) -> tuple[Line, Line]:
    """The old value and the new one of what was changed. Of a long text's unchanged beginning ``lead`` cells are kept;
    a value of another type says which."""
    pieces = _as_one_text(change.old, change.new)
    if pieces:
        gone, come = ([piece for piece in pieces if piece[0] != op] for op in ("add", "remove"))
        return tuple(_words(gone, glyphs, lead)), tuple(_words(come, glyphs, lead))
    before, after = _both(change, glyphs)
    kinds = kind_of(change.old), kind_of(change.new)
    if kinds[0] != kinds[1]:
        before, after = (*before, Piece(f"  {kinds[0]}", "muted")), (*after, Piece(f"  {kinds[1]}", "muted"))
    return before, after


def sides_in_full(change: Change, glyphs: Glyphs = UNICODE) -> tuple[Line, Line]:
    """The whole texts of the old value and of the new one, with their lines; () of one that is no text."""
    old, new = _text_of(change.old), _text_of(change.new)
    pieces = word_diff(old[:TEXT], new[:TEXT])
    gone, come = ([piece for piece in pieces if piece[0] != op] for op in ("add", "remove"))
    return _in_lines(gone, glyphs), _in_lines(come, glyphs)


def _as_one_text(old: Value, new: Value) -> list[Words]:
    """The words of two long texts that have enough in common to be read as one; none for other values."""
    if not (isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > WORDS):
        return []
    pieces = word_diff(old[:TEXT], new[:TEXT])
    return pieces if reads_as_one(pieces) else []


def _both(change: Change, glyphs: Glyphs) -> tuple[Line, Line]:
    """The old value and the new one, told apart where they would read alike."""
    old, new = change.old, change.new
    before, after = _inked(value_line(old, glyphs), "removed"), _inked(value_line(new, glyphs), "added")
    if text_of(before) == text_of(after) and not isinstance(new, Hidden):
        texts = told_apart(old, new)
        return (Piece(texts[0], "removed"),), (Piece(texts[1], "added"),)
    return before, after


def kind_of(value: Value) -> str:
    """The word for a value's type, as JSON and Python people use it."""
    if value is None:
        return "null"
    if isinstance(value, Tagged):
        return class_name(value)
    words = {"dict": "object", "Opaque": "bytes", "Partial": "partly known", "Hidden": "secret"}
    return words.get(type(value).__name__, type(value).__name__)


def _inked(line: Line, ink: str) -> Line:
    """Values in the colour of what happened to them; role words and sizes keep their own."""
    own = {"human", "ai", "tool", "system", "muted", "warning"}
    return tuple(piece if piece.ink in own else Piece(piece.text, ink) for piece in line)


def _words(pieces: Sequence[Words], glyphs: Glyphs, lead: int | None = LEAD) -> Iterable[Piece]:
    """The two texts as one, with removed and added words; ``lead`` cells of the unchanged beginning, None for all."""
    for number, (op, text) in enumerate(pieces):
        shown = flat(text, glyphs)
        if op == "equal":
            if number == 0 and lead is not None and cells((Piece(shown),)) > lead + 2:
                shown = glyphs.ellipsis + shown[-lead:]
            yield Piece(shown)
        elif glyphs.ascii:
            yield Piece(
                f"[-{shown}-]" if op == "remove" else f"{{+{shown}+}}", "removed" if op == "remove" else "added"
            )
        else:
            yield Piece(shown, "removed-word" if op == "remove" else "added-word")


def opened_lines(change: Change, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """A change in full, wrapped: whole texts instead of their beginnings."""
    indent = Piece("    ")
    old, new = _text_of(change.old), _text_of(change.new)
    body: list[Piece] = []
    if old and new:
        body = list(_in_lines(word_diff(old[:TEXT], new[:TEXT]), glyphs))
    elif old or new:
        body = [Piece(safe_text((old or new)[:TEXT], newlines=True), "removed" if old else "added")]
    first = cut(change_line(change, glyphs), width, glyphs.ellipsis)
    if not body:
        return [first]
    return [first, *((indent, *line) for line in wrap(body, width - 4))]


def _in_lines(pieces: Sequence[Words], glyphs: Glyphs) -> Line:
    """All of the words, newlines broken."""
    words = _words(pieces, glyphs, None)
    return tuple(Piece(piece.text.replace(glyphs.newline, "\n"), piece.ink) for piece in words)


def _text_of(value: Value) -> str:
    if isinstance(value, str):
        return value
    message = as_message(value)
    return message.text if message is not None else ""


def diff_line(row: DiffRow, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """One row in at most ``width`` cells."""
    if row.line:
        return cut(row.line, width, glyphs.ellipsis)
    if row.change is not None:
        return cut(change_line(row.change, glyphs), width, glyphs.ellipsis)
    if row.kind == "list":
        path = flat(format_path(row.path), glyphs)
        pieces = (Piece(f"{glyphs.same} ", "muted"), Piece(path, "key"), Piece(f"  {row.text}", "muted"))
        return cut(pieces, width, glyphs.ellipsis)
    more = f"  {glyphs.enter} goes on" if row.kind == "more" else ""
    return cut((Piece(f"{glyphs.ellipsis} {row.text}", "muted"), Piece(more, "accent")), width, glyphs.ellipsis)


def with_opened(rows: Iterable[DiffRow], opened: Set[Path], width: int, glyphs: Glyphs = UNICODE) -> list[DiffRow]:
    """The rows with those of ``opened`` written out in full below themselves."""
    shown: list[DiffRow] = []
    for row in rows:
        if row.change is None or row.path not in opened:
            shown.append(row)
            continue
        shown.extend(
            DiffRow("change", row.path, row.change, line=line) for line in opened_lines(row.change, width, glyphs)
        )
    return shown


__all__ = ["VALUE_CELLS", "DiffRow", "changed_keys", "counts", "counts_text", "diff_line", "diff_rows", "with_opened"]
