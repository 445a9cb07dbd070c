"""What a store is, what may be done with it, and what is wrong with it: for ``doctor STORE``."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stores.health import beside, faults, network_filesystem
from stores.model import Capability, ThreadInfo
from tt_debug.cli.findings import Finding
from tt_debug.cli.front import Front, Wanted
from tt_debug.text import human_size

if TYPE_CHECKING:
    from tt_debug.session.session import Session

MOST_CHECKPOINTS: Final = 20_000
"""So many are looked at one by one."""
MUCH_LOG: Final = 64_000_000
"""Bytes; SQLite writes a log back at four million where nobody keeps it from that."""
LITTLE_SPACE: Final = 100_000_000  # bytes
MOST_NAMED: Final = 3
MOST_KINDS: Final = 6
"""Kinds of problems that are told one by one."""


def store(front: Front, url: str) -> Iterator[Finding]:
    """Raises StoreError when the store cannot be read at all."""
    with front.session(Wanted(url, read_only=True)) as session:
        info = session.info
        yield Finding("store", "ok", f"{info.kind} {info.url}")
        threads = session.threads()
        known = [thread.checkpoints for thread in threads if thread.checkpoints is not None]
        held = f" with {sum(known)} checkpoints" if len(known) == len(threads) else ""
        yield Finding("threads", "ok", f"{len(threads)}{held}")
        able = ", ".join(sorted(info.capabilities)) or "nothing but looking"
        yield Finding("abilities", "ok", able)
        for notice in info.notices:
            yield Finding("notice", "warn", notice)
        yield from _history(session, threads)
        if Capability.RUNS in info.capabilities:
            yield from _content(session, threads)
        yield from _runs(session)
    if info.path is not None and Path(info.path).is_file():
        yield from _file(Path(info.path))


def _history(session: Session, threads: tuple[ThreadInfo, ...]) -> Iterator[Finding]:
    """Rows that cannot be read in full, parents that are missing, circles; the commonest problems by name."""
    from tt_debug.graph import CheckpointGraph  # networkx, 185 ms

    problems: Counter[str] = Counter()
    circles, seen = 0, 0
    done: set[str] = set()
    for thread in threads:
        if thread.thread in done or seen > MOST_CHECKPOINTS:
            continue
        headers = session.open_thread(thread.thread).headers.values()
        done |= {header.ref.thread for header in headers}
        seen += len(headers)
        problems.update(header.problem for header in headers if header.problem)
        circles += len(CheckpointGraph(headers).cycles())
    ranked = problems.most_common()
    for problem, count in ranked[:MOST_KINDS]:
        yield Finding("history", "warn", f"{_many(count, 'checkpoint')}: {problem}")
    others = sum(count for _, count in ranked[MOST_KINDS:])
    if others:
        what = f"{_many(others, 'checkpoint')} {'has' if others == 1 else 'have'} problems of other kinds"
        yield Finding("history", "warn", what, "`tt-debug log STORE THREAD --all` has each beside its row")
    if circles:
        yield Finding("history", "warn", f"{_many(circles, 'circle')} of parents", "each is cut where it closes")
    if not problems and not circles:
        yield Finding("history", "ok", f"{_many(seen, 'checkpoint')} looked at, every parent is there")
    if len(done) < len(threads):
        yield Finding("history", "warn", f"{_many(len(threads) - len(done), 'thread')} were not looked at")


def _content(session: Session, threads: tuple[ThreadInfo, ...]) -> Iterator[Finding]:
    """Whether checkpoints, and the chunks and binary values that they refer to, are what was once written."""
    damaged, left = 0, MOST_CHECKPOINTS
    for thread in threads:
        left -= thread.checkpoints or 1
        if left < 0:
            yield Finding("content", "warn", "the checksums of larger threads were not looked at")
            break
        fault = session.operations.fault(thread.thread) if thread.head is not None else None
        if fault is not None:
            damaged += 1
            where = f"{fault[0].thread}@{fault[0].id}"
            yield Finding("content", "bad", f"{where}: {fault[1]}", "restore a copy; runs from there are held")
    if not damaged:
        yield Finding("content", "ok", "the line of every thread looked at is what was written")


def _runs(session: Session) -> Iterator[Finding]:
    for status, way in (("crashed", "go on with: tt-debug resume"), ("held", "decide about them: tt-debug inbox")):
        found = [run.thread for run in session.runs() if run.shown == status]
        if found:
            names = ", ".join(found[:MOST_NAMED])
            yield Finding("runs", "warn", f"{_many(len(found), 'run')} {status}: {names}", way)


def _file(path: Path) -> Iterator[Finding]:
    yield _rights(path)
    found = faults(path)
    if found is None:
        yield Finding("file", "ok", f"{human_size(path.stat().st_size)}, too large to be read from end to end here")
    elif found:
        what = "; ".join(found)
        yield Finding("file", "bad", f"SQLite finds it damaged: {what}", "restore a copy; what can be read is shown")
    else:
        yield Finding("file", "ok", f"{human_size(path.stat().st_size)}, sound")
    companions = beside(path)
    if companions.get("-journal"):
        yield Finding("file", "warn", "a transaction was not finished", "the next program that writes rolls it back")
    if companions.get("-wal"):
        size, grown = human_size(companions["-wal"]), companions["-wal"] > MUCH_LOG
        advice = (
            "a reader that stays in one transaction keeps it growing: end it" if grown else "keep both files together"
        )
        yield Finding("file", "warn" if grown else "ok", f"{size} not yet written back from {path.name}-wal", advice)
    kind = network_filesystem(path)
    if kind:
        yield Finding("file", "warn", f"on {kind}, whose locks SQLite cannot rely on", "let one machine write to it")
    free = shutil.disk_usage(path.parent).free
    if free < LITTLE_SPACE:
        yield Finding("file", "warn", f"{human_size(free)} are left on its disk", "a fork or a run needs room")


def _rights(path: Path) -> Finding:
    if not os.access(path, os.W_OK):
        return Finding("rights", "warn", "the file may only be read", "looking works; fork, edit and run do not")
    if not os.access(path.absolute().parent, os.W_OK):
        return Finding("rights", "warn", "the folder may only be read", "looking works; SQLite cannot write there")
    return Finding("rights", "ok", "read and write")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
