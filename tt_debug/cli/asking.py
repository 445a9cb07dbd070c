"""Commands that ask the whole history: history, find, grep. None of them can write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import click

from stores.errors import Corrupt
from stores.model import MISSING, Path, Ref, Value
from stores.paths import format_path
from tt_debug.blame import Stop
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, limit, looking_options, path_of, reveal_option, store_argument
from tt_debug.cli.output import Output
from tt_debug.cli.progress import Progress, interruptible
from tt_debug.errors import UsageError
from tt_debug.finding import Hit
from tt_debug.redaction import SHOWN, Redaction
from tt_debug.searching import Found, Search
from tt_debug.session import questions
from tt_debug.session.questions import Finding, How, Scope
from tt_debug.session.records import Form, Pen, form_of
from tt_debug.text import counted, one_line
from tt_debug.values import to_json

if TYPE_CHECKING:
    from tt_debug.session.session import Session

T = TypeVar("T")

_SIGNS: Final = {"add": "+", "change": "~", "remove": "-", "unknown": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions(Target):
    """Whose history."""

    thread: str
    path: str
    limit: int | None
    reveal: bool


@click.command()
@store_argument
@click.argument("thread", metavar="THREAD", type=REF)
@click.argument("path", metavar="PATH")
@limit
@reveal_option
@looking_options
@gathered(HistoryOptions)
def history(front: Front, options: HistoryOptions) -> ExitCode:
    """Who wrote a value: every change of it, newest first.

    THREAD may be any REF: its line is followed up from there. Elements of a list that carry ids are followed by them.
    """
    output, progress = Output(options.as_json), Progress()
    where = path_of(options.path)
    with front.looking(options.store) as session:
        ref = session.resolve(options.thread)
        form = form_of(session.info.kind, front.hiding(options.reveal))
        stops = questions.history(session, ref, where, progress)
        with interruptible(progress):
            if output.as_json:
                output.document("history", [stop_record(session, stop, form) for stop in _some(stops, options.limit)])
                return ExitCode.OK
            found = 0
            for stop in _some(stops, options.limit):
                found += 1
                output.text(_stop_lines(session, stop, form.hiding))
                output.flush()
    if not found and options.limit != 0:
        narrate(f"nothing on the line of {options.thread} was ever at {format_path(where) or 'the top'}")
    return ExitCode.OK


def stop_record(session: Session, stop: Stop, form: Form) -> dict[str, Value]:
    """What `history --json` prints of a stop."""
    pen = Pen(form)
    record = {
        **_address(stop.ref, stop.step),
        "source": stop.source,
        "op": stop.op,
        "path": to_json(stop.path),
        "nodes": list(stop.nodes),
        "tasks": list(stop.tasks),
    }
    secret = _is_secret(form.hiding, stop.path)
    for name, value in (("old", stop.old), ("new", stop.new)):
        if value is not MISSING:
            record[name] = pen.json(value, secret=secret)
    if stop.problem is not None:
        record |= {"problem": stop.problem, "more": stop.more}
    copied = questions.origins(session, stop)
    if copied:
        record["origins"] = [to_json(path) for path in copied]
    return pen.mark(record)


def _stop_lines(session: Session, stop: Stop, hiding: Redaction) -> list[str]:
    who = ", ".join(stop.nodes) or stop.source
    lead = f"{_SIGNS[stop.op]} {_step(stop.step)}  {who}  {stop.ref.thread}@{stop.ref.id}"
    if stop.op == "unknown":
        more = f", and {counted(stop.more, 'older one')}" if stop.more else ""
        return [f"{lead}{more}: cannot be read, the value may have changed here: {stop.problem}"]
    secret = _is_secret(hiding, stop.path)
    old, new = (one_line(hiding.hide(value, secret=secret)) for value in (stop.old, stop.new))
    said = {"add": new, "remove": f"was {old}", "change": f"{old} → {new}"}[stop.op]
    copied = questions.origins(session, stop)
    lines = [lead, f"    {format_path(stop.path)}  {said}"]
    return [*lines, f"    the same stood at {', '.join(map(format_path, copied))}"] if copied else lines


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOptions(Target):
    """What to find, where and how."""

    words: tuple[str, ...]
    all: bool
    first: bool
    last: bool
    changes: bool
    bisect: bool
    limit: int | None
    reveal: bool

    def how(self) -> How:
        """Raises UsageError for more than one way."""
        ways: dict[How, bool] = {
            "first": self.first, "last": self.last, "changes": self.changes, "bisect": self.bisect,
        }  # fmt: skip
        chosen = [name for name, wanted in ways.items() if wanted]
        if len(chosen) > 1:
            raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
        return chosen[0] if chosen else "every"


@click.command()
@store_argument
@click.argument("words", metavar="[THREAD] EXPR", nargs=-1, required=True)
@click.option("--first", is_flag=True, help="Only the oldest checkpoint where it holds.")
@click.option("--last", is_flag=True, help="Only the newest.")
@click.option("--changes", is_flag=True, help="Every checkpoint where the answer became another.")
@click.option("--bisect", is_flag=True, help="The first, by halving: for what stays true once it is.")
@click.option("--all", is_flag=True, help="Every branch and namespace, not only the head's line.")
@limit
@reveal_option
@looking_options
@gathered(FindOptions)
def find(front: Front, options: FindOptions) -> ExitCode:
    """When a condition held: plan.status == 'final'.

    EXPR is JMESPath, asked of every state. Without THREAD, of every thread. THREAD may be any REF.
    """
    output, progress = Output(options.as_json), Progress()
    *named, expression = options.words
    if len(named) > 1:
        raise UsageError("find takes [THREAD] EXPR", hint="quote an expression that has spaces in it")
    with front.looking(options.store) as session:
        form = form_of(session.info.kind, front.hiding(options.reveal))
        scope = Scope(session.resolve(named[0]), options.all) if named else Scope()
        finding = questions.find(session, expression, scope, options.how(), progress)
        with interruptible(progress):
            secret = form.hiding.asks(expression)
            found = _tell_hits(output, _some(finding.hits, options.limit), form, secret)
    _tell_rest(finding, found, options.limit)
    return ExitCode.OK


def _tell_hits(output: Output, hits: Iterator[Hit], form: Form, secret: bool) -> int:
    if output.as_json:
        records = [hit_record(hit, form, secret) for hit in hits]
        output.document("find", records)
        return len(records)
    count = 0
    for count, hit in enumerate(hits, start=1):  # noqa: B007  # the last one is the answer
        where = f"{_step(hit.step)}  {', '.join(hit.nodes)}  {hit.ref.thread}@{hit.ref.id}"
        line = f"{where}  {one_line(form.hiding.hide(hit.value, secret=secret))}"
        output.text([line])
        output.flush()
    return count


def hit_record(hit: Hit, form: Form, secret: bool) -> dict[str, Value]:
    """What `find --json` prints of a hit; ``secret``: what was asked is."""
    pen = Pen(form)
    value = {"missing": True} if hit.value is MISSING else {"value": pen.json(hit.value, secret=secret)}
    return pen.mark({**_address(hit.ref, hit.step), "nodes": list(hit.nodes), **value})


def _tell_rest(finding: Finding, found: int, limit: int | None) -> None:
    """What a list of hits alone would not say."""
    tally = finding.tally
    for reason, times in tally.unanswered.most_common(3):
        narrate(f"{counted(times, 'checkpoint')} could not answer: {reason}")
    if found == 0 and limit != 0:
        narrate(f"it holds nowhere: {counted(tally.asked, 'checkpoint')} asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class GrepOptions(Target):
    """What text, and where."""

    text: str
    thread: str | None
    case: bool
    every: bool
    limit: int | None
    reveal: bool


@click.command()
@store_argument
@click.argument("text", metavar="TEXT")
@click.option("--thread", type=REF, metavar="T", help="Only this thread, with its forks.")
@click.option("--case", is_flag=True, help="Tell upper and lower case apart.")
@click.option("--every", is_flag=True, help="Every checkpoint that holds it, not only where it came in.")
@limit
@reveal_option
@looking_options
@gathered(GrepOptions)
def grep(front: Front, options: GrepOptions) -> ExitCode:
    """Where a text stands, told where it came in.

    Texts, numbers, keys, errors, questions, metadata and names of nodes are searched, in every thread.
    """
    output, progress, hiding = Output(options.as_json), Progress(), front.hiding(options.reveal)
    if not options.text:
        raise UsageError("an empty text is everywhere")
    search = Search(options.text, case=options.case, every=options.every)
    with front.looking(options.store) as session:
        scope = Scope(session.resolve(options.thread), every_branch=True) if options.thread else Scope()
        found = 0
        with interruptible(progress):
            for hit in _some(questions.grep(session, search, scope, progress), options.limit):
                if isinstance(hit, Corrupt):
                    narrate(f"not searched: {hit}")
                    continue
                found += 1
                _tell_found(output, hit, hiding)
    if not found and options.limit != 0:
        narrate(f"nowhere: {counted(progress.asked, 'checkpoint')} searched")
    return ExitCode.OK


def _tell_found(output: Output, hit: Found, hiding: Redaction) -> None:
    if output.as_json:
        output.line(found_record(hit, hiding))
        return
    path = format_path(hit.path)
    where = path if hit.part == "state" else f"{hit.part} {path}".rstrip()
    shown = SHOWN if _holds_secret(hit, hiding) else hit.excerpt
    output.text([f"{_step(hit.step)}  {hit.ref.thread}@{hit.ref.id}  {where}: {shown}"])
    output.flush()


def found_record(hit: Found, hiding: Redaction) -> dict[str, Value]:
    """What `grep --json` prints of a hit."""
    place = {"nodes": list(hit.nodes), "part": hit.part, "path": to_json(hit.path)}
    record = {**_address(hit.ref, hit.step), **place}
    return {**record, **({"redacted": True} if _holds_secret(hit, hiding) else {"excerpt": hit.excerpt})}


def _holds_secret(hit: Found, hiding: Redaction) -> bool:
    return not hit.is_key and (_is_secret(hiding, hit.path) or hiding.hide(hit.whole) is not hit.whole)


def _is_secret(hiding: Redaction, path: Path) -> bool:
    return any(hiding.names(step) for step in path)


def _address(ref: Ref, step: int | None) -> dict[str, Value]:
    return {"thread": ref.thread, "ns": ref.ns, "id": ref.id, "step": step}


def _step(step: int | None) -> str:
    return f"{'?' if step is None else step:>4}"


def _some(items: Iterator[T], limit: int | None) -> Iterator[T]:
    return items if limit is None else islice(items, limit)
