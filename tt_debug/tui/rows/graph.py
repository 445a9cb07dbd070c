"""The rows of the checkpoint graph: which rows there are, and how one looks in a given width.

Owns lanes, glyphs and what stands in each column; the order of rows is the layout's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from rich.cells import cell_len

from stores.model import Header, Ref, Status
from tt_debug.session.thread_view import GraphRow, call_name
from tt_debug.text import counted, human_age, human_size, safe_text
from tt_debug.timing import step_seconds
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.graph_columns import Columns
from tt_debug.tui.rows.pieces import Line, Piece, cells, cut, pad, spread
from tt_debug.tui.rows.times import delta_text
from tt_debug.tui.theme import LANES

STUBS: Final = 8
"""More folded forks than this at one point become one row."""
EDITS: Final = frozenset({"edit", "fork", "update"})
BADGES: Final = {"input": "I", "update": "U", "edit": "U", "fork": "F"}


@dataclass(frozen=True, slots=True)
class GraphItem:
    """One row. ``kind``: "checkpoint"; "fold", a branch in one row; "more", several of them; "open", the name of an
    open branch; "next", what has not been run after a tip. ``inks`` are the colours of lanes 0 to ``lane``.
    ``call`` marks a branch that is a call of a subgraph.
    """

    kind: Literal["checkpoint", "fold", "more", "open", "next"]
    ref: Ref
    lane: int
    lanes: tuple[int, ...] = ()
    inks: tuple[int, ...] = (0,)
    hidden: int = 0
    branches: int = 0
    title: str = ""
    status: str = ""
    call: bool = False


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


def graph_items(
    rows: Iterable[GraphRow],
    headers: Mapping[Ref, Header],
    trunk: str = "",
    listed: Set[tuple[Ref, int]] = frozenset(),
) -> list[GraphItem]:
    """The rows to show: the layout's own, a name above each open branch, and after each tip what would run next.

    ``trunk`` is the thread of the current line. ``listed`` are the runs of stubs, by their first (ref, lane), that
    are to be shown one by one.
    """
    items: list[GraphItem] = []
    tips = _tips(headers)
    newest = {ref.thread: header for ref, header in headers.items() if not ref.ns}
    waiting: dict[int, GraphItem] = {}
    colours: dict[int, int] = {0: 0}
    forks = 0
    for row in rows:
        items.extend(waiting.pop(lane) for lane in sorted(waiting, reverse=True) if lane >= row.lane)
        if row.lane and (row.opens or row.kind == "fold"):
            forks += 1
            colours[row.lane] = forks
        inks = tuple(colours.get(lane, 0) % LANES for lane in range(row.lane + 1))
        title = row.title
        if row.kind == "fold":
            counted = (row.hidden, row.branches, title, row.status, row.call)
            items.append(GraphItem("fold", row.ref, row.lane, row.lanes, inks, *counted))
            continue
        if row.opens and row.lane:
            status = newest[row.ref.thread].status if _is_whole(row, headers, trunk) else ""
            named = (0, 0, title, status, row.call)
            items.append(GraphItem("open", row.ref, row.lane, row.lanes, inks, *named))
        items.append(GraphItem("checkpoint", row.ref, row.lane, row.lanes, inks))
        header = headers[row.ref]
        if row.ref in tips and header.next and header.status != Status.DONE:
            waiting[row.lane] = GraphItem("next", row.ref, row.lane, row.lanes, inks, status=header.status)
    items.extend(waiting[lane] for lane in sorted(waiting, reverse=True))
    return _gathered(items, listed)


def time_items(headers: Mapping[Ref, Header]) -> list[GraphItem]:
    """Every checkpoint in one lane, in the order of ``headers``, each with its thread's name and colour."""
    colours: dict[str, int] = {}
    items = []
    for ref in headers:
        colour = colours.setdefault(ref.thread, len(colours)) % LANES
        title = f"{ref.thread} / {call_name(ref.ns)}" if ref.ns else ref.thread
        items.append(GraphItem("checkpoint", ref, 0, (), (colour,), title=title))
    return items


def _is_whole(row: GraphRow, headers: Mapping[Ref, Header], trunk: str) -> bool:
    """Whether an open branch is a thread's own end, whose status can stand at its name: not a side branch of one."""
    parent = headers[row.ref].parent
    return not row.ref.ns and (row.ref.thread != trunk or parent is None or parent.thread != row.ref.thread)


