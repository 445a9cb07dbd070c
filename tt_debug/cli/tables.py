"""Listings as lines of text: columns that line up, a history drawn as a graph.

Pure. Cuts nothing unless a width in cells is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple, Protocol

from stores.model import MISSING
from tt_debug.cells import cell_width, clip, human_duration, human_size, safe_text

if TYPE_CHECKING:
    from stores.model import Header, Ref, Task, ThreadInfo
    from stores.runs import Approval, Run, StepRecord
    from tt_debug.session.thread_view import GraphRow, GraphRows, ThreadView

GAP = "  "
WIDEST = 100
"""Cells to which a column lines up: one name of a megabyte must not put a megabyte of blanks on every line."""
SHORTEST_ID = 8
TOGETHER = 2_000
"""Checkpoints that are read before the first of them is shown."""


class Column(NamedTuple):
    """One column. ``right`` aligns numbers; a column that is empty in every row is left out."""

    title: str
    right: bool = False


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], width: int | None = None) -> list[str]:
    """A heading and a line per row; nothing at all when there are no rows."""
    return list(long_table(columns, [rows], width))


def long_table(
    columns: Sequence[Column], parts: Iterable[Iterable[Sequence[str]]], width: int | None = None
) -> Iterator[str]:
    """The same of rows that come in parts, each told before the next is asked for: a column may get wider with a part,
    and where one is used that was empty so far the heading stands again."""
    widths: dict[int, int] = {}
    for rows in parts:
        cells = [_safe(column) for column in zip(*rows, strict=True)]
        new = [place for place, column in enumerate(cells) if place not in widths and any(column)]
        if new:
            widths = {place: widths.get(place, 0) for place in sorted((*widths, *new))}
            cells = [(column.title, *below) for column, below in zip(columns, cells, strict=True)]
        shown = []
        for place in widths if cells else ():
            width_of = _width_of(cells[place])
            widths[place] = room = max(widths[place], min(WIDEST, max(map(width_of, cells[place]))))
            align = str.rjust if columns[place].right else str.ljust
            # Python counts characters, and a terminal cells.
            rooms = repeat(room) if width_of is len else [room + len(text) - width_of(text) for text in cells[place]]
            shown.append(map(align, cells[place], rooms))
        for line in map(GAP.join, zip(*shown, strict=True)):
            yield clip(line.rstrip(), width) if width else line.rstrip()


def _safe(cells: Sequence[str]) -> Sequence[str]:
    """`safe_text` of each; most need nothing, which is seen of all at once."""
    return cells if "".join(cells).isprintable() else tuple(map(safe_text, cells))


def _width_of(texts: Sequence[str]) -> Callable[[str], int]:
    """What tells the cells that each takes."""
    return len if "".join(texts).isascii() else cell_width


UNREAD = "…"
THREADS = (
    Column("thread"),
    Column("last node"),
    Column("status"),
    Column("step", right=True),
    Column("count", right=True),
    Column("updated (UTC)"),
    Column("forked from"),
)


def thread_lines(threads: Iterable[ThreadInfo], width: int | None) -> list[str]:
    """One thread a line."""
    return table(THREADS, (thread_cells(info) for info in threads), width)


def thread_cells(info: ThreadInfo) -> tuple[str, ...]:
    """The cells of `THREADS`."""
    base = info.forked_from
    return (
        info.thread,
        info.last_node or ("" if info.read else UNREAD),
        info.status if info.read else UNREAD,
        number(info.step),
        "?" if info.checkpoints is None else str(info.checkpoints),
        clock(info.updated),
        f"{base.thread}@{base.id}" if base else "",
    )


_NEXT = 4  # columns of LOG up to the nodes that come next
LOG = (
    Column("step", right=True),
    Column("node"),
    Column("source"),
    Column("next"),
    Column("status"),
    Column("created (UTC)"),
    Column("size", right=True),
    Column("id"),
    Column("ns"),
    Column("thread"),
    Column(""),
)


class Cells(Protocol):
    """What stands in columns of its own for each checkpoint of a listing."""

    @property
    def expressions(self) -> tuple[str, ...]: ...

    def cells(self, ref: Ref) -> tuple[str, ...]: ...


def log_lines(view: ThreadView, refs: Sequence[Ref], width: int | None, more: Cells | None = None) -> Iterator[str]:
    """One checkpoint a line. The thread is named only where it is not the view's own; ``more`` follows what comes
    next."""
    short = short_ids(refs)

    def cells(header: Header) -> tuple[str, ...]:
        own = log_cells(header, view.thread, short)
        return own if more is None else (*own[:_NEXT], *more.cells(header.ref), *own[_NEXT:])

    asked = () if more is None else more.expressions
    columns = (*LOG[:_NEXT], *(Column(clip(safe_text(text), WIDEST)) for text in asked), *LOG[_NEXT:])
    return long_table(columns, (map(cells, part) for part in in_parts(view, refs)), width)


def in_parts(view: ThreadView, refs: Sequence[Ref]) -> Iterator[list[Header]]:
    """Their headers, read a part at a time."""
    for at in range(0, len(refs), TOGETHER):
        yield view.headers.passing(refs[at : at + TOGETHER])


def log_cells(header: Header, here: str, short: Callable[[Ref], str]) -> tuple[str, ...]:
    """The cells of `LOG`."""
    return (
        number(header.step),
        ", ".join(header.nodes),
        header.source,
        ", ".join(header.next),
        header.status,
        clock(header.created),
        "" if header.size is None else human_size(header.size),
        short(header.ref),
        header.ref.ns,
        header.ref.thread if header.ref.thread != here else "",
        f"! {header.problem}" if header.problem else "",
    )


def short_ids(refs: Sequence[Ref]) -> Callable[[Ref], str]:
    """Ids cut to the shortest length at which all of these still differ.

    Time-ordered ids share their beginning, so a fixed length would not tell two steps apart.
    """
    ids = sorted({ref.id for ref in refs})
    length = SHORTEST_ID
    for one, other in pairwise(ids):
        while length < max(len(one), len(other)) and one[:length] == other[:length]:
            length += 1
    return lambda ref: ref.id[:length]


def graph_lines(view: ThreadView, rows: GraphRows, wanted: Sequence[int]) -> Iterator[str]:
    """The family as a graph: a child under its parent, a fork one lane to the right, an orphan's mark left open.

    ``wanted`` are places in ``rows``; their headers are read a part at a time."""
    short = short_ids(view.refs)
    marks = {_own_tip(view): "← newest of its line", view.head: "← head"}
    for at in range(0, len(wanted), TOGETHER):
        part = wanted[at : at + TOGETHER]
        view.headers.learn([view.refs[rows.shape.nodes[place]] for place in part])
        for row in map(rows.__getitem__, part):
            header = view.headers[row.ref]
            yield _lanes(row, header, view) + _graph_text(row, header, short, marks.get(row.ref, ""))


def _own_tip(view: ThreadView) -> Ref:
    """Where the head's own thread went on to, if it did: the runtime may load another row than the newest."""
    at = view.head
    while own := [child for child in view.children(at) if (child.thread, child.ns) == (at.thread, at.ns)]:
        at = own[-1]
    return at


