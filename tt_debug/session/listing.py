"""Threads and families of threads, read page by page from a store and completed from our own journal."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stores.errors import NotFound
from stores.model import Addresses, Capability, Header, Page, Ref, ThreadInfo
from stores.protocol import ListsByAddress, Store, TellsAddresses, TellsCopies
from stores.refs import of_subgraphs
from tt_debug.session import owners
from tt_debug.session.headers import TOGETHER, Read, Strand

if TYPE_CHECKING:
    from stores.runs import Run
    from tt_debug.session.journal import Journal
    from tt_debug.session.thread_view import ThreadView

PAGE = 500
LARGEST_PAGE = 16_000
LARGEST_PAGE_OF_A_THREAD = 4_000  # a fraction of a second, after which a reader can be stopped


@dataclass(frozen=True, slots=True)
class ThreadQuery:
    """What a listing is narrowed to. ``text`` is a case-insensitive part of the name; ``meta`` matches exactly,
    by key and text, on the metadata of a thread's head."""

    text: str = ""
    status: str | None = None
    meta: Mapping[str, str] | None = None
    limit: int | None = None


def every_thread(store: Store, journal: Journal) -> Iterator[ThreadInfo]:
    """Newest write first; ``forked_from`` filled from the journal where the store does not know it, then by copies.

    Pages grow, as a store may have to look at every thread to find where one begins.
    """
    forks, ours = {**_copies(store), **journal.forks()}, owners.standings(store)
    after: str | None = None
    limit = PAGE
    while True:
        with _uncollected():
            page = store.threads(after=after, limit=limit)
        limit = min(2 * limit, LARGEST_PAGE)
        for info in page.items:
            base = info.forked_from or forks.get(info.thread)
            status = owners.status_now(store, info.thread, info.status)
            status = owners.told(status, info.head and info.head.id, ours.get(info.thread))
            known = base == info.forked_from and status == info.status
            yield info if known else replace(info, forked_from=base, status=status)
        if page.next is None:
            return
        after = page.next


def brief_threads(store: Store, journal: Journal) -> Iterator[ThreadInfo]:
    """The same, but for what lies in states where a store tells the rest for much less: see ``ThreadInfo.read``."""
    if not isinstance(store, ListsByAddress):
        yield from every_thread(store, journal)
        return
    forks = {**_copies(store), **journal.forks()}
    with _uncollected():
        found = store.threads_at()
    for info in found:
        base = forks.get(info.thread)
        yield info if base is None else replace(info, forked_from=base)


def _copies(store: Store) -> Mapping[str, Ref]:
    return store.copies() if isinstance(store, TellsCopies) else {}


def out_of_sight(journal: Journal) -> dict[str, tuple[str, str]]:
    """Thread → its head and how that stood, of the forks of ours that were taken back."""
    return {
        each.ref.thread: (each.ref.id, each.undone)
        for each in journal.own_writes()
        if each.kind == "fork" and each.undone is not None
    }


def in_sight(threads: Iterator[ThreadInfo], journal: Journal) -> Iterator[ThreadInfo]:
    """Without those. Whatever happens to one brings it back: it is another than it was then."""
    hidden = out_of_sight(journal)
    for info in threads:
        head, status = hidden.get(info.thread, (None, None))
        # Where how it stands has not been read, its head alone tells.
        if info.head is None or info.head.id != head or (info.read and info.status != status):
            yield info


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cyclic garbage. A page makes objects by the ten thousand and no cycles of them: going
    over them again and again took a quarter of the time. Threads that read at once leave the switch to the first."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def matching(threads: Iterator[ThreadInfo], query: ThreadQuery) -> tuple[ThreadInfo, ...]:
    """Those that fit, in the order they come."""
    if query.limit is not None and query.limit < 0:
        raise ValueError(f"a limit of {query.limit} threads")
    found: list[ThreadInfo] = []
    for info in threads:
        if query.limit is not None and len(found) >= query.limit:
            break
        if _fits(info, query):
            found.append(info)
    return tuple(found)


