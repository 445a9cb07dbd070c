"""Questions asked of the whole history: who wrote a value, when a condition came true, where a text stands.

Owns which checkpoints are asked, in which order, and telling how far that has come; the answers come one by one, and
nothing is read that nobody waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from stores.errors import Corrupt, StoreError
from stores.model import MISSING, Header, Opaque, Path, Ref, Value
from stores.paths import get_path, settle_path
from stores.scanning import Scanned, Unscanned
from tt_debug import blame
from tt_debug.errors import UsageError
from tt_debug.finding import Finder, Hit, NotMonotone, Tally, Unsure
from tt_debug.query import compile_expr
from tt_debug.searching import Found, Search, named, texts_of, within

if TYPE_CHECKING:
    from tt_debug.session.session import Session
    from tt_debug.session.thread_view import ThreadView

How = Literal["every", "first", "last", "changes", "bisect"]

_NO_TEXT: Final = frozenset({"bytes", "ndarray"})
"""Kinds of undecoded values in which nobody looks for a text."""

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
    place = _line(session.lineage(ref.thread), ref)
    newest_first = replace(place, refs=place.refs[::-1])
    tasks = session.scanner.tasks(newest_first.refs, session.load)
    book = blame.Book(place.view.headers.__getitem__, tasks)
    settled = _settled(session, ref, path)
    return blame.history(_with_states(session, newest_first, settled, on_progress), book, settled)


def change_before(session: Session, ref: Ref, path: Path, on_progress: OnProgress | None = None) -> Ref | None:
    """The nearest checkpoint before ``ref`` on its line at which the value of ``path`` changed, None without one.
    Raises Stopped."""
    return next((stop.ref for stop in history(session, ref, path, on_progress) if stop.ref != ref), None)


def change_after(session: Session, ref: Ref, end: Ref, path: Path, on_progress: OnProgress | None = None) -> Ref | None:
    """The nearest one after it, on the line that goes on to ``end``. Raises Stopped."""
    place = _line(session.lineage(end.thread), end)
    at = next((at for at, each in enumerate(place.refs) if each == ref), len(place.refs))
    after, settled = replace(place, refs=place.refs[at + 1 :]), _settled(session, ref, path)
    return blame.next_change(_with_states(session, after, settled, on_progress), session.load(ref).state, settled)


def _with_states(session: Session, place: Place, path: Path, on_progress: OnProgress | None = None) -> blame.Line:
    """The checkpoints of a line, each with as much of its state as ``path`` needs."""
    only = None if not path or not isinstance(path[0], str) else (path[0],)
    refs = _counted(place.refs, len(place.refs), on_progress)
    return zip(place.refs, session.scanner.states(refs, only), strict=False)


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
    finder = Finder(compile_expr(expression))
    if how in ("changes", "bisect", "last") and (scope.ref is None or scope.every_branch):
        raise UsageError(f"--{how} needs one line", hint="name a THREAD, and leave --all out")
    if how == "bisect":
        assert scope.ref is not None
        return Finding(_halved(session, finder, scope.ref), finder.tally)
    return Finding(_found(session, finder, scope, how, on_progress), finder.tally)


def _found(session: Session, finder: Finder, scope: Scope, how: How, on_progress: OnProgress | None) -> Iterator[Hit]:
    for place in places(session, scope):
        refs = place.refs[::-1] if how == "last" else place.refs
        asked = _counted(refs, len(refs) if scope.ref else None, on_progress)
        states = session.scanner.states(asked, finder.reads)
        for at, value in finder.changes(states) if how == "changes" else finder.every(states):
            yield _hit(place, refs[at], value)
            if how in ("first", "last"):
                break


def _hit(place: Place, ref: Ref, value: Value) -> Hit:
    header = place.view.headers[ref]
    return Hit(ref, header.step, value, header.nodes)


def _halved(session: Session, finder: Finder, ref: Ref) -> Iterator[Hit]:
    place = _line(session.lineage(ref.thread), ref)
    refs = place.refs
    try:
        found = finder.bisect(len(refs), lambda at: session.scanner.state(refs[at]))
    except NotMonotone as error:
        raise UsageError(
            f"the condition does not stay true: it holds at {refs[error.early].id} and not at {refs[error.late].id}",
            hint="leave --bisect out, to ask every checkpoint",
        ) from error
    except Unsure as error:
        raise UsageError(
            f"{refs[error.place].id} has to be asked, and cannot answer: {error.reason}",
            hint="leave --bisect out, to ask every checkpoint",
        ) from error
    if found is not None:
        yield _hit(place, refs[found[0]], found[1])


def grep(
    session: Session, search: Search, scope: Scope, on_progress: OnProgress | None = None
) -> Iterator[Found | Corrupt]:
    """Where the text stands, as it is found, parents before children; a Corrupt for each one that cannot be read, and
    for the first of a thread that holds values in a form which cannot be searched."""
    numbers = search.needle.in_numbers
    for place in places(session, scope):
        asked = _counted(place.refs, len(place.refs) if scope.ref else None, on_progress)
        closed: set[tuple[str, str]] = set()
        for ref, answer in session.scanner.holding(asked, search.needle):
            if isinstance(answer, Scanned):
                parts = (("state", answer.state), ("meta", answer.meta))
                texts = [each for part, values in parts for each in within(part, values, numbers=numbers)]
                if any(search.find(name) >= 0 for name in answer.writers):
                    texts += named(place.view.headers[ref].nodes)
                state = answer.state
            elif answer is Unscanned.ALONE:
                try:
                    checkpoint = session.load_once(ref)
                except StoreError as error:
                    yield Corrupt(f"{ref.thread}@{ref.id}: {error}")
                    continue
                texts, state = list(texts_of(checkpoint, numbers=numbers)), checkpoint.state
            else:
                continue
            yield from _unsearched(ref, state, closed)
            texts = [each for each in texts if search.find(each.text) >= 0]
            for found in search.within(ref, place.view.parent(ref), texts) if texts else ():
                header = place.view.headers[ref]
                yield replace(found, step=header.step, nodes=header.nodes)


def _unsearched(ref: Ref, state: Mapping[str, Value], closed: set[tuple[str, str]]) -> Iterator[Corrupt]:
    """The first of each thread's values whose texts nobody can read: encrypted, pickled."""
    for name, value in state.items():
        if isinstance(value, Opaque) and value.kind not in _NO_TEXT and (ref.thread, value.kind) not in closed:
            closed.add((ref.thread, value.kind))
            yield Corrupt(
                f"{ref.thread}@{ref.id}: {name} is stored as {value.kind}, and so may be others of the thread"
            )


