"""The contract between the debugger and a checkpoint store.

Every method is synchronous and may be called from any thread. Adapters raise only `stores.errors.StoreError`s.
What an adapter cannot do it leaves out of ``info.capabilities`` and answers with `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from stores.model import Addresses, Change, Checkpoint, Header, NewCheckpoint, Page, Ref, StoreInfo, ThreadInfo, Value
from stores.supervised import Breakpoints, Supervised

if TYPE_CHECKING:
    from stores.effects import Begun, Effect, EffectCall, EffectUse
    from stores.runs import Approval, Definition, Run, StepCommit, StepRecord
    from stores.supervision import BreakpointHit


@runtime_checkable
class Store(Protocol):
    """Reading. Never writes: the store's bytes and the list of files beside it stay as they were.

    Order. ``threads`` lists the newest write first. ``headers`` lists one thread's checkpoints, all namespaces,
    newest first, where a child always comes before its parent; both are stable under reload. ``after`` is the
    ``next`` of the page before; ``limit`` is the most items of a page, 0 gives none, below 0 raises ValueError.

    Errors. ``headers`` and ``head`` raise NotFound for an unknown thread, ``load`` for an unknown checkpoint;
    ``load`` raises Corrupt for a checkpoint that cannot be read at all. A row that is damaged in part is
    listed, with ``Header.problem``, and never hides its neighbours.
    """

    @property
    def info(self) -> StoreInfo: ...

    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]: ...

    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]: ...

    def head(self, thread: str, ns: str = "") -> Ref:
        """What the runtime itself would load and go on from."""
        ...

    def load(self, ref: Ref) -> Checkpoint: ...

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        ...


@runtime_checkable
class Interruptible(Protocol):
    """A store whose questions can be ended before they are answered: its server works on them, not this process."""

    def interrupt(self, thread: int) -> None:
        """End the question that a thread (`threading.get_ident`) is asking, if any: there it raises Busy.

        Called from another thread; may take a few seconds. A write is never ended so.
        """
        ...


@runtime_checkable
class TellsCopies(Protocol):
    """A store whose rows tell by themselves which threads are copies of others: by ids that both have."""

    def copies(self) -> Mapping[str, Ref]:
        """Thread → the newest checkpoint that it has in common with an older thread, in that one."""
        ...


@runtime_checkable
class TellsAddresses(Protocol):
    """A store that tells where a thread's checkpoints are for a small part of what their headers cost.

    What a header shows beside that can be asked for where it is looked at.
    """

    def addresses(self, thread: str) -> Addresses:
        """All of a thread. Raises NotFound."""
        ...

    def headers_at(self, thread: str, refs: Sequence[Ref]) -> Sequence[Header]:
        """Those of one thread at these addresses, in any order; of those that are gone there is none."""
        ...


@runtime_checkable
class ListsByAddress(TellsAddresses, Protocol):
    """One whose ids have the time and the step in them: a list can show its checkpoints before their headers are read.

    Its rows do not tell which thread was forked from which.
    """

    def threads_at(self) -> Sequence[ThreadInfo]:
        """Every thread, in the order of ``threads``, as far as addresses tell."""
        ...


@runtime_checkable
class TellsVersion(Protocol):
    """A store that can be looked at all the time for what somebody else has written to it."""

    def version(self) -> object:
        """Another one as soon as a question would see what somebody else has committed. Costs next to nothing."""
        ...


@runtime_checkable
class TellsUntold(Protocol):
    """A store whose rows may leave open what runs next: only the graph itself knows it then."""

    def untold(self, ref: Ref) -> tuple[str, ...]:
        """The nodes that were gone through and whose edges out lead nobody knows where: on, or to the end."""
        ...


@runtime_checkable
class Writer(Protocol):
    """Appending. There is no update and no delete: history is append-only.

    Each call is one transaction: after an error nothing has been written. `ReadOnly` when the store was opened so.
    """

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> Header:
        """Insert one checkpoint. The same id with the same content returns the one that is there.

        ``fence`` is (run id, token). Raises Conflict for the same id with other content, NotFound for a parent
        that is not there, LeaseLost for an old token, Invalid (with the path) for a value the store would change.
        """
        ...

    def fork(
        self,
        base: Ref,
        thread: str,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> Header:
        """Append a copy of ``base`` with ``changes`` applied as the head of ``thread``; the base stays as it is.

        ``thread`` is new (source "fork"), or the base's own: then it is an edit (source "edit" where the store is
        ours, "fork" or "update" in a foreign one) and becomes the head its application goes on from. It is
        taken at the head only, so that of two edits of the same state one is refused: Conflict.
        The new checkpoint keeps the base's ``next``. ``keep_results`` (LangGraph only, in a new thread) keeps what the
        tasks of the base's own superstep have done: where the base has children, and with ``changes``, where they
        would start anew otherwise. Raises NotFound, Conflict when a new ``thread`` exists, Invalid when a change does
        not apply or a value cannot be stored.
        """
        ...


class EffectLedger(Protocol):
    """The part of a RunStore that keeps what its runs ask of the world outside, and what they complete in parts."""

    def commit_substep(self, commit: StepCommit) -> Header:
        """One transaction: a part of the running node completed with its output (``step.substep`` names it), and a
        checkpoint with source "substep" that is the head from now on. The step and the run go on running."""
        ...

    def substeps(self, ref: Ref) -> Mapping[str, Value]:
        """The outputs of the parts that the node unfinished at ``ref`` has completed, by name, across forks; only of
        those that started from the very state that ``ref`` has."""
        ...

    def begin_effect(self, run_id: str, token: int, call: EffectCall) -> Begun:
        """The entry of the ledger that the call meets, as `stores.effects.meet` chooses it, and the call's use of it.

        A new entry is durable as an intent before anything is called (one with ``has_value`` as done); one that is
        planned or failed becomes an intent again. A conflict that nobody has decided stands as an entry of that
        status, and as no use."""
        ...

    def end_effect(
        self, run_id: str, token: int, key: str, status: str, result: Value = None, error: str | None = None
    ) -> Effect:
        """What came of the call: `stores.effects.EffectStatus` done with its result, failed, or unknown. An entry that
        another run has answered meanwhile stays as it is, and is given back."""
        ...

    def hold(self, run_id: str, token: int, step: StepRecord, asked: Approval, key: str) -> Run:
        """One transaction: the attempt ended as ``step`` says, the question about the effect ``key`` open, the run
        crashed with ``asked.kind`` as its hold reason. `answer` resolves it: {"as": "done", "result": …}, or "retry",
        "skip", "new-key" of an unknown outcome, "new", "reuse", "skip" of a conflict; the run becomes pending."""
        ...

    def effects_at(self, slot: str) -> Sequence[Effect]:
        """Every entry of a place (`stores.effects.Slot.key`), oldest first."""
        ...

    def effects(self, thread: str | None = None, run_id: str | None = None) -> tuple[EffectUse, ...]:
        """Every use of an effect by the runs of a thread, or by one run, in the order of the steps."""
        ...


@runtime_checkable
class RunStore(Store, Writer, Supervised, Breakpoints, EffectLedger, Protocol):
    """A store the embedded executor can run in, with its records: definitions, runs, the step log, approvals.

    Every state transition is decided by a WHERE clause, never by code that read first. A write that carries
    (run, token) raises LeaseLost when the token is no longer the newest; how tokens come about is
    `stores.supervised.Supervised`. Exactly one run per thread is active (pending, running, waiting, paused, crashed);
    creating a second raises Conflict naming the first.
    """

    def blob(self, digest: str) -> bytes:
        """A binary value that a state refers to (`stores.blobs`), by its SHA-256. Corrupt where it is gone, or is not
        what was written."""
        ...

    def put_definition(self, definition: Definition) -> None:
        """Keep it under its hash; idempotent. Conflict when the same workflow and version has another body."""
        ...

    def definition(self, hash: str) -> Definition: ...

    def registered(self, workflow_id: str, version: str) -> Definition | None:
        """The one definition of that workflow and version, None when there is none."""
        ...

    def create_run(self, run: Run, first: NewCheckpoint | None = None) -> Run:
        """Insert a pending run; ``first`` is a new thread's input checkpoint, in the same transaction."""
        ...

    def start_step(self, run_id: str, token: int, step: StepRecord) -> None:
        """Log a step, or a further attempt of it, as running. Durable before its node's code is called."""
        ...

    def commit_step(self, commit: StepCommit) -> Header:
        """One transaction: the step completed with its output, its checkpoint, the thread's and the run's head,
        the run's new status, an opened approval, the next step running, and the business statements executed, each
        entered as a done effect. Invalid, and nothing written, for a statement that fails or touches our tables."""
        ...

    def fail_step(
        self,
        run_id: str,
        token: int,
        step: StepRecord,
        *,
        run_status: str | None = None,
        case: Approval | None = None,
        hit: BreakpointHit | None = None,
    ) -> None:
        """Log an attempt as failed, or abandoned; ``run_status`` ("failed", "cancelled", "paused", "crashed") also
        ends or stops the run, in the same transaction. ``step.next_attempt_at`` persists a wait: `Run.available`.

        ``case`` is put into the inbox with it; with "crashed" its kind is what holds the run until it is resolved.
        ``hit`` is the breakpoint that it stops at: counted, and kept as an event."""
        ...

    def finish(
        self,
        run_id: str,
        token: int,
        status: str,
        error: str | None = None,
        *,
        case: Approval | None = None,
        hit: BreakpointHit | None = None,
    ) -> Run:
        """Set the run's status without a checkpoint: paused, cancelled, failed, completed, crashed.

        A run that was asked to cancel meanwhile is cancelled instead of paused. ``case`` and ``hit`` as in
        ``fail_step``."""
        ...

    def requeue(self, run_id: str, until: str | None) -> Run:
        """paused, crashed or failed → pending, with a new stop condition; a failed run's open case is withdrawn.

        Conflict from any other status, and for a run that is held."""
        ...

    def request(self, run_id: str, what: str) -> Run:
        """Ask the owner to "pause" or "cancel" at the next step boundary; acts at once on a run nobody is running."""
        ...

    def run(self, run_id: str) -> Run: ...

    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        """Newest first."""
        ...

    def steps(self, run_id: str | None = None, ref: Ref | None = None) -> tuple[StepRecord, ...]:
        """The log of a run, or the attempts whose step ended at ``ref`` or failed starting from it; oldest first.

        ``input`` is filled for a ``ref`` only: a long run's log would hold every state of it.
        """
        ...

    def visits(self, ref: Ref) -> Mapping[str, int]:
        """How often each node was completed on the line that ends at ``ref``, across forks."""
        ...

    def approvals(self, thread: str | None = None, status: str | None = "open") -> tuple[Approval, ...]:
        """Oldest first, of the kinds that are answered: `stores.runs.QUESTIONS`."""
        ...

    def answer(self, approval_id: str, answer: object, by: str, *, reject: bool = False) -> Header:
        """Record an answer once, by compare-and-set: a checkpoint with source "answer" holds it in the state,
        and the waiting run becomes pending. Conflict names who answered first.

        What follows is decided by ``meta["edges"]`` of the suspended checkpoint: [{"when": JMESPath | null,
        "to": node | null}], tried in order; Invalid, and nothing written, when none matches. ``reject`` stores
        {"approved": false, "reason": answer} as the answer."""
        ...
