"""A question to a person as a table: what is asked, and what a yes or a no leads to. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.model import Value
from stores.runs import Approval
from tt_debug.conversation import plain
from tt_debug.redaction import Hidden
from tt_debug.session.answers import choices
from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.pieces import Line, Piece, cells, hanging, wrap
from tt_debug.tui.rows.values import value_line

ROWS: Final = 200
"""The most rows of a request; what is more is counted."""

LEVELS: Final = 4
"""How deep a request is taken apart; below, a value is one line."""


def request_lines(question: Approval, store: str, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """Who asks in which store, the request's leaves by name, the form of the answer, and what happens then."""
    lines: list[Line] = [
        (
            Piece(safe_text(question.node), "strong"),
            Piece(" asks for an answer in ", "muted"),
            Piece(safe_text(question.thread)),
            Piece(f" of {safe_text(store)}", "muted"),
        ),
        (),
    ]
    lines += _prompt(plain(question.prompt), width, glyphs)
    lines += [(), *_form(question, width)]
    lines += wrap((Piece(outcome(question), "muted"),), width)
    return lines


def outcome(question: Approval) -> str:
    """What a yes and a no lead to, in words."""
    node = safe_text(question.node)
    if question.kind == "question":
        return (
            f"{node} was running when its process died. “retry” runs it again, “skip” goes on behind it, “fail” and "
            "a rejection end the run. Nothing runs until the thread is resumed."
        )
    if question.kind == "unknown_effect":
        return (
            "“done” records that it was done, with its result; “retry” calls it again under its key, “new-key” under "
            f"another one; “skip” gives {node} null. Nothing runs until the thread is resumed."
        )
    if question.kind == "effect_conflict":
        return (
            f"“new” calls it under a key of its own, “reuse” gives {node} the result on record, “skip” null. "
            "Nothing runs until the thread is resumed."
        )
    return (
        f"If approved: the yes is recorded as {node}'s answer and the thread goes on behind it. "
        "If rejected: your reason is recorded as a no, and the thread goes on with that. "
        "Nothing runs until the thread is resumed."
    )


def _prompt(prompt: Value, width: int, glyphs: Glyphs) -> list[Line]:
    if isinstance(prompt, str):
        return wrap((Piece(safe_text(prompt[:20_000], newlines=True)),), width)
    leaves = list(_leaves((), prompt, 0))
    name_cells = min(max((cells((Piece(name),)) for name, _ in leaves[:ROWS]), default=0), max(width // 3, 8))
    lines: list[Line] = []
    for name, value in leaves[:ROWS]:
        shown = value_line(value, glyphs)
        if isinstance(value, Hidden):
            shown = (*shown, Piece(" hidden", "muted"))
        lines += _fact(name, shown, name_cells, width)
    if len(leaves) > ROWS:
        lines.append((Piece(f"{glyphs.ellipsis} {len(leaves) - ROWS:,} more", "muted"),))
    return lines


def _fact(name: str, shown: Line, name_cells: int, width: int) -> list[Line]:
    """The name once, the value wrapped beside it."""
    label = name + " " * max(name_cells - cells((Piece(name),)), 0) + "  "
    return hanging((Piece(label, "key"),), shown, width)


def _leaves(path: tuple[str, ...], value: Value, depth: int) -> list[tuple[str, Value]]:
    """(dotted name, value) of every leaf; at most a few more than are shown are made."""
    inner = plain(value)
    if depth < LEVELS and isinstance(inner, Mapping | list) and inner:
        found: list[tuple[str, Value]] = []
        pairs = inner.items() if isinstance(inner, Mapping) else ((f"[{at}]", each) for at, each in enumerate(inner))
        for key, each in pairs:
            found += _leaves((*path, safe_text(str(key)[:80])), each, depth + 1)
            if len(found) > ROWS * 2:
                break
        return found
    name = ".".join(path).replace(".[", "[") or "value"
    return [(name, value)]


def _form(question: Approval, width: int) -> list[Line]:
    """The answer's keys and what may stand there."""
    fields = choices(question.schema)
    if not fields:
        return []
    lines: list[Line] = [(Piece("The answer", "secondary"), Piece("  from its schema", "muted"))]
    names = [(Piece(f"  {safe_text(name)}", "key"),) for name, _ in fields]
    widest = min(max(map(cells, names)), max(width // 3, 8))
    for name, (_, kind) in zip(names, fields, strict=True):
        lead = (*name, Piece(" " * max(widest - cells(name), 0) + "  "))
        lines += hanging(lead, (Piece(safe_text(kind)),), width)
    return [*lines, ()]