def _fits(info: ThreadInfo, query: ThreadQuery) -> bool:
    if query.text and query.text.casefold() not in info.thread.casefold():
        return False
    if query.status is not None and info.status != query.status:
        return False
    return all(key in info.meta and str(info.meta[key]) == value for key, value in (query.meta or {}).items())


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading of a thread has come: ``read`` checkpoints, the newest; `view` makes a graph of them."""

    read: int
    view: Callable[[], ThreadView]


OnPage = Callable[[Progress], bool]
"""Called when there is more to read; False stops the reading there."""


def every_header(store: Store, thread: str) -> list[Header]:
    """All namespaces, oldest first. Raises NotFound for a thread that is not there."""
    found = [header for page in _pages(store, thread) for header in page.items]
    found.reverse()
    ours = owners.standings(store)
    return [owners.header_now(store, header, ours) for header in found]


def newest_headers(store: Store, thread: str) -> Iterator[Header]:
    """All namespaces, newest first, read as they are asked for."""
    return (header for page in _pages(store, thread) for header in page.items)


def _pages(store: Store, thread: str) -> Iterator[Page[Header]]:
    """Newest first; they grow, as each has its price however long it is."""
    after: str | None = None
    limit = PAGE
    while True:
        with _uncollected():
            page = store.headers(thread, after=after, limit=limit)
        limit = min(2 * limit, LARGEST_PAGE_OF_A_THREAD)
        yield page
        if page.next is None:
            return
        after = page.next


def open_view(
    store: Store, journal: Journal, thread: str, on_page: OnPage | None = None, *, alone: bool = False
) -> ThreadView:
    """The thread with its family, or ``alone``; as far as it was read when ``on_page`` stops that. Raises NotFound.

    Where nobody is told of pages, a thread without a family is opened by its addresses if the store tells them."""
    from tt_debug.session.thread_view import ThreadView  # with the layout, 5 ms, and a list of threads draws none

    family: list[Sequence[Header] | Strand] = []
    copies, ours = store.info.kind.startswith("langgraph"), owners.standings(store)

    def view(*, complete: bool = False) -> ThreadView:
        with _uncollected():
            strands = [each if isinstance(each, Strand) else Strand.of(each[::-1]) for each in family]
            if copies:
                strands = _told_apart(strands, read_headers)
            head = root_head(store, thread, strands[0].refs)
            return ThreadView(thread, head, strands, copies, complete=complete, read=read_headers)

    def goes_on() -> bool:
        count = sum(len(each.refs if isinstance(each, Strand) else each) for each in family)
        return on_page is None or on_page(Progress(count, view))

    read_headers = _reader(store, ours)
    by_address = (
        isinstance(store, ListsByAddress) or alone or (on_page is None and not _related(store, journal, thread))
    )

    def read(name: str) -> bool:
        # Of several threads only headers tell the order, but where ids do.
        if by_address and isinstance(store, TellsAddresses):
            with _uncollected():
                family.append(_by_address(store.addresses(name), read_headers))
            return True
        headers: list[Header] = []
        family.append(headers)
        return _read_pages(store, name, ours, headers, goes_on)

    complete = read(thread) and (alone or all(goes_on() and read(name) for name in _related(store, journal, thread)))
    return view(complete=complete)


def _read_pages(
    store: Store, thread: str, ours: Mapping[str, Run], into: list[Header], goes_on: Callable[[], bool]
) -> bool:
    """Newest first; whether all was read."""
    for page in _pages(store, thread):
        into.extend(owners.header_now(store, header, ours) for header in page.items)
        if page.next is not None and not goes_on():
            return False
    return True


def open_lineage(store: Store, journal: Journal, thread: str) -> ThreadView:
    """The thread with every one that it goes on from, and perhaps with more of its family: what a question of one line
    needs. Where a store tells addresses, headers are read when they are looked at. Raises NotFound."""
    if isinstance(store, ListsByAddress) or not isinstance(store, TellsAddresses):
        return open_view(store, journal, thread)
    from tt_debug.session.thread_view import ThreadView

    read, strands = _reader(store, owners.standings(store)), []
    with _uncollected():
        names = [thread]
        for name in names:
            try:
                found = store.addresses(name)
            except NotFound:
                if name == thread:
                    raise
                continue  # what goes on from there says so
            strands.append(_by_address(found, read))
            names += dict.fromkeys(ref.thread for ref in found.missing.values() if ref.thread not in names)
    return ThreadView(thread, root_head(store, thread, strands[0].refs), strands, False, complete=True, read=read)


def _reader(store: Store, ours: Mapping[str, Run]) -> Read:
    return lambda refs: [owners.header_now(store, header, ours) for header in _headers_at(store, refs)]


def _by_address(found: Addresses, read: Read) -> Strand:
    """A thread whose headers are read when they are looked at; those of subgraphs now, as what called one stands in
    it alone."""
    inner = of_subgraphs(found.refs)
    known = (header for at in range(0, len(inner), TOGETHER) for header in read(inner[at : at + TOGETHER]))
    return Strand(found.refs, found.parents, found.missing, {header.ref: header for header in known})


def _headers_at(store: Store, refs: Sequence[Ref]) -> Iterator[Header]:
    if isinstance(store, TellsAddresses):
        threads: dict[str, list[Ref]] = {}
        for ref in refs:
            threads.setdefault(ref.thread, []).append(ref)
        with _uncollected():
            for thread, own in threads.items():
                yield from store.headers_at(thread, own)


def _told_apart(family: Sequence[Strand], read: Read) -> list[Strand]:
    """With the headers of what may be an edited copy under the id of its original, and of that: in each namespace the
    last checkpoint that a thread has in common with one before it."""
    firsts: dict[tuple[str, str], Ref] = {}
    found: list[Ref] = []
    for strand in family if len(family) > 1 else ():
        last: dict[str, Ref] = {}
        for ref in strand.refs:
            if firsts.setdefault((ref.ns, ref.id), ref) is not ref:
                last[ref.ns] = ref
        found += [each for ref in last.values() for each in (ref, firsts[ref.ns, ref.id])]
    known: dict[str, dict[Ref, Header]] = {}
    for header in read(found) if found else ():
        known.setdefault(header.ref.thread, {})[header.ref] = header
    return [replace(each, known={**known.get(each.refs[0].thread, {}), **each.known}) for each in family]


def _related(store: Store, journal: Journal, thread: str) -> list[str]:
    """What may be drawn beside a thread. Forks that were taken back are not; whoever opens one sees it."""
    forks = {**_copies(store), **journal.forks()}
    if isinstance(store, ListsByAddress) and not forks:
        return []
    every = list(every_thread(store, journal))
    shown = {info.thread for info in in_sight(iter(every), journal)}
    return _family(thread, [info for info in every if info.thread in shown or info.thread == thread])


def root_head(store: Store, thread: str, refs: Sequence[Ref]) -> Ref:
    """What the runtime would load; a thread with subgraph rows only has its newest row instead. A head that the store
    names and does not have gives way to the newest. ``refs`` are oldest first."""
    newest = next((ref for ref in reversed(refs) if not ref.ns), None)
    if newest is None:
        return refs[-1]
    head = store.head(thread)
    return head if head == newest or head in refs else newest


def _family(thread: str, threads: Sequence[ThreadInfo]) -> list[str]:
    """Every other thread reachable through forks, in either direction; nearest first."""
    linked: dict[str, list[str]] = {}
    for info in threads:
        if info.forked_from is not None and info.forked_from.thread != info.thread:
            linked.setdefault(info.thread, []).append(info.forked_from.thread)
            linked.setdefault(info.forked_from.thread, []).append(info.thread)
    known = {info.thread for info in threads}
    found, seen = [thread], {thread}
    for name in found:
        for other in linked.get(name, ()):
            if other not in seen and other in known:
                seen.add(other)
                found.append(other)
    return found[1:]


def runs_here(store: Store) -> bool:
    """Whether the embedded executor can run in this store."""
    return Capability.RUNS in store.info.capabilities
