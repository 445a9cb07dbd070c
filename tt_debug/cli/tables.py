"""Listings as lines of text: columns that line up, a history drawn as a graph.

Pure. Cuts nothing unless a width in cells is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from stores.model import MISSING
from tt_debug.cells import cell_width, clip, human_duration, human_size, safe_text

if TYPE_CHECKING:
    from stores.model import Header, Ref, Task, ThreadInfo
    from stores.runs import Approval, Run, StepRecord
    from tt_debug.session.thread_view import GraphRow, ThreadView

GAP = "  "
WIDEST = 100
"""Cells to which a column lines up: one name of a megabyte must not put a megabyte of blanks on every line."""
SHORTEST_ID = 8


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``right`` aligns numbers; a column that is empty in every row is left out."""

    title: str
    right: bool = False


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], width: int | None = None) -> list[str]:
    """A heading and a line per row; nothing at all when there are no rows."""
    cells = [[safe_text(cell) for cell in row] for row in rows]
    if not cells:
        return []
    used = [place for place in range(len(columns)) if any(row[place] for row in cells)]
    cells.insert(0, [column.title for column in columns])
    widths = {place: min(WIDEST, max(cell_width(row[place]) for row in cells)) for place in used}
    lines = []
    for row in cells:
        parts = []
        for place in used:
            space = " " * (widths[place] - cell_width(row[place]))
            parts.append(space + row[place] if columns[place].right else row[place] + space)
        lines.append(GAP.join(parts).rstrip())
    return [clip(line, width) for line in lines] if width else lines


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


def log_lines(headers: Sequence[Header], here: str, width: int | None, more: Cells | None = None) -> list[str]:
    """One checkpoint a line. The thread is named only where it is not ``here``; ``more`` follows what comes next."""
    short = short_ids([header.ref for header in headers])
    rows = ((header.ref, log_cells(header, here, short)) for header in headers)
    if more is None:
        return table(LOG, (cells for _, cells in rows), width)
    columns = (*LOG[:_NEXT], *(Column(clip(safe_text(text), WIDEST)) for text in more.expressions), *LOG[_NEXT:])
    return table(columns, ((*cells[:_NEXT], *more.cells(ref), *cells[_NEXT:]) for ref, cells in rows), width)


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


def graph_lines(rows: Sequence[GraphRow], view: ThreadView) -> list[str]:
    """The family as a graph: a child under its parent, a fork one lane to the right, an orphan's mark left open."""
    short = short_ids(list(view.headers))
    marks = {_own_tip(view): "← newest of its line", view.head: "← head"}
    return [_lanes(row, view) + _graph_text(row, view, short, marks.get(row.ref, "")) for row in rows]


def _own_tip(view: ThreadView) -> Ref:
    """Where the head's own thread went on to, if it did: the runtime may load another row than the newest."""
    at = view.head
    while own := [child for child in view.children(at) if (child.thread, child.ns) == (at.thread, at.ns)]:
        at = own[-1]
    return at


def _lanes(row: GraphRow, view: ThreadView) -> str:
    """The lines to the left of a row, and its own mark."""
    cells = ["│ " if lane in row.lanes else "  " for lane in range(row.lane)]
    if row.lane and (row.opens or row.kind == "fold"):
        cells[-1] = "├─"
    above = view.headers[row.ref].parent
    mark = "●" if above is None or above in view.headers else "○"
    return "".join(cells) + ("▸ " if row.kind == "fold" else f"{mark} ")


def _graph_text(row: GraphRow, view: ThreadView, short: Callable[[Ref], str], mark: str) -> str:
    if row.kind == "fold":
        forks = f" · {row.branches} lines" if row.branches > 1 else ""
        count = f"{row.hidden} checkpoint{'' if row.hidden == 1 else 's'}"
        return safe_text(f"{row.title}  {count}{forks}  {row.status}".strip())
    header = view.headers[row.ref]
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
    in_utc = when.astimezone(UTC) if when.tzinfo else when
    return f"{in_utc:%Y-%m-%d %H:%M:%S}"


def number(value: int | None) -> str:
    """A number that may be unknown."""
    return "" if value is None else str(value)
