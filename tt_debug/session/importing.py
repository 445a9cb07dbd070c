"""Threads from a file of `export` into a store of ours.

Every line is read and checked before anything is written; a second reading then feeds one transaction, so that a file
of any length needs no more memory than its longest line and its addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from stores.codec import json as strict_json
from stores.errors import Conflict, Corrupt, Invalid, Unsupported
from stores.making import create_native, place_of
from stores.model import Ref, Value
from stores.past import PastCheckpoint, PastThread, Restorer
from stores.protocol import Store
from stores.registry import open_store
from tt_debug.errors import UsageError
from tt_debug.session.addresses import thread_exists
from tt_debug.session.past_lines import Malformed, checkpoint_of, thread_of


@dataclass(frozen=True, slots=True)
class Imported:
    """What was taken in: thread → its checkpoints. ``notes`` say what could not be, and why."""

    threads: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Index:
    """Where each checkpoint's line starts, parents first; and what was left out."""

    places: dict[Ref, int] = field(default_factory=dict)
    parents: dict[Ref, Ref | None] = field(default_factory=dict)
    lines: dict[Ref, int] = field(default_factory=dict)
    threads: dict[str, PastThread] = field(default_factory=dict)
    in_subgraphs: int = 0
    unread: int = 0


def import_into(url: str, file: Path) -> Imported:
    """Take every thread of the file into the store, which is made where there is none, or take in nothing.

    Raises UsageError naming a wrong line, Conflict for a thread that is there, Unsupported for a store of others.
    """
    index = _index_of(file)
    place = place_of(url)
    if place.is_new:
        create_native(place.url)
    store = open_store(place.url, read_only=False)
    with closing(store):
        return _take_in(store, file, index)


def _take_in(store: Store, file: Path, index: _Index) -> Imported:
    if not isinstance(store, Restorer):
        raise Unsupported(
            f"a {store.info.kind} store takes no threads in", hint="name a file that does not exist yet: it is made"
        )
    known = [thread for thread in index.threads if thread_exists(store, thread)]
    if known:
        raise Conflict(
            f"{_named(known)} in {store.info.url} already, and nothing was imported",
            hint="history is never overwritten: name a file that does not exist yet, or another store",
        )
    with file.open("rb") as opened:
        store.restore(tuple(index.threads.values()), _checkpoints(opened, file, index))
    wanted = dict.fromkeys(parent for parent in index.parents.values() if parent is not None)
    return _told(index, [parent for parent in wanted if not _is_there(store, index, parent)])


def _is_there(store: Store, index: _Index, ref: Ref) -> bool:
    return ref in index.places or (thread_exists(store, ref.thread) and _holds(store, ref))


def _holds(store: Store, ref: Ref) -> bool:
    after: str | None = None
    while True:
        page = store.headers(ref.thread, after=after, limit=1000)
        if any(header.ref == ref for header in page.items):
            return True
        if page.next is None:
            return False
        after = page.next


def _index_of(file: Path) -> _Index:
    index = _Index()
    if not file.is_file():
        raise UsageError(f"{file} is no file that can be read twice", hint="save what it says to a file first")
    try:
        with file.open("rb") as opened:
            for number, place, line in _lines(opened):
                _note(index, file, number, place, line)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    if not index.places:
        left_out = (
            "only checkpoints of subgraphs, which our stores do not hold" if index.in_subgraphs else "no checkpoint"
        )
        raise UsageError(f"{file} has {left_out}", hint="tt-debug export STORE THREAD writes such a file")
    _put_parents_first(index, file)
    return index


def _lines(opened: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """(number, place, line) of every line that is not blank."""
    place = 0
    for number, line in enumerate(opened, start=1):
        if line.strip():
            yield number, place, line
        place += len(line)


def _note(index: _Index, file: Path, number: int, place: int, line: bytes) -> None:
    record = _record(file, number, line)
    try:
        past = checkpoint_of(record)
        thread = thread_of(record)
    except (Malformed, Invalid) as error:
        raise UsageError(f"{file}:{number}: {error}", hint="nothing was imported") from error
    if past is None:
        index.unread += 1
    elif past.new.ref.ns:
        index.in_subgraphs += 1
    else:
        ref = past.new.ref
        if ref in index.places:
            raise UsageError(f"{file}:{number}: {ref.thread}@{ref.id} is on line {index.lines[ref]} too")
        index.places[ref], index.parents[ref], index.lines[ref] = place, past.new.parent, number
        index.threads.setdefault(ref.thread, PastThread(ref.thread))
    if thread is not None:
        index.threads[thread.thread] = thread


def _record(file: Path, number: int, line: bytes) -> Mapping[str, Value]:
    try:
        record = strict_json.loads(line)
    except Corrupt as error:
        raise UsageError(f"{file}:{number} is {error}", hint="nothing was imported") from error
    if not isinstance(record, dict):
        raise UsageError(f"{file}:{number} is no object", hint="each line is one checkpoint, as export writes it")
    if record.get("redacted"):
        raise UsageError(
            f"{file}:{number} was written with its secrets hidden, and cannot be taken back",
            hint="export it again with --reveal",
        )
    return record


def _put_parents_first(index: _Index, file: Path) -> None:
    """Raises UsageError for checkpoints that descend from themselves."""
    ordered: dict[Ref, int] = {}
    for ref in index.places:
        line: dict[Ref, None] = {}
        here: Ref | None = ref
        while here is not None and here in index.places and here not in ordered:
            if here in line:
                raise UsageError(
                    f"{file}:{index.lines[here]}: {here.thread}@{here.id} descends from itself",
                    hint="nothing was imported: mend the parents of that circle",
                )
            line[here] = None
            here = index.parents[here]
        for above in reversed(line):
            ordered[above] = index.places[above]
    index.places = ordered
    held = {ref.thread for ref in ordered}
    index.threads = {name: thread for name, thread in index.threads.items() if name in held}


def _checkpoints(opened: BinaryIO, file: Path, index: _Index) -> Iterator[PastCheckpoint]:
    for ref, place in index.places.items():
        opened.seek(place)
        past = checkpoint_of(_record(file, index.lines[ref], opened.readline()))
        if past is None or past.new.ref != ref:
            raise UsageError(f"{file} changed while it was read", hint="nothing was imported: try again")
        # What our own executor ran, its steps and questions tell again.
        ours = index.threads[ref.thread].runs or index.threads[ref.thread].approvals
        yield replace(past, tasks=()) if ours else past


def _told(index: _Index, missing: Sequence[Ref]) -> Imported:
    counts = dict.fromkeys(index.threads, 0)
    for ref in index.places:
        counts[ref.thread] += 1
    notes = []
    if index.in_subgraphs:
        notes.append(f"left out {index.in_subgraphs} checkpoints of subgraphs: our stores hold a thread's root only")
    if index.unread:
        notes.append(f"left out {index.unread} checkpoints that could not be read when they were exported")
    notes += [f"the parent {ref.id} of thread {ref.thread!r} is not here; its children say so" for ref in missing]
    return Imported(counts, tuple(notes))


def _named(threads: Sequence[str]) -> str:
    some = ", ".join(repr(name) for name in threads[:3])
    return f"thread {some} is" if len(threads) == 1 else f"threads {some}{' and more' * (len(threads) > 3)} are"
