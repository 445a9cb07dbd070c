"""The use cases. Front ends call this and nothing below it; it holds one store and no screen.

All methods are synchronous and thread-safe. They raise `stores.errors.StoreError` and
`tt_debug.errors.DebuggerError`, nothing else on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Self

from stores.errors import NotFound, ReadOnly
from stores.protocol import Interruptible, ListsByAddress, Store
from stores.registry import open_store
from tt_debug.errors import RefNotFound
from tt_debug.session import addresses, listing, owners, running
from tt_debug.session.cache import CheckpointCache
from tt_debug.session.doors import Doors
from tt_debug.session.journal import Journal
from tt_debug.session.listing import OnPage, ThreadQuery

if TYPE_CHECKING:
    from pathlib import Path

    from stores.model import Change, Checkpoint, Diff, Header, Ref, StoreInfo, ThreadInfo, Value
    from stores.runs import Approval, Run, StepRecord
    from tt_debug.redaction import Redaction
    from tt_debug.session.plans import GraphTarget, OnEvent, RunPlan, RunRequest, RunResult
    from tt_debug.session.thread_view import ThreadView


class Session(Doors):
    """One open store and what can be done with it."""

    def __init__(self, store: Store, journal: Journal, code: running.Code) -> None:
        super().__init__(store, journal, code)
        self._cache = CheckpointCache()
        self._definitions: dict[Ref, str] = {}
        self.headers_of: Callable[[str], list[Header]] = partial(listing.every_header, store)
        """A thread's checkpoints alone, all namespaces, oldest first; its forks are `open_thread`'s to find."""
        self.alone: Callable[[str], ThreadView] = partial(listing.open_view, store, journal, alone=True)
        """The same as a graph."""
        self.lineage: Callable[[str], ThreadView] = partial(listing.open_lineage, store, journal)
        """The same with what it goes on from, in other threads too: its lines are whole."""
        self.split: Callable[[str], tuple[str, str]] = partial(addresses.split, store)
        """Thread and selector of a REF. Raises RefNotFound when there is no such thread."""
        self.has_brief = isinstance(store, ListsByAddress)
        """Whether a brief list of threads is there long before the whole one."""
        self.interrupt: Callable[[int], None] = store.interrupt if isinstance(store, Interruptible) else _go_on
        """End what another thread (`threading.get_ident`) is asking the store: nobody waits for the answer."""

    @classmethod
    def open(
        cls,
        url: str,
        *,
        read_only: bool = False,
        graph: GraphTarget | None = None,
        workflow: Path | None = None,
    ) -> Self:
        """Open a store for looking; nothing is written or created. ``graph``/``workflow`` serve later runs."""
        store = open_store(url, read_only=read_only)
        return cls(store, Journal(store.info.store_id), running.Code(graph, workflow))

    def close(self) -> None:
        """Release the store; runs that were started go on."""
        self._store.close()
        self._records.close()

    @property
    def info(self) -> StoreInfo:
        """What kind of store this is, with its password masked."""
        return self._store.info

    # --- looking

    def threads(
        self,
        *,
        text: str = "",
        status: str | None = None,
        meta: Mapping[str, str] | None = None,
        limit: int | None = None,
        on_thread: Callable[[ThreadInfo], bool] | None = None,
        hidden: bool = False,
        brief: bool = False,
    ) -> tuple[ThreadInfo, ...]:
        """Newest write first. ``text`` is a case-insensitive part of the thread's name; ``hidden``: with the forks of
        ours that were taken back; ``brief``: without what would have to be read in states.

        ``on_thread`` is told of each as it is read, and stops the reading by answering False."""
        every = (listing.brief_threads if brief else listing.every_thread)(self._store, self._journal)
        if not hidden:
            every = listing.in_sight(every, self._journal)
        if on_thread is not None:
            every = takewhile(on_thread, every)
        return listing.matching(every, ThreadQuery(text, status, meta, limit))

    def open_thread(self, thread: str, on_page: OnPage | None = None) -> ThreadView:
        """The thread with every fork of it and what it was forked from, as one graph.

        ``on_page`` is told from time to time how far that has come, and stops it by answering False."""
        return listing.open_view(self._store, self._journal, thread, on_page)

    def resolve(self, text: str) -> Ref:
        """A REF as typed: THREAD[@SELECTOR]. Raises RefNotFound, naming what was looked for."""
        return addresses.resolve(self, text)

    def load(self, ref: Ref) -> Checkpoint:
        """State and tasks, from a cache bounded in bytes or from the store."""
        found = self._cache.get(ref)
        if found is None:
            from tt_debug.session import forking  # with what forks need, 5 ms

            found = forking.rooted(self._journal, owners.loaded(self._store, ref))
            if not self._may_change(ref):
                self._cache.put(found)
        return found

    def _may_change(self, ref: Ref) -> bool:
        """Results and questions are written to a head until its step ends; what lies behind it stays as it is."""
        try:
            return self._store.head(ref.thread, ref.ns) == ref
        except NotFound:
            return True

    def steps(self, ref: Ref) -> tuple[StepRecord, ...]:
        """The executor's log entries for a checkpoint; empty in a store that is not ours."""
        return self._records.own.steps(ref=ref) if self._records.own is not None else ()

    def diff(self, new: Ref, old: Ref | None = None) -> Diff:
        """What changed from ``old`` (default: the parent; nothing at all for a root) to ``new``."""
        from tt_debug.diff import diff

        after = self.load(new)
        before = old or after.header.parent
        try:
            start = self.load(before).state if before is not None else {}
        except NotFound as error:
            raise RefNotFound(f"the parent of {new.id} is not in the store", hint="name the other side") from error
        return diff(start, after.state)

    # --- writing

    def preview(self, ref: Ref, changes: Sequence[Change]) -> Mapping[str, Value]:
        """The state after ``changes``, stored nowhere. Raises Invalid with the path when it cannot be."""
        from tt_debug.session import forking

        return forking.checked(self._store, self.load(ref), changes, self._definition(ref))

    def fork(
        self,
        ref: Ref,
        thread: str | None = None,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        adopt: Path | None = None,
        fresh_effects: bool = False,
    ) -> Header:
        """A new thread (default ``<thread>-fork-N``) from ``ref``; ``adopt`` binds it to a changed definition.

        It is given the effects on record of the line it leaves, unless ``fresh_effects``."""
        self._refuse_if_read_only("fork")
        from tt_debug.session import forking

        self.preview(ref, changes)
        name = None if thread is None else forking.new_name(self._store, ref.thread, thread)
        fork = forking.Fork(ref, name, tuple(changes), keep_results, adopt, fresh_effects)
        made = forking.fork(self._store, self._journal, fork)
        self.undoing.note("fork", made.ref, ref)
        return made

    def edit(self, ref: Ref, changes: Sequence[Change]) -> Header:
        """The same in the thread itself; it becomes the head that the application goes on from."""
        self._refuse_if_read_only("edit")
        from tt_debug.session import forking

        self.preview(ref, changes)
        made = forking.edit(self._store, ref, changes)
        self.undoing.note("edit", made.ref, ref)
        return made

    def free_name(self, thread: str) -> str:
        """The first of ``<thread>-fork-1``, ``-2``, … that no thread has."""
        from tt_debug.session import forking

        return forking.free_name(self._store, thread)

    # --- running

    def plan(self, request: RunRequest) -> RunPlan:
        """What would run, without running. Raises NotAHead, DefinitionChanged, WaitingForAnswer, UsageError."""
        if request.action != "replay":
            self._refuse_if_read_only(request.action)
        planned = running.plan(self._store, self._journal, self._code, request)
        if not planned.from_record:  # what comes from the record is kept apart, and nothing of it in the store
            self._refuse_if_read_only(request.action)
        return planned

    def execute(self, plan: RunPlan, on_event: OnEvent) -> RunResult:
        """Run it in a child process and block until that ends; ``on_event`` is called on this thread."""
        if not plan.from_record:
            self._refuse_if_read_only(plan.request.action)
        return running.execute(self._store, self._journal, plan, on_event)

    def stop(self, thread: str, what: str) -> None:
        """Ask the thread's active run to "pause" after the current step, or to "cancel"."""
        self._refuse_if_read_only(what)
        running.stop(self._store, thread, what)

    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        """Newest first; a run whose owner is dead is shown as crashed."""
        return running.runs(self._store, thread)

    def approvals(self, thread: str | None = None) -> tuple[Approval, ...]:
        """Open questions, oldest first."""
        from tt_debug.session import asking  # with effects and retries, 20 ms

        return asking.approvals(self._store, self._journal, thread)

    def answer(
        self, approval_id: str, answer: Value, by: str, *, reject: bool = False, thread: str | None = None
    ) -> Header:
        """Record an answer once; running stays with resume. ``thread`` says whose, where copies ask the same."""
        self._refuse_if_read_only("answer")
        from tt_debug.session import asking

        return asking.answer(self._store, self._journal, asking.Reply(approval_id, answer, by, reject, thread))

    # --- moving

    def export(self, thread: str, hiding: Redaction | None = None) -> Iterator[Mapping[str, Value]]:
        """One plain object a checkpoint, oldest first, all namespaces, steps included."""
        from tt_debug.redaction import NOTHING
        from tt_debug.session.exporting import lines_of
        from tt_debug.session.records import form_of

        known = (info for info in listing.every_thread(self._store, self._journal) if info.thread == thread)
        form = form_of(self.info.kind, hiding or NOTHING)
        return lines_of(self._store, self.open_thread(thread), next(known, None), form)

    def _definition(self, ref: Ref) -> str | None:
        """Kept once found: a form checks its text against it at every key."""
        if ref not in self._definitions:
            found = running.definition_body(self._store, self._journal, ref)
            if found is None:
                return None
            self._definitions[ref] = found
        return self._definitions[ref]

    def _refuse_if_read_only(self, what: str) -> None:
        if self._store.info.read_only:
            raise ReadOnly(f"{what} writes, and {self.info.url} is open for reading only", hint="leave out --read-only")


def _go_on(thread: int) -> None:
    """For a store that this process reads itself: what was begun is answered soon."""
