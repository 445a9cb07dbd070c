"""Questions asked of the whole history: who wrote a value, when a condition came true, where a text stands.

Owns which checkpoints are asked, in which order, and telling how far that has come; the answers come one by one, and
nothing is read that nobody waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stores.errors import Corrupt, StoreError
from stores.model import MISSING, Header, Path, Ref
from stores.paths import get_path, settle_path
from tt_debug import blame
from tt_debug.errors import UsageError
from tt_debug.finding import Finder, Hit, NotMonotone, Tally, Unsure
from tt_debug.query import compile_expr
from tt_debug.searching import Found, Search

if TYPE_CHECKING:
    from tt_debug.session.session import Session
    from tt_debug.session.thread_view import ThreadView

How = Literal["every", "first", "last", "changes", "bisect"]

OnProgress = Callable[[int, int | None], bool]
"""Told how many checkpoints were asked, and of how many (None while unknown); False stops the search."""


class Stopped(Exception):
    """The search was stopped before its end: what it gave so far is not all there is."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look. ``ref``: the line that ends there, with ``every_branch`` its whole thread; None: every thread."""

    ref: Ref | None = None
    every_branch: bool = False


def history(session: Session, ref: Ref, path: Path, on_progress: OnProgress | None = None) -> Iterator[blame.Stop]:
    """Every write of ``path`` on the line that ends at ``ref``, newest first. Raises Stopped."""
    line = tuple(reversed(_line(session.open_thread(ref.thread), ref)))
    settled = _settled(session, ref, path)
    return blame.history(_counted(line, len(line), on_progress), session.load, settled)


def change_before(session: Session, ref: Ref, path: Path) -> Ref | None:
    """The nearest checkpoint before ``ref`` on its line at which the value of ``path`` changed, None without one."""
    return next((stop.ref for stop in history(session, ref, path) if stop.ref != ref), None)


def change_after(session: Session, ref: Ref, end: Ref, path: Path) -> Ref | None:
    """The nearest one after it, on the line that goes on to ``end``."""
    line = _line(session.open_thread(end.thread), end)
    at = next((place for place, header in enumerate(line) if header.ref == ref), len(line))
    return blame.next_change(line[at + 1 :], session.load, session.load(ref).state, _settled(session, ref, path))


def origins(session: Session, stop: blame.Stop) -> tuple[Path, ...]:
    """Where else the value that was written at a stop stood just before: it may have been copied from there."""
    if stop.before is None or stop.new is MISSING:
        return ()
    try:
        return blame.origins(session.load(stop.before).state, stop.new, stop.path)
    except StoreError:
        return ()  # what cannot be read says nothing about where a value came from


@dataclass(frozen=True, slots=True)
class Finding:
    """A search for a condition: its hits as they come, and how it stands."""

    hits: Iterator[Hit]
    tally: Tally


def find(
    session: Session, expression: str, scope: Scope, how: How = "every", on_progress: OnProgress | None = None
) -> Finding:
    """When the condition holds. "first" and "changes" go from the oldest on, "last" from the newest back.

    "bisect" asks about log₂ n checkpoints of a line on which the condition stays true once it is. Raises UsageError for
    what is no expression, for halving several branches, or where the answers show that it does not stay true.
    """
    finder = Finder(session.load, compile_expr(expression))
    if how in ("changes", "bisect", "last") and (scope.ref is None or scope.every_branch):
        raise UsageError(f"--{how} needs one line", hint="name a THREAD, and leave --all out")
    return Finding(_found(session, finder, scope, how, on_progress), finder.tally)


def _found(session: Session, finder: Finder, scope: Scope, how: How, on_progress: OnProgress | None) -> Iterator[Hit]:
    if how == "bisect":
        assert scope.ref is not None
        yield from _halved(finder, _line(session.open_thread(scope.ref.thread), scope.ref))
        return
    for headers in places(session, scope):
        ordered = headers[::-1] if how == "last" else headers
        asked = _counted(ordered, len(ordered) if scope.ref else None, on_progress)
        hits = finder.changes(asked) if how == "changes" else finder.every(asked)
        for hit in hits:
            yield hit
            if how in ("first", "last"):
                break


def _halved(finder: Finder, line: Sequence[Header]) -> Iterator[Hit]:
    try:
        hit = finder.bisect(line)
    except NotMonotone as error:
        raise UsageError(
            f"the condition does not stay true: it holds at {error.early.id} and not at {error.late.id}",
            hint="leave --bisect out, to ask every checkpoint",
        ) from error
    except Unsure as error:
        raise UsageError(
            f"{error.ref.id} has to be asked, and cannot answer: {error.reason}",
            hint="leave --bisect out, to ask every checkpoint",
        ) from error
    if hit is not None:
        yield hit


def grep(
    session: Session, search: Search, scope: Scope, on_progress: OnProgress | None = None
) -> Iterator[Found | Corrupt]:
    """Where the text stands, as it is found, parents before children; a Corrupt for each one that cannot be read."""
    done = 0
    for headers in places(session, scope):
        for header in headers:
            done += 1
            if on_progress is not None and not on_progress(done, len(headers) if scope.ref else None):
                raise Stopped
            try:
                checkpoint = session.load(header.ref)
            except StoreError as error:
                yield Corrupt(f"{header.ref.thread}@{header.ref.id}: {error}")
                continue
            yield from search.within(checkpoint)


def places(session: Session, scope: Scope) -> Iterator[Sequence[Header]]:
    """The checkpoints to be asked, a thread at a time, parents first."""
    if scope.ref is not None:
        view = session.open_thread(scope.ref.thread)
        yield _whole(view) if scope.every_branch else _line(view, scope.ref)
        return
    infos = session.threads()
    # Only families of forks are read as graphs: opening one looks at every thread of the store.
    related = {ref.thread for info in infos if info.forked_from for ref in (info.forked_from, Ref(info.thread, "", ""))}
    seen: set[Ref] = set()
    for info in infos:
        if info.thread not in related:
            yield session.headers_of(info.thread)
            continue
        # Each checkpoint of a family is asked once.
        fresh = [header for header in _whole(session.open_thread(info.thread)) if header.ref not in seen]
        seen.update(header.ref for header in fresh)
        yield fresh


def _whole(view: ThreadView) -> list[Header]:
    """Every checkpoint of the family, parents before children."""
    return [view.headers[row.ref] for row in view.rows(unfolded=frozenset(view.headers)) if row.kind == "checkpoint"]


def _line(view: ThreadView, ref: Ref) -> list[Header]:
    """Oldest first."""
    return [view.headers[each] for each in view.line(view.standing(ref))]


def _counted(headers: Sequence[Header], of: int | None, on_progress: OnProgress | None) -> Iterable[Header]:
    for done, header in enumerate(headers):
        if on_progress is not None and not on_progress(done, of):
            raise Stopped
        yield header


def _settled(session: Session, ref: Ref, path: Path) -> Path:
    """A pointer's digits as positions or keys, by the newest state."""
    try:
        state = session.load(ref).state
    except StoreError:
        return path
    settled = settle_path(state, path)
    try:
        get_path(state, settled)
    except (LookupError, TypeError):
        return path  # it may have been there earlier
    return settled
