"""The use cases. Front ends call this and nothing below it; it holds one store and no screen.

All methods are synchronous and thread-safe. They raise `stores.errors.StoreError` and
`tt_debug.errors.DebuggerError`, nothing else on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from stores.model import Change, Checkpoint, Diff, Header, Ref, StoreInfo, ThreadInfo, Value
from stores.runs import Approval, Run, StepRecord
from tt_debug.session.plans import GraphTarget, OnEvent, RunPlan, RunRequest, RunResult
from tt_debug.session.thread_view import ThreadView


class Session:
    """One open store and what can be done with it."""

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
        raise NotImplementedError

    def close(self) -> None:
        """Release the store; runs that were started go on."""
        raise NotImplementedError

    @property
    def info(self) -> StoreInfo:
        """What kind of store this is, with its password masked."""
        raise NotImplementedError

    # --- looking

    def threads(
        self,
        *,
        text: str = "",
        status: str | None = None,
        meta: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> tuple[ThreadInfo, ...]:
        """Newest write first. ``text`` is a case-insensitive part of the thread's name."""
        raise NotImplementedError

    def open_thread(self, thread: str) -> ThreadView:
        """The thread with every fork of it and what it was forked from, as one graph."""
        raise NotImplementedError

    def resolve(self, text: str) -> Ref:
        """A REF as typed: THREAD[@SELECTOR]. Raises RefNotFound, naming what was looked for."""
        raise NotImplementedError

    def header(self, ref: Ref) -> Header:
        """The header of one checkpoint."""
        raise NotImplementedError

    def load(self, ref: Ref) -> Checkpoint:
        """State and tasks, from a cache bounded in bytes or from the store."""
        raise NotImplementedError

    def steps(self, ref: Ref) -> tuple[StepRecord, ...]:
        """The executor's log entries for a checkpoint; empty in a store that is not ours."""
        raise NotImplementedError

    def diff(self, new: Ref, old: Ref | None = None) -> Diff:
        """What changed from ``old`` (default: the parent; nothing at all for a root) to ``new``."""
        raise NotImplementedError

    # --- writing

    def preview(self, ref: Ref, changes: Sequence[Change]) -> Mapping[str, Value]:
        """The state after ``changes``, stored nowhere. Raises Invalid with the path when it cannot be."""
        raise NotImplementedError

    def fork(
        self,
        ref: Ref,
        thread: str | None = None,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        adopt: Path | None = None,
    ) -> Header:
        """A new thread (default ``<thread>-fork-N``) from ``ref``; ``adopt`` binds it to a changed definition."""
        raise NotImplementedError

    def edit(self, ref: Ref, changes: Sequence[Change]) -> Header:
        """The same in the thread itself; it becomes the head that the application goes on from."""
        raise NotImplementedError

    # --- running

    def plan(self, request: RunRequest) -> RunPlan:
        """What would run, without running. Raises NotAHead, DefinitionChanged, UsageError."""
        raise NotImplementedError

    def execute(self, plan: RunPlan, on_event: OnEvent) -> RunResult:
        """Run it in a child process and block until that ends; ``on_event`` is called on this thread."""
        raise NotImplementedError

    def stop(self, thread: str, what: str) -> None:
        """Ask the thread's active run to "pause" after the current step, or to "cancel"."""
        raise NotImplementedError

    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        """Newest first; a run whose owner is dead is shown as crashed."""
        raise NotImplementedError

    def approvals(self, thread: str | None = None) -> tuple[Approval, ...]:
        """Open questions, oldest first."""
        raise NotImplementedError

    def answer(self, approval_id: str, answer: Value, by: str, *, reject: bool = False) -> Header:
        """Record an answer once; running stays with resume."""
        raise NotImplementedError

    # --- moving

    def export(self, thread: str) -> Iterator[Mapping[str, Value]]:
        """One plain object a checkpoint, oldest first, all namespaces, steps included."""
        raise NotImplementedError
