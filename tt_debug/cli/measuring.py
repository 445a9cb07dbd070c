"""What `stats` says of a history: where its bytes lie, how long its nodes took, what its model calls used and cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from tt_debug import config
from tt_debug.cli.exits import narrate
from tt_debug.cli.progress import Progress, interruptible
from tt_debug.cli.tables import Column, table
from tt_debug.errors import UsageError
from tt_debug.session import metrics
from tt_debug.session.metric_records import cost_record, node_records, size_record
from tt_debug.session.metrics import Extent
from tt_debug.session.questions import Scope
from tt_debug.session.records import Record
from tt_debug.text import counted, human_duration, human_size
from tt_debug.timing import Timetable
from tt_debug.usage import Prices
from tt_debug.weighing import Scales

if TYPE_CHECKING:
    from tt_debug.session.session import Session

MOST: Final = 20
"""Threads, or keys, that a person is shown; JSON has all."""

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_KEYS: Final = (
    Column("key"),
    Column("in", right=True),
    Column("bytes", right=True),
    Column("share", right=True),
    Column("newest", right=True),
    Column("largest", right=True),
    Column("a step", right=True),
    Column("changed", right=True),
    Column("again", right=True),
    Column("as writes", right=True),
)
_THREADS: Final = (
    Column("thread"),
    Column("checkpoints", right=True),
    Column("bytes", right=True),
    Column("again", right=True),
)
_NODES: Final = (
    Column("node"),
    Column("runs", right=True),
    Column("errors", right=True),
    Column("p50", right=True),
    Column("p95", right=True),
    Column("total", right=True),
    Column("share", right=True),
    Column(""),
)
_SPENT: Final = (
    Column("node"),
    Column("model"),
    Column("calls", right=True),
    Column("input", right=True),
    Column("cached", right=True),
    Column("output", right=True),
    Column("cost", right=True),
)


class Duration(click.ParamType):  # type: ignore[type-arg]
    """A time such as 90m, 24h or 7d."""

    name = "TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Raises click.UsageError."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"(\d{1,6})([smhdw])", str(value))
        if match is None:
            self.fail(f"{value!r} is no time such as 90m, 24h or 7d", param, ctx)
        return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


@dataclass(frozen=True, slots=True)
class Measures:
    """Which figures, and of what. ``line``: only the line that ends at ``ref``, not every branch and namespace."""

    size: bool = False
    nodes: bool = False
    cost: bool = False
    ref: str | None = None
    start: str | None = None
    last: timedelta | None = None
    line: bool = False

    @property
    def any(self) -> bool:
        """Whether any of them is asked for."""
        return self.size or self.nodes or self.cost

    def check(self) -> None:
        """Raises UsageError for options that say nothing together."""
        if (self.ref or self.start or self.last or self.line) and not self.any:
            raise UsageError(
                "THREAD, --from, --last and --line say of what: which figures?", hint="--size, --nodes, --cost"
            )
        if (self.start or self.line) and self.ref is None:
            raise UsageError("--from and --line are about one line", hint="name a THREAD, or any REF, where it ends")

    def extent(self, session: Session) -> Extent:
        """Raises UsageError for a start that is not on the line, RefNotFound."""
        since = datetime.now(UTC) - self.last if self.last is not None else None
        if self.ref is None:
            return Extent(since=since)
        end = session.resolve(self.ref)
        if self.start is None:
            return Extent(Scope(end, every_branch=not self.line), since=since)
        start = session.resolve(self.start)
        view = session.open_thread(end.thread)
        if start not in view.line(view.standing(end)):
            raise UsageError(f"{self.start} is not on the line that ends at {self.ref}", hint="tt-debug log lists it")
        return Extent(Scope(end), start, since)


def measured(session: Session, wanted: Measures) -> tuple[Record, list[str]]:
    """The figures as JSON and as text."""
    extent, progress, prices = wanted.extent(session), Progress(), config.prices()
    record: Record = {}
    lines: list[str] = []
    with interruptible(progress):
        if wanted.nodes:
            times = metrics.node_times(session, extent, progress)
            record["nodes"] = node_records(times)
            lines += [*_node_lines(times), ""]
        if wanted.size or wanted.cost:
            scales = metrics.weigh(session, extent, Scales(), progress)
            if scales.unread:
                narrate(f"not counted: {counted(scales.unread, 'checkpoint')} that cannot be read")
            if wanted.size:
                disk = metrics.on_disk(session)
                record["size"] = size_record(scales, disk)
                lines += [*_size_lines(scales, disk if extent.is_whole_store else None), ""]
            if wanted.cost:
                record["cost"] = cost_record(scales, prices)
                lines += [*_cost_lines(scales, prices), ""]
    return record, lines[:-1]


# --- size


def _size_lines(scales: Scales, on_disk: int | None) -> Iterator[str]:
    threads = scales.threads_by_size()
    yield (
        f"{human_size(scales.total)} of states in {counted(scales.checkpoints, 'checkpoint')} of "
        f"{counted(len(threads), 'thread')}, as JSON; {_part(scales.repeated, scales.total)} of it"
        f"{' or more' if scales.bounded else ''} stood in an older checkpoint too"
    )
    if on_disk is not None:
        yield f"the store's file takes {human_size(on_disk)}"
    keys = [key for key, tally in scales.by_size() if tally.checkpoints]
    yield from table(_KEYS, [_key_row(key, scales) for key in keys[:MOST]])
    yield from _more(len(keys), "key")
    if len(threads) > 1:
        yield ""
        yield from table(
            _THREADS,
            [
                (name, f"{tally.checkpoints:,}", human_size(tally.total), _part(tally.repeated, tally.total))
                for name, tally in threads[:MOST]
            ],
        )
        yield from _more(len(threads), "thread")


def _key_row(key: str, scales: Scales) -> Sequence[str]:
    tally = scales.keys[key]
    return (
        key,
        f"{tally.checkpoints:,}",
        human_size(tally.total),
        _part(tally.total, scales.total),
        human_size(tally.newest),
        human_size(tally.largest),
        "" if tally.growth is None else f"{tally.growth:+,.0f}",
        f"{tally.changes:,}/{tally.steps:,}" if tally.steps else "",
        _part(tally.repeated, tally.total),
        human_size(tally.written) if tally.written else "",
    )


def _more(number: int, word: str) -> Iterator[str]:
    if number > MOST:
        yield f"… {counted(number - MOST, f'more {word}')}; --json has all"


def _part(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"


# --- nodes


def _node_lines(times: Timetable) -> list[str]:
    def took(seconds: float | None) -> str:
        return "" if seconds is None else human_duration(seconds)

    total = times.total()
    rows = [
        (
            node.node,
            f"{len(node.seconds):,}",
            f"{node.errors:,}" if node.errors else "",
            took(node.at(0.5)),
            took(node.at(0.95)),
            took(node.total) if node.seconds else "",
            _part(node.total, total) if node.seconds else "",
            ", ".join(_remarks(node.waits, node.waited, node.shared)),
        )
        for node in times.rows()
    ]
    return table(_NODES, rows) or ["no step has two times that tell how long it took"]


def _remarks(waits: int, waited: float, shared: int) -> Iterator[str]:
    if waits:
        yield f"waited {counted(waits, 'time')} for a person, {human_duration(waited)}, which is not run time"
    if shared:
        yield f"{counted(shared, 'run')} beside other nodes: the time of the step"


# --- cost


def _cost_lines(scales: Scales, prices: Prices) -> Iterator[str]:
    rows = scales.by_cost(prices)
    if not rows:
        yield "no message says what its model call used"
        return
    yield from table(
        _SPENT,
        [
            (
                node,
                model or "?",
                f"{spent.calls:,}",
                f"{spent.input:,}",
                f"{spent.cached:,}" if spent.cached else "",
                f"{spent.output:,}",
                "unknown" if cost is None else money(cost, prices),
            )
            for node, model, spent, cost in rows
        ],
    )
    known = [cost for *_, cost in rows if cost is not None]
    tokens = sum(spent.input + spent.output for _, _, spent, _ in rows)
    yield f"{tokens:,} tokens, {money(sum(known), prices) if known else 'cost unknown'}"
    unknown = sorted({model for _, model, _, cost in rows if cost is None and model is not None})
    if unknown:
        yield f'no price for {", ".join(unknown)}: [prices."NAME"] in {config.config_file()} may give one'
    if any(model is None for _, model, _, _ in rows):
        yield "some messages do not say which model was called, so that no price is theirs"


def money(amount: float, prices: Prices) -> str:
    """An amount, with as many digits as a small one needs."""
    return f"{prices.currency}{amount:,.2f}" if amount >= 1 or amount == 0 else f"{prices.currency}{amount:.4f}"
