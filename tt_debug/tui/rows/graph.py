"""How a row of the checkpoint graph looks in a given width.

Owns lanes, glyphs and what stands in each column; which rows there are is `tt_debug.tui.rows.graph_items`'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from rich.cells import cell_len

from stores.model import Header, Ref, Status
from tt_debug.text import counted, human_age, human_size, names_text, safe_text
from tt_debug.timing import step_seconds
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.graph_columns import HEAD, SPARE, Columns
from tt_debug.tui.rows.graph_items import GraphItem
from tt_debug.tui.rows.pieces import Line, Piece, cells, cut, pad, spread
from tt_debug.tui.rows.times import delta_text

EDITS: Final = frozenset({"edit", "fork", "update"})
NEXT: Final = 12
"""Cells that the nodes of a step that has not run have at least."""
BADGES: Final = {"input": "I", "update": "U", "edit": "U", "fork": "F"}


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What a row shows beside its own header. ``changed`` and ``notes`` fill as states are looked at.

    ``live`` is what runs after ``head`` just now. ``stops`` are the nodes that a breakpoint stands at, "*" all of them.
    ``names`` are bookmarks. ``watched`` has a column of its own, ``values`` are what is known of it.
    """

    headers: Mapping[Ref, Header]
    head: Ref | None = None
    changed: Mapping[Ref, str] = field(default_factory=dict)
    notes: Mapping[Ref, str] = field(default_factory=dict)
    now: datetime | None = None
    live: str = ""
    stops: frozenset[str] = frozenset()
    names: Mapping[Ref, str] = field(default_factory=dict)
    watched: str = ""
    values: Mapping[Ref, Line] = field(default_factory=dict)
    glyphs: Glyphs = UNICODE


def graph_line(item: GraphItem, columns: Columns, facts: GraphFacts) -> Line:
    """One row in at most ``columns.width`` cells."""
    header = facts.headers[item.ref]
    lanes = _lanes(item, header, columns.lanes, facts)
    room = columns.width - cells(lanes)
    if item.kind == "checkpoint":
        return (*lanes, *_checkpoint(item, header, columns, facts))
    if item.kind == "next":
        return (*lanes, *_next(header, columns, room, facts))
    return (*lanes, *_branch(item, header, room, facts))