@dataclass(frozen=True, slots=True)
class Place:
    """Checkpoints to be asked, of one graph, parents first."""

    view: ThreadView
    refs: Sequence[Ref]

    @property
    def headers(self) -> Sequence[Header]:
        """Of all of them, read now."""
        return [self.view.headers[ref] for ref in self.refs]


def places(session: Session, scope: Scope) -> Iterator[Place]:
    """The checkpoints to be asked, a thread at a time."""
    if scope.ref is not None:
        thread = scope.ref.thread
        yield _whole(session.open_thread(thread)) if scope.every_branch else _line(session.lineage(thread), scope.ref)
        return
    infos = session.threads(brief=True)
    # Only families of forks are read as graphs: opening one looks at every thread of the store.
    related = {ref.thread for info in infos if info.forked_from for ref in (info.forked_from, Ref(info.thread, "", ""))}
    seen: set[Ref] = set()
    for info in infos:
        if info.thread not in related:
            yield _whole(session.alone(info.thread))
            continue
        # Each checkpoint of a family is asked once.
        family = _whole(session.open_thread(info.thread))
        fresh = replace(family, refs=[ref for ref in family.refs if ref not in seen])
        seen.update(fresh.refs)
        yield fresh


def _whole(view: ThreadView) -> Place:
    """Every checkpoint of the family."""
    return Place(view, list(view.headers))


def _line(view: ThreadView, ref: Ref) -> Place:
    """Oldest first."""
    return Place(view, view.line(view.standing(ref)))


def _counted(refs: Sequence[Ref], of: int | None, on_progress: OnProgress | None) -> Iterable[Ref]:
    for done, ref in enumerate(refs):
        if on_progress is not None and not on_progress(done, of):
            raise Stopped
        yield ref


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
