"""Figures about a history as lines: nodes with their times, keys with their bytes, what could be freed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stores.model import Status
from tt_debug.cells import human_duration, human_size, safe_text
from tt_debug.pruning import Why
from tt_debug.text import counted
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.measuring import Figures, KeyRow, NodeRow, Room
from tt_debug.tui.rows.pieces import Line, Piece, cells, cut, hanging, pad, wrap
from tt_debug.tui.rows.watches import bars

SORTS: Final = ("total time", "p95", "errors", "name")
_NAME: Final = 22
_BARS: Final = {True: 18, False: 10}  # cells, where there is room, and where there is little
_ROOMY: Final = 84


def sorted_nodes(nodes: Sequence[NodeRow], by: str) -> list[NodeRow]:
    """In one of the orders `SORTS`."""
    keys = {
        "p95": lambda row: (-(row.p95 or 0.0), row.node),
        "errors": lambda row: (-row.errors, -row.total, row.node),
        "name": lambda row: (row.node,),
    }
    return sorted(nodes, key=keys.get(by, lambda row: (-row.total, -row.waited, row.node)))


def node_heading(width: int) -> Line:
    """Above `node_line`."""
    text = f"{'node':<{_name(width)}} {'runs':>6} {'err':>5} {'p50':>7} {'p95':>7} {'total':>8}  share"
    return cut((Piece(text, "muted"),), width)


def node_line(row: NodeRow, total: float, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """A node; of what a person was asked in, how long that waited."""
    name = pad((Piece(safe_text(row.node), "key"),), _name(width), glyphs.ellipsis)
    counts = (
        Piece(f" {row.runs + row.waits:>6,}"),
        Piece(f" {row.errors:>5,}", "error" if row.errors else "muted"),
    )
    if not row.runs:
        waited = f"  waited {human_duration(row.waited)} for a person: no run time" if row.waits else ""
        return cut((*name, *counts, Piece(waited, "warning")), width, glyphs.ellipsis)
    share = row.total / total if total else 0.0
    return cut(
        (
            *name,
            *counts,
            Piece(f" {_took(row.p50):>7} {_took(row.p95):>7} {human_duration(row.total):>8}  "),
            *_bar(share, width, glyphs),
            Piece(f" {share:>4.0%}"),
            Piece(f"  waited {human_duration(row.waited)}" if row.waits else "", "warning"),
        ),
        width,
        glyphs.ellipsis,
    )


def key_line(row: KeyRow, largest: int, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """A key, its bytes in all checkpoints, and how they came about."""
    again = row.repeated / row.total if row.total else 0.0
    if row.rewritten:
        words = "rewritten every step"
    elif row.growth is not None and abs(row.growth) >= 1:
        words = f"{'grows' if row.growth > 0 else 'shrinks'} {_signed(row.growth)} a step"
    else:
        words = ""
    return cut(
        (
            *pad((Piece(safe_text(row.key), "key"),), _name(width), glyphs.ellipsis),
            Piece(f" {human_size(row.total):>6}  ", "number"),
            *_bar(row.total / largest if largest else 0.0, width, glyphs),
            Piece(f" {again:>4.0%} repeated" if again >= 0.005 else " " * 14, "muted"),
            Piece(f"  {words}", "muted"),
        ),
        width,
        glyphs.ellipsis,
    )


def room_lines(room: Room | None, command: str, width: int) -> list[Line]:
    """What must stay and why, said first, and what could be freed; nothing here frees it."""
    if room is None:
        return []
    stays = f"{room.checkpoints - room.freed:,} of {counted(room.checkpoints, 'checkpoint')} must stay. "
    lead = f"{stays}The other {room.freed:,} could be freed, "
    size = f"{human_size(room.free)} of {human_size(room.total)}{'' if room.exact else ' as JSON'}"
    if not room.total:
        size = "of how many bytes this store does not tell"
    freed = (Piece(lead), Piece(size, "accent"), Piece(". ")) if room.freed else (Piece(stays),)
    lines = wrap((*freed, Piece("Nothing is deleted here.", "muted")), width)
    for why in Why:
        if why in room.reasons:
            count, _ = room.reasons[why]
            lines += hanging((Piece(f"{count:>7,} stay  ", "muted"),), (Piece(why.words),), width)
    return [*lines, *wrap((Piece(safe_text(command), "muted"),), width)]


def thread_figures(figures: Figures, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """How threads stand: "42 ✓ done  3 × failed", and where there is little room without the words."""
    counts = [(status, figures.statuses[status]) for status in Status.ALL if figures.statuses.get(status)]
    signs = [(status, f"{count:,} {status_glyph(status, glyphs)}") for status, count in counts]
    with_words = tuple(Piece(f"{sign} {status}  ", status_ink(status)) for status, sign in signs)
    if cells(with_words) <= width:
        return with_words or (Piece("none", "muted"),)
    return tuple(Piece(f"{sign}  ", status_ink(status)) for status, sign in signs)


def step_figures(figures: Figures) -> Line:
    """The median step and near the worst."""
    if figures.p50 is None:
        return (Piece("no times are known", "muted"),)
    errors = (Piece(f"  {counted(figures.errors, 'error')}", "error"),) if figures.errors else ()
    return (Piece(f"{_took(figures.p50)} / {_took(figures.p95)}"), *errors)


def cost_figures(figures: Figures, currency: str) -> Line:
    """What is known of cost, and the tokens."""
    if not figures.calls:
        return (Piece("no usage in messages" if figures.ended else "", "muted"),)
    tokens = f"{human_size(figures.tokens)} tok"
    if figures.cost is None:
        return (Piece(f"{tokens}  "), Piece("cost unknown", "warning"))
    more = (Piece(f"  + {human_size(figures.unpriced)} tok unpriced", "warning"),) if figures.unpriced else ()
    return (Piece(f"{currency}{figures.cost:,.2f}", "accent"), Piece(f"  {tokens}"), *more)


def bar_line(values: Sequence[float], width: int, glyphs: Glyphs = UNICODE) -> Line:
    """A course over the time."""
    return (Piece(bars(values, width, glyphs), "primary"),) if values and width > 0 else ()


def _bar(share: float, width: int, glyphs: Glyphs) -> Line:
    room = _BARS[width >= _ROOMY]
    full = round(room * max(0.0, min(1.0, share)))
    solid, empty = ("#", ".") if glyphs.ascii else ("▓", "░")
    return (Piece(solid * full, "primary"), Piece(empty * (room - full), "muted"))


def _name(width: int) -> int:
    return max(10, min(_NAME, width - 58))


def _took(seconds: float | None) -> str:
    return "" if seconds is None else human_duration(seconds)


def _signed(size: float) -> str:
    return f"{'+' if size >= 0 else '-'}{human_size(round(abs(size)))}"