def _tips(headers: Mapping[Ref, Header]) -> set[Ref]:
    """Checkpoints after which their own thread and namespace have nothing."""
    parents = {
        header.parent
        for header in headers.values()
        if header.parent is not None and header.parent[:2] == header.ref[:2]  # thread and namespace
    }
    return set(headers).difference(parents)


def _gathered(items: list[GraphItem], listed: Set[tuple[Ref, int]]) -> list[GraphItem]:
    """Long runs of folded forks at one point become one row."""
    gathered: list[GraphItem] = []
    start = 0
    while start < len(items):
        end = start
        while end < len(items) and items[end].kind == "fold" and items[end].lane == items[start].lane:
            end += 1
        first = items[start]
        if end - start > STUBS and (first.ref, first.lane) not in listed:
            run = items[start:end]
            hidden, calls = sum(item.hidden for item in run), sum(item.call for item in run)
            noun = "calls" if calls == len(run) else "branches" if calls else "forks"
            gathered.append(
                GraphItem("more", first.ref, first.lane, first.lanes, first.inks, hidden, len(run), title=noun)
            )
        else:
            gathered.extend(items[start : max(end, start + 1)])
        start = max(end, start + 1)
    return gathered


def graph_line(item: GraphItem, columns: Columns, facts: GraphFacts) -> Line:
    """One row in at most ``columns.width`` cells."""
    header = facts.headers[item.ref]
    lanes = _lanes(item, header, columns.lanes, facts)
    room = columns.width - cells(lanes)
    if item.kind == "checkpoint":
        return (*lanes, *_checkpoint(item, header, columns, facts))
    if item.kind == "next":
        return (*lanes, *cut(_next(header, columns, facts), room, facts.glyphs.ellipsis))
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
    if not header.next and header.status == Status.DONE:
        return glyphs.end, ""
    return glyphs.step, ""


def _copied(header: Header) -> bool:
    """Whether this is a fork that the store made by copying its base, and nothing has happened on it."""
    parent = header.parent
    return parent is not None and parent.id == header.ref.id and parent.thread != header.ref.thread


def _checkpoint(item: GraphItem, header: Header, columns: Columns, facts: GraphFacts) -> Line:
    step = "·" if header.step is None else str(header.step)
    lead = Piece(step.rjust(columns.step) + " ", "muted")
    if header.problem:
        return (lead, *_problem(header, columns, facts), *_measures(header, columns, facts))
    node = _node(header, columns, facts)
    over = max(0, cells(node) - columns.node)
    pieces = [lead, *pad(node, columns.node + over, facts.glyphs.ellipsis)]
    if columns.badge:
        known = "F" if _copied(header) else BADGES.get(header.source)
        badge = known or (facts.glyphs.failed if header.status == Status.FAILED else " ")
        pieces.append(Piece(f" {badge} ", "error" if badge == facts.glyphs.failed else "warning"))
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
    name = safe_text(", ".join(header.nodes))
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
        size = "" if header.size is None else human_size(header.size)
        pieces.append(Piece(size.rjust(columns.size), "muted"))
    return tuple(pieces)


def _node(header: Header, columns: Columns, facts: GraphFacts) -> Line:
    """The nodes' names, cut to their column; the word at the head may take some of the next one."""
    width = columns.node
    name = safe_text(", ".join(header.nodes)) or ("input" if header.source == "input" else safe_text(header.source))
    ink = "strong" if header.source in BADGES else "plain"
    line: Line = (*_stop(header.nodes, facts), Piece(name, ink))
    if header.ref == facts.head and cell_len(name) + 6 <= width + max(0, columns.changed - 6):
        width = max(width, cell_len(name) + 6)
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


def _next(header: Header, columns: Columns, facts: GraphFacts) -> Line:
    """What stands after a tip: the nodes that would run, and why they have not."""
    step = "" if header.step is None else str(header.step + 1)
    if _is_live(header.ref, facts):
        return (Piece(step.rjust(columns.step) + " ", "muted"), Piece(safe_text(facts.live), "accent"))
    lead = Piece(step.rjust(columns.step) + " ", "muted")
    pieces = [lead, *_stop(header.next, facts), Piece(safe_text(", ".join(header.next)), "strong")]
    word = {
        Status.WAITING: "waiting for an answer",
        Status.FAILED: "failed",
        Status.UNFINISHED: "not run yet",
        Status.PENDING: "about to run",
    }.get(header.status, header.status)
    note = facts.notes.get(header.ref, "")
    ink = status_ink(header.status)
    pieces += [Piece("  "), Piece(word if not note else "", ink), Piece(safe_text(note), ink)]
    return tuple(pieces)


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