def _lanes(row: GraphRow, header: Header, view: ThreadView) -> str:
    """The lines to the left of a row, and its own mark."""
    cells = ["│ " if lane in row.lanes else "  " for lane in range(row.lane)]
    if row.lane and (row.opens or row.kind == "fold"):
        cells[-1] = "├─"
    mark = "●" if header.parent is None or header.parent in view else "○"
    return "".join(cells) + ("▸ " if row.kind == "fold" else f"{mark} ")


def _graph_text(row: GraphRow, header: Header, short: Callable[[Ref], str], mark: str) -> str:
    if row.kind == "fold":
        forks = f" · {row.branches} lines" if row.branches > 1 else ""
        count = f"{row.hidden} checkpoint{'' if row.hidden == 1 else 's'}"
        return safe_text(f"{row.title}  {count}{forks}  {row.status}".strip())
    parts = [number(header.step), ", ".join(header.nodes) or header.source, short(row.ref)]
    if row.ref.ns:
        parts.append(row.ref.ns)
    if row.opens and row.title:
        parts.append(f"({row.title})")
    parts.append(mark)
    if header.status != "done":
        parts.append(header.status)
    if header.problem:
        parts.append(f"! {header.problem}")
    return safe_text("  ".join(part for part in parts if part))


RUNS = (
    Column("run"),
    Column("thread"),
    Column("status"),
    Column("started (UTC)"),
    Column("took", right=True),
    Column("head"),
    Column("error"),
)


def run_lines(runs: Iterable[Run], width: int | None) -> list[str]:
    """One run a line."""
    return table(RUNS, (_run_cells(run) for run in runs), width)


def _run_cells(run: Run) -> tuple[str, ...]:
    took = (run.ended - run.started).total_seconds() if run.started and run.ended else None
    return (
        run.run_id,
        run.thread,
        run.shown,
        clock(run.started or run.created),
        "" if took is None else human_duration(took),
        run.head.id if run.head else "",
        run.error or "",
    )


APPROVALS = (Column("id"), Column("thread"), Column("node"), Column("since (UTC)"), Column("status"), Column("prompt"))


def approval_lines(approvals: Iterable[Approval], width: int | None) -> list[str]:
    """One question a line."""
    rows = (
        (found.id, found.thread, found.node, clock(found.since), found.status, prompt_text(found.prompt))
        for found in approvals
    )
    return table(APPROVALS, rows, width)


def prompt_text(prompt: object) -> str:
    """A question on one line: a text as it is, anything else in short."""
    from tt_debug.text import one_line  # with values and what is secret in them, 5 ms

    return prompt if isinstance(prompt, str) else one_line(prompt, 120)


GIVEN = 40  # cells of what a Send hands a task
TASKS = (
    Column("node"),
    Column("status"),
    Column("given"),
    Column("writes"),
    Column("asks"),
    Column("error"),
    Column("id"),
)


def task_lines(tasks: Iterable[Task]) -> list[str]:
    """One task a line."""
    from tt_debug.text import one_line

    rows = (
        (
            task.node,
            task.status,
            "" if task.given is MISSING else one_line(task.given, GIVEN),
            ", ".join(write.channel for write in task.writes),
            "; ".join(prompt_text(found.value) for found in task.interrupts),
            task.error or "",
            task.id,
        )
        for task in tasks
    )
    return table(TASKS, rows)


STEPS = (
    Column("node"),
    Column("attempt", right=True),
    Column("status"),
    Column("started (UTC)"),
    Column("took"),
    Column("error"),
)


def step_lines(steps: Iterable[StepRecord]) -> list[str]:
    """One attempt a line."""
    rows = (
        (
            step.node,
            str(step.attempt),
            step.status,
            clock(step.started),
            "" if step.duration is None else human_duration(step.duration),
            step.error or "",
        )
        for step in steps
    )
    return table(STEPS, rows)


def clock(when: datetime | None) -> str:
    """A time in UTC, to the second."""
    if when is None:
        return ""
    in_utc = when.astimezone(UTC) if when.tzinfo not in (None, UTC) else when
    return str(in_utc)[: len("2026-01-02 03:04:05")]


def number(value: int | None) -> str:
    """A number that may be unknown."""
    return "" if value is None else str(value)
