"""Figures about a history, gathered off the event loop and told while they grow.

Owns the order (times, then sizes and cost, then what could be freed) and the snapshots; the screen shows them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from stores.model import Ref
from tt_debug.pruning import Why
from tt_debug.session import metrics
from tt_debug.session.metric_records import cost_record, node_records, size_record
from tt_debug.session.metrics import Extent
from tt_debug.session.pruning import Policy, Sum
from tt_debug.session.questions import Stopped
from tt_debug.session.records import Record
from tt_debug.timing import NodeTimes, Timetable
from tt_debug.tui.watch import Watch
from tt_debug.usage import Prices
from tt_debug.weighing import Scales

if TYPE_CHECKING:
    from tt_debug.session.session import Session

BARS: Final = 60
"""Cells over which a course is spread."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node; times in seconds, None where none is known."""

    node: str
    runs: int
    errors: int
    p50: float | None
    p95: float | None
    total: float
    waits: int
    waited: float
    slowest: tuple[tuple[float, Ref], ...]

    @classmethod
    def of(cls, times: NodeTimes) -> NodeRow:
        """As it is now: the times go on growing on the thread that reads."""
        middle, late, slowest = times.at(0.5), times.at(0.95), tuple(times.slowest)
        counts = times.node, len(times.seconds), times.errors
        return cls(*counts, middle, late, times.total, times.waits, times.waited, slowest)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key of the states; bytes."""

    key: str
    total: int
    growth: float | None
    rewritten: bool
    repeated: int


@dataclass(frozen=True, slots=True)
class Room:
    """What could be freed of how much, in bytes and checkpoints; why the rest stays."""

    freed: int
    checkpoints: int
    free: int
    total: int
    exact: bool
    reasons: Mapping[Why, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Figures:
    """How far it has come, and what is known by now.

    ``asked`` checkpoints were read for what is being done (``what``), of ``of`` where that is known. ``cost`` is None
    where no price is known for any call, ``unpriced`` the tokens that none is known for. ``bars`` spread what there was
    over the time: checkpoints, the longest step, tokens. ``record`` is all of it as an object, at the end.
    """

    what: str = ""
    asked: int = 0
    of: int | None = None
    ended: bool = False
    stopped: bool = False
    statuses: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[NodeRow, ...] = ()
    p50: float | None = None
    p95: float | None = None
    errors: int = 0
    keys: tuple[KeyRow, ...] = ()
    total: int = 0
    repeated: int = 0
    unread: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    unpriced: int = 0
    checkpoint_bars: tuple[float, ...] = ()
    step_bars: tuple[float, ...] = ()
    token_bars: tuple[float, ...] = ()
    room: Room | None = None
    record: Record | None = None


@dataclass(slots=True)
class Gathering:
    """One gathering, on the thread that reads."""

    session: Session
    extent: Extent
    prices: Prices
    watch: Watch
    tell: Callable[[Figures], None]
    give_way: Callable[[], None]
    times: Timetable = field(default_factory=Timetable)
    scales: Scales = field(default_factory=Scales)
    room: Sum | None = None
    statuses: Mapping[str, int] = field(default_factory=dict)
    _what: str = ""
    _asked: int = 0
    _of: int | None = None

    def run(self) -> Figures:
        """To its end, or until it is stopped. Raises StoreError where the store fails as a whole."""
        thread = self.extent.scope.ref.thread if self.extent.scope.ref is not None else None
        try:
            self.statuses = Counter(
                info.status
                for info in self.session.threads()
                if thread in (None, info.thread) and self._is_in_time(info.updated)
            )
            self._what = "times"
            metrics.node_times(self.session, self.extent, self._goes_on, self.times)
            self._what = "sizes"
            metrics.weigh(self.session, self.extent, self.scales, self._goes_on)
            self._what, self.room = "what could be freed", Sum()
            for advice in self.session.pruning.advice(Policy(), thread, self._goes_on):
                self.room.add(advice)
        except Stopped:
            return self._figures(ended=True, stopped=True)
        return self._figures(ended=True)

    def _is_in_time(self, at: datetime | None) -> bool:
        return self.extent.since is None or (at is not None and at >= self.extent.since)

    def _goes_on(self, done: int, of: int | None) -> bool:
        self.give_way()
        self._asked, self._of = done, of
        return self.watch.goes_on(done, lambda: None, lambda _: self.tell(self._figures()))

    def _figures(self, *, ended: bool = False, stopped: bool = False) -> Figures:
        rows = self.times.rows()
        spent = self.scales.by_cost(self.prices)
        costs = [cost for *_, cost in spent if cost is not None]
        return Figures(
            what=self._what,
            asked=self._asked,
            of=self._of,
            ended=ended,
            stopped=stopped,
            statuses=dict(self.statuses),
            nodes=tuple(map(NodeRow.of, rows)),
            p50=self.times.every().at(0.5),
            p95=self.times.every().at(0.95),
            errors=sum(each.errors for each in rows),
            keys=tuple(
                KeyRow(key, tally.total, tally.growth, tally.rewritten, tally.repeated)
                for key, tally in self.scales.by_size()
                if tally.checkpoints
            ),
            total=self.scales.total,
            repeated=self.scales.repeated,
            unread=self.scales.unread,
            calls=sum(row[2].calls for row in spent),
            tokens=sum(row[2].input + row[2].output for row in spent),
            cost=sum(costs) if costs else None,
            unpriced=sum(row[2].input + row[2].output for row in spent if row[3] is None),
            checkpoint_bars=spread(self.scales.moments, [1.0] * len(self.scales.moments)),
            step_bars=spread(self.times.course[::2], self.times.course[1::2], longest=True),
            token_bars=spread(self.scales.course[::2], self.scales.course[1::2]),
            room=self._room(),
            record=self._record() if ended else None,
        )

    def _room(self) -> Room | None:
        found = self.room
        if found is None:
            return None
        return Room(found.freed, found.checkpoints, found.free, found.total, found.exact, dict(found.reasons))

    def _record(self) -> Record:
        return {
            "nodes": node_records(self.times),
            "size": size_record(self.scales, metrics.on_disk(self.session)),
            "cost": cost_record(self.scales, self.prices),
        }


def spread(times: Sequence[float], values: Sequence[float], *, longest: bool = False) -> tuple[float, ...]:
    """Values at times, in `BARS` equal parts of the time from the first to the last: their sums, or the longest."""
    if not times:
        return ()
    first, last = min(times), max(times)
    bars = [0.0] * BARS
    for time, value in zip(times, values, strict=True):
        place = min(BARS - 1, int((time - first) / (last - first) * BARS)) if last > first else 0
        bars[place] = max(bars[place], value) if longest else bars[place] + value
    return tuple(bars)
