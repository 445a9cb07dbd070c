"""Figures about a store's runs, for people, for programs, and as what Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import click

from stores.errors import Unsupported
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.measuring import Duration, Measures, measured
from tt_debug.cli.options import Target, gathered, looking_options, store_argument
from tt_debug.cli.output import Output
from tt_debug.errors import UsageError
from tt_debug.session.records import Record, timestamp
from tt_debug.text import human_duration

if TYPE_CHECKING:
    from tt_debug.session.figures import Figures, Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions(Target):
    """In which form, and whether an alert is an exit code."""

    thread: str | None
    size: bool
    nodes: bool
    cost: bool
    start: str | None
    last: timedelta | None
    line: bool
    check: bool
    format: Literal["text", "prometheus"]

    def measures(self) -> Measures:
        """What is asked of the history. Raises UsageError."""
        found = Measures(self.size, self.nodes, self.cost, self.thread, self.start, self.last, self.line)
        found.check()
        if found.any and (self.check or self.format != "text"):
            raise UsageError("--check and --format are about the executor's runs, not --size, --nodes or --cost")
        return found


@click.command()
@store_argument
@click.argument("thread", metavar="[THREAD]", required=False, type=REF)
@click.option("--size", is_flag=True, help="Bytes by key and thread, growth, what is there again and again.")
@click.option("--nodes", is_flag=True, help="How long nodes took, how often they failed.")
@click.option("--cost", is_flag=True, help="Tokens that messages tell of; cost by the prices in config.toml.")
@click.option("--line", is_flag=True, help="Of THREAD only the line that ends there, no other branch.")
@click.option("--from", "start", type=REF, metavar="REF", help="Of that line only what comes after REF.")
@click.option("--last", type=Duration(), metavar="TIME", help="Only what was written in the last 24h, 7d, 90m.")
@click.option("--check", is_flag=True, help="Exit 1 where something is alarming.")
@click.option(
    "--format",
    type=click.Choice(["text", "prometheus"]),
    default="text",
    metavar="FORM",
    help="text (default), or prometheus.",
)
@looking_options
@gathered(StatsOptions)
def stats(front: Front, options: StatsOptions) -> ExitCode:
    """Figures about runs; or of any history: sizes, times, cost.

    Without --size, --nodes or --cost: recoveries, writes and what waits, of our own executor's runs. Alarming is: of
    the runs that were recovered less than 95 % finished, one was recovered more than three times, or recovering takes
    longer than running again.
    """
    measures = options.measures()
    if options.as_json and options.format != "text":
        raise UsageError("--json and --format prometheus exclude each other")
    output = Output(options.as_json)
    with front.looking(options.store) as session:
        if measures.any:
            record, lines = measured(session, measures)
            output.document("stats", record) if output.as_json else output.text(lines)
            return ExitCode.OK
        if not session.executor.has_runs:
            hint = "--size, --nodes and --cost are about any history"
            raise Unsupported(f"a {session.info.kind} store keeps no runs of ours", hint=hint)
        found, slow = session.operations.figures(), session.executor.slow_nodes()
    if options.as_json:
        output.document("stats", _record(found) | {"slow_nodes": [asdict(node) for node in slow]})
    else:
        output.text(list(_prometheus(found) if options.format == "prometheus" else _lines(found)))
    alerts = found.alerts()
    narrate(*(f"alert: {alert}" for alert in alerts), *(f"advice: {node.advice}" for node in slow))
    return ExitCode.RUN_FAILED if options.check and alerts else ExitCode.OK


def _lines(found: Figures) -> Iterator[str]:
    yield f"runs            {_counts(found.runs) or 'none'}"
    yield f"recoveries      {found.recoveries}, of runs now {_counts(found.outcomes) or 'none'}"
    yield f"success rate    {'unknown' if found.success_rate is None else f'{found.success_rate:.1%}'}"
    yield f"recovery takes  {_took(found.recovery)}; running again from the start would have taken {_took(found.rerun)}"
    yield f"taken over      {found.taken_over} from owners that were alive and at rest"
    yield f"commit takes    {_took(found.writes)}, at most {human_duration(found.writes.longest)}"
    since = f", the oldest question since {timestamp(found.waiting_since)}" if found.waiting_since else ""
    yield f"waiting         {found.waiting}{since}"
    yield f"replayed        {found.replayed} effects given from the record instead of called"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def _took(mean: Mean) -> str:
    return "unknown" if mean.mean is None else f"{human_duration(mean.mean)} on the mean of {mean.count}"


def _record(found: Figures) -> Record:
    """The ``data`` of ``stats``; durations in seconds."""

    def mean(of: Mean) -> Record:
        return {"count": of.count, "mean": of.mean, "total": of.total, "longest": of.longest}

    return {
        "runs": dict(found.runs),
        "recoveries": found.recoveries,
        "outcomes": dict(found.outcomes),
        "success_rate": found.success_rate,
        "recovery_seconds": mean(found.recovery),
        "rerun_estimate_seconds": mean(found.rerun),
        "checkpoint_write_seconds": mean(found.writes),
        "waiting": found.waiting,
        "waiting_since": timestamp(found.waiting_since),
        "taken_over": found.taken_over,
        "effects_replayed": found.replayed,
        "most_recovered": [{"run": run, "recoveries": count} for run, count in found.most_recovered],
        "alerts": list(found.alerts()),
    }


def _prometheus(found: Figures) -> Iterator[str]:
    """The text format of Prometheus, version 0.0.4."""
    yield from _metric("tt_runs", "gauge", "Runs by how they stand.", _labelled("status", found.runs))
    yield from _metric("tt_recovery_runs", "gauge", "Recovered runs by outcome.", _labelled("outcome", found.outcomes))
    yield from _metric("tt_recovery_total", "counter", "Takeovers of runs.", [("", found.recoveries)])
    yield from _summary("tt_recovery_seconds", "From a takeover to the next completed step.", found.recovery)
    yield from _summary("tt_rerun_estimate_seconds", "What a run from the start would take.", found.rerun)
    yield from _summary("tt_checkpoint_write_seconds", "Commits of a step.", found.writes)
    yield from _metric("tt_waiting_human", "gauge", "Runs that wait for an answer.", [("", found.waiting)])
    yield from _metric("tt_lease_lost_total", "counter", "Runs lost by a living owner.", [("", found.taken_over)])
    yield from _metric("tt_effect_replayed_total", "counter", "Effects given from the record.", [("", found.replayed)])


def _metric(name: str, kind: str, about: str, values: list[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        yield f"{name}{labels} {value}"


def _labelled(label: str, counts: Mapping[str, int]) -> list[tuple[str, float]]:
    items = sorted(counts.items())
    return [(f'{{{label}="{name}"}}', count) for name, count in items]


def _summary(name: str, about: str, of: Mean) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} summary"
    yield f"{name}_sum {of.total}"
    yield f"{name}_count {of.count}"