def _lanes(item: GraphItem, header: Header, width: int, facts: GraphFacts) -> Line:
    """The lines of other branches, then this row's own glyph, in exactly ``width`` cells or more."""
    glyphs = facts.glyphs
    branching = item.kind in ("fold", "more", "open")
    pieces: list[Piece] = []
    deepest = max(0, width // 2 - 1)
    own = min(item.lane, deepest)
    for lane in range(own):
        ink = f"lane-{item.inks[lane]}"
        if branching and lane == own - 1:
            pieces.append(Piece(glyphs.branch[0], ink))
            pieces.append(Piece(glyphs.horizontal, f"lane-{item.inks[item.lane]}"))
        else:
            pieces.append(Piece(f"{glyphs.line} " if lane in item.lanes else "  ", ink))
    sign, ink = _sign(item, header, facts)
    pieces.append(Piece(f"{sign} ", ink or f"lane-{item.inks[item.lane]}"))
    missing = width - cells(pieces)
    if missing > 0 and not branching:
        pieces.append(Piece(" " * missing))
    return tuple(pieces)


def _sign(item: GraphItem, header: Header, facts: GraphFacts) -> tuple[str, str]:
    """The glyph of a row, and its ink where that is not the lane's."""
    glyphs = facts.glyphs
    if item.kind in ("fold", "more"):
        return glyphs.stub, ""
    if item.kind == "open":
        return glyphs.branch_open[-1], ""
    if item.kind == "next":
        if _is_live(item.ref, facts):
            return glyphs.running, "accent"
        sign = glyphs.end if item.status == Status.CANCELLED else status_glyph(item.status, glyphs)
        return sign, status_ink(item.status)
    if header.problem:
        return glyphs.problem, "warning"
    if header.source in EDITS or _copied(header):
        return glyphs.edited, ""
    if header.read and not header.next and header.status == Status.DONE:
        return glyphs.end, ""
    return glyphs.step, ""


def _copied(header: Header) -> bool:
    """Whether this is a fork that the store made by copying its base, and nothing has happened on it."""
    parent = header.parent
    return parent is not None and parent.id == header.ref.id and parent.thread != header.ref.thread


def _checkpoint(item: GraphItem, header: Header, columns: Columns, facts: GraphFacts) -> Line:
    nothing = "·" if header.read else facts.glyphs.ellipsis
    step = nothing if header.step is None else str(header.step)
    lead = Piece(step.rjust(columns.step) + " ", "muted")
    if header.problem:
        return (lead, *_problem(header, columns, facts), *_measures(header, columns, facts))
    node = _node(header, columns, facts)
    over = max(0, cells(node) - columns.node)
    pieces = [lead, *pad(node, columns.node + over, facts.glyphs.ellipsis)]
    if columns.badge:
        known = "F" if _copied(header) else BADGES.get(header.source)
        badge = known or (facts.glyphs.failed if header.status == Status.FAILED else " ")
        taken = min(over, SPARE) if badge == " " else 0
        over -= taken
        pieces.append(Piece(f" {badge} "[taken:], "error" if badge == facts.glyphs.failed else "warning"))
    if columns.value:
        unknown: Line = (Piece(facts.glyphs.ellipsis, "muted"),)
        value = cut(facts.values.get(header.ref, unknown), columns.value - 1, facts.glyphs.ellipsis)
        pieces += pad(value, columns.value, facts.glyphs.ellipsis)
    if columns.changed:
        thread = (Piece(safe_text(item.title), f"lane-{item.inks[0]}"), Piece("  ")) if item.title else ()
        name = facts.names.get(header.ref)
        mark = (Piece(safe_text(name), "accent"), Piece("  ")) if name else ()
        changed = (*mark, *thread, Piece(facts.changed.get(header.ref, ""), "muted"))
        pieces += pad(changed, columns.changed - over, facts.glyphs.ellipsis)
    return (*pieces, *_measures(header, columns, facts))


def _problem(header: Header, columns: Columns, facts: GraphFacts) -> Line:
    """What is wrong with a row, in the place of its node, badge and changed keys."""
    width = columns.node + columns.badge + columns.value + columns.changed
    name = names_text(header.nodes)
    head = (Piece(_head_sign(facts) + "  ", "accent"),) if header.ref == facts.head else ()
    line = (Piece(f"{name}  " if name else ""), *head, Piece(safe_text(header.problem or ""), "warning"))
    return pad(cut(line, width, facts.glyphs.ellipsis), width)


def _measures(header: Header, columns: Columns, facts: GraphFacts) -> Line:
    """How long a step took and how large its state is."""
    pieces: list[Piece] = []
    if columns.delta:
        seconds = step_seconds(header, facts.headers)
        shown = "" if seconds is None else delta_text(seconds)
        pieces.append(Piece(shown.rjust(columns.delta), "strong" if shown[-1:] in ("m", "h", "d") else "muted"))
    if columns.size:
        known = "" if header.size is None else human_size(header.size)
        size = known if header.read else facts.glyphs.ellipsis
        pieces.append(Piece(size.rjust(columns.size), "muted"))
    return tuple(pieces)


def _node(header: Header, columns: Columns, facts: GraphFacts) -> Line:
    """The nodes' names, cut to their column; the word at the head may take some of the next one."""
    width = columns.node
    name = names_text(header.nodes) or ("input" if header.source == "input" else safe_text(header.source))
    name = name if header.read else facts.glyphs.ellipsis
    ink = "strong" if header.source in BADGES else "plain"
    line: Line = (*_stop(header.nodes, facts), Piece(name, ink))
    if header.ref == facts.head and cell_len(name) + HEAD <= width + max(0, columns.changed - HEAD):
        width = max(width, cell_len(name) + HEAD)
        line = (*line, Piece(f" {_head_sign(facts)}", "accent"))
    if header.ref.ns:
        line = (Piece(f"{facts.glyphs.subgraph} ", "muted"), *line)
    return cut(line, width, facts.glyphs.ellipsis)


def _stop(nodes: tuple[str, ...], facts: GraphFacts) -> Line:
    """The sign of a breakpoint at one of these nodes."""
    met = facts.stops and nodes and ("*" in facts.stops or not facts.stops.isdisjoint(nodes))
    return (Piece(f"{facts.glyphs.breakpoint} ", "error"),) if met else ()


def _head_sign(facts: GraphFacts) -> str:
    return "<head" if facts.glyphs.ascii else "‹head"


def _is_live(ref: Ref, facts: GraphFacts) -> bool:
    return bool(facts.live) and ref == facts.head


def _next(header: Header, columns: Columns, room: int, facts: GraphFacts) -> Line:
    """What stands after a tip: the nodes that would run, as far as there is room, and why they have not."""
    ellipsis = facts.glyphs.ellipsis
    step = "" if header.step is None else str(header.step + 1)
    lead = Piece(step.rjust(columns.step) + " ", "muted")
    if _is_live(header.ref, facts):
        return cut((lead, Piece(safe_text(facts.live), "accent")), room, ellipsis)
    word = {
        Status.WAITING: "waiting for an answer",
        Status.FAILED: "failed",
        Status.UNFINISHED: "not run yet",
        Status.PENDING: "about to run",
    }.get(header.status, header.status)
    why = Piece(safe_text(facts.notes.get(header.ref, "") or word), status_ink(header.status))
    nodes = (lead, *_stop(header.next, facts), Piece(names_text(header.next), "strong"))
    least = columns.step + 1 + NEXT
    kept = cut(nodes, max(least, room - 2 - min(cells((why,)), len(word))), ellipsis)
    return cut((*kept, Piece("  "), why), room, ellipsis)


def _branch(item: GraphItem, header: Header, width: int, facts: GraphFacts) -> Line:
    """The row of a folded branch, of several, or the name above an open one."""
    glyphs = facts.glyphs
    if item.kind == "more":
        text = f"{glyphs.folded} {item.branches} {item.title}, {item.hidden} steps{glyphs.ellipsis}"
        return cut((Piece(text, "muted"),), width, glyphs.ellipsis)
    fold = glyphs.opened if item.kind == "open" else glyphs.folded
    title = safe_text(item.title) or "branch"
    pieces = [Piece(f"{fold} ", "muted"), Piece(title, "strong" if item.kind == "open" else "plain")]
    if item.call:
        # How long a subgraph's history is tells what it is; that it is done, its caller's next row.
        pieces.append(Piece(f" {glyphs.subgraph}" + (f" {item.hidden}" if item.kind == "fold" else ""), "muted"))
    pieces.append(Piece("  "))
    if item.status:
        sign = status_glyph(item.status, glyphs)
        pieces.append(Piece(f"{sign} {safe_text(item.status)}", status_ink(item.status)))
    if item.kind == "fold" and not item.call:
        steps = f"  {counted(item.hidden, 'step')}"
        forks = f" {glyphs.dot} {item.branches} branches" if item.branches > 1 else ""
        pieces.append(Piece(steps + forks, "muted"))
    if facts.now is None or header.created is None:
        return cut(pieces, width, glyphs.ellipsis)
    age = (Piece(f"{human_age(header.created, facts.now)} ago", "muted"),)
    return spread(pieces, age, width, glyphs.ellipsis)
