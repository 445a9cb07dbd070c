"""What a store could be freed of, and what must stay and why. Prints advice; no command of ours deletes anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from stores.model import Header
from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.measuring import MOST, Duration
from tt_debug.cli.options import COUNT, Target, gathered, looking_options, store_argument
from tt_debug.cli.output import Output
from tt_debug.cli.progress import Progress, interruptible
from tt_debug.cli.tables import Column, table
from tt_debug.pruning import Why
from tt_debug.session.pruning import Advice, Policy, Reasons, Sum
from tt_debug.session.records import Record, timestamp
from tt_debug.text import counted, human_size

_THREADS = (
    Column("thread"),
    Column("status"),
    Column("checkpoints", right=True),
    Column("could go", right=True),
    Column("bytes", right=True),
    Column("could go", right=True),
    Column("stays"),
)
_KEPT = (Column("step", right=True), Column("checkpoint"), Column("ns"), Column("bytes", right=True), Column("stays"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GcOptions(Target):
    """Of what, and what is to stay beside what must."""

    thread: str | None
    keep: int
    older_than: timedelta | None


@click.command()
@store_argument
@click.argument("thread", metavar="[THREAD]", required=False, type=THREAD)
@click.option("--keep", type=COUNT, default=1, metavar="N", help="The newest N of every line stay; default 1.")
@click.option("--older-than", type=Duration(), metavar="TIME", help="Younger threads stay whole: 30d, 12h.")
@looking_options
@gathered(GcOptions)
def gc(front: Front, options: GcOptions) -> ExitCode:
    """Tell what could be freed and what must stay. Deletes nothing.

    Threads that wait, have failed, are paused, at work or protected stay whole; of the others heads, ends of branches,
    names, the lines of forks, and what delta channels are put together from. With THREAD, each checkpoint that stays.
    """
    output, progress, found = Output(options.as_json), Progress(), Sum()
    policy = Policy(options.keep, options.older_than)
    advice: list[Advice] = []
    with front.looking(options.store) as session, interruptible(progress):
        for each in session.pruning.advice(policy, options.thread, progress):
            if each.problem is not None:
                narrate(f"{each.thread} stays: it cannot be read: {each.problem}")
            found.add(each)
            advice.append(each)
    if options.as_json:
        output.document("gc", _record(found, advice, one=options.thread is not None))
    else:
        output.text([*_summary(found), "", *(_kept_lines(advice) if options.thread else _thread_lines(advice))])
    narrate("nothing was deleted: no command of tt-debug deletes a checkpoint")
    return ExitCode.OK


def _summary(found: Sum) -> Iterator[str]:
    what = "" if found.exact else " as JSON, which is more than the store takes where checkpoints share their parts"
    room = f"{human_size(found.free)} of {human_size(found.total)}{what}"
    yield (
        f"{found.freed:,} of {counted(found.checkpoints, 'checkpoint')} in {counted(found.threads, 'thread')} could be "
        f"freed: {room if found.sized else 'this store does not tell of how many bytes'}"
    )
    for why in Why:
        if why in found.reasons:
            count, size = found.reasons[why]
            yield f"{count:>9,} stay  {human_size(size) if found.sized else '?':>5}  {why.words}"


def _thread_lines(advice: Sequence[Advice]) -> Iterator[str]:
    ordered = sorted(advice, key=lambda each: (-each.free, each.thread))
    rows = [
        (
            each.thread,
            each.status,
            f"{each.checkpoints:,}",
            f"{each.freed:,}",
            human_size(each.total) if each.sized else "?",
            human_size(each.free) if each.sized else "?",
            ", ".join(f"{each.reasons[why][0]:,} {why}" for why in Why if why in each.reasons),
        )
        for each in ordered[:MOST]
    ]
    yield from table(_THREADS, rows)
    if len(ordered) > MOST:
        yield f"… {counted(len(ordered) - MOST, 'more thread')}; --json has all"


def _kept_lines(advice: Sequence[Advice]) -> list[str]:
    rows = [
        (
            "?" if header.step is None else str(header.step),
            header.ref.id,
            header.ref.ns,
            "" if header.size is None else human_size(header.size),
            why.words,
        )
        for each in advice
        for header, why in each.kept
    ]
    return table(_KEPT, rows)


def _record(found: Sum, advice: Sequence[Advice], *, one: bool) -> Record:
    """``one``: each checkpoint that stays is told."""
    return {
        "deleted": 0,
        "checkpoints": found.checkpoints,
        "could_free": found.freed,
        "bytes": found.total if found.sized else None,
        "could_free_bytes": found.free if found.sized else None,
        "bytes_of": "rows" if found.exact else "states",
        "kept": _reasons(found.reasons, found.sized),
        "threads": [_thread_record(each) for each in advice],
        **({"stays": [_kept_record(*pair) for each in advice for pair in each.kept]} if one else {}),
    }


def _thread_record(advice: Advice) -> Record:
    return {
        "thread": advice.thread,
        "status": advice.status,
        "checkpoints": advice.checkpoints,
        "could_free": advice.freed,
        "bytes": advice.total if advice.sized else None,
        "could_free_bytes": advice.free if advice.sized else None,
        "kept": _reasons(advice.reasons, advice.sized),
        "problem": advice.problem,
    }


def _reasons(reasons: Reasons, sized: bool) -> Record:
    return {
        str(why): {"checkpoints": count, "bytes": size if sized else None} for why, (count, size) in reasons.items()
    }


def _kept_record(header: Header, why: Why) -> Record:
    return {
        "thread": header.ref.thread,
        "ns": header.ref.ns,
        "id": header.ref.id,
        "step": header.step,
        "size": header.size,
        "created": timestamp(header.created),
        "why": str(why),
    }
