"""What an operator does: look after runs that nobody works on, decide cases, have runs go on.

Reached as ``session.operations``. Owns acting on plans of recovery; running itself is a child process of `worker`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from stores.errors import Conflict, NotFound, ReadOnly, StoreError, Unsupported
from stores.model import Header, Ref, Status
from stores.protocol import RunStore, Store
from stores.reopening import Reopened
from stores.runs import Approval, Run, RunStatus
from stores.supervision import Breakpoint
from tt_debug.engine import graph_recovery, recover, recovery
from tt_debug.engine.ownership import claimed
from tt_debug.engine.recovery import RecoveryPlan
from tt_debug.errors import UsageError
from tt_debug.query import check_condition
from tt_debug.session.answers import decisions
from tt_debug.session.figures import Figures, figures
from tt_debug.session.owners import known_runs
from tt_debug.session.plans import GraphTarget, OnEvent, RunResult
from tt_debug.session.preview import breakpoint_words as breakpoint_words
from tt_debug.session.run_records import Records, elsewhere

if TYPE_CHECKING:
    from tt_debug.session.journal import Journal

Mode = Literal["off", "log_only", "confirm", "auto"]
LONGEST_CONDITION: Final = 2000
"""Characters of a breakpoint's condition."""

MODES: Final[tuple[Mode, ...]] = ("off", "log_only", "confirm", "auto")
"""What a sweep does with a plan: nothing, remember it, ask, act."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What came of one plan in a sweep. ``result`` of a run that was run on, ``error`` where acting failed."""

    plan: RecoveryPlan
    acted: bool = False
    result: RunResult | None = None
    error: StoreError | None = None


class Operations:
    """The operator's use cases on one store. All raise Unsupported for a store that keeps no runs."""

    def __init__(self, store: Store, journal: Journal, records: Records, graph: GraphTarget | None = None) -> None:
        """``graph`` goes on with runs of a LangGraph thread instead of the one that they were begun with."""
        self._any_store = store
        self._journal = journal
        self._records = records
        self._graph = graph
        self._told: set[tuple[str, int, str]] = set()

    @property
    def _store(self) -> RunStore:
        """Where the runs are kept."""
        found = self._records.found
        if found is None:
            raise Unsupported(
                f"a {self._any_store.info.kind} store keeps no runs of ours", hint="its own runtime looks after them"
            )
        return found

    @property
    def _own(self) -> RunStore:
        """The store itself, for what only a runtime of ours heeds."""
        found = self._records.own
        if found is None:
            raise Unsupported(
                f"a {self._any_store.info.kind} store is not ours to mark", hint="its own runtime would not heed it"
            )
        return found

    def inbox(self, thread: str | None = None) -> tuple[Approval, ...]:
        """Everything that waits for a person, oldest first: questions, and decisions about runs."""
        from tt_debug.session import asking  # opens the journal's file, which listing the modes does not need

        found = asking.approvals(self._any_store, self._journal, thread)
        if self._records.found is not None:
            found = (*found, *self._records.found.cases(thread))
        return tuple(sorted(found, key=lambda asked: asked.since or datetime.min.replace(tzinfo=UTC)))

    def is_case(self, case_id: str) -> bool:
        """Whether that, or what alone begins so, is a case: a run that is decided about, rather than its effect."""
        known = (asked.id for asked in self._store.cases(status=None))
        return any(id == case_id or (len(case_id) >= 4 and id.startswith(case_id)) for id in known)

    def decide(self, case_id: str, decision: str, by: str) -> Run | None:
        """Decide a case; gives its run as it stands then.

        Raises UsageError for a decision that the case does not offer, Conflict when somebody was faster."""
        self._check_writable("resolve")
        asked = self._case(case_id)
        choices = decisions(asked)
        if choices and decision not in choices:
            raise UsageError(f"{asked.id} cannot be decided as {decision}", hint=f"one of {', '.join(choices)}")
        return self._store.resolve(asked.id, decision, by)

    def retry(self, name: str, by: str) -> Run:
        """Have a failed or crashed run go on, by whoever takes it next. ``name`` is a run, its beginning, or a thread.

        Raises NotFound, Conflict for a run in another status or one that is held."""
        self._check_writable("retry")
        run = self._run(name)
        case = next((asked for asked in self._store.cases(run.thread) if asked.run_id == run.run_id), None)
        if case is not None and case.kind == "failed":
            return self._store.resolve(case.id, "retry", by) or run
        if run.status == RunStatus.RUNNING:
            raise Conflict(f"run {run.run_id} of {run.thread!r} is at work", hint="pause or cancel it first")
        done = self._store.requeue(run.run_id, run.until)
        self._store.log_event("retried", {"by": by}, run_id=run.run_id, thread=run.thread)
        return done

    def protect(self, thread: str, protected: bool) -> None:
        """Whether cleaning up leaves the thread alone whatever its age."""
        self._check_writable("protect")
        self._own.protect(thread, protected)

    def cancel_by_force(self, thread: str) -> Run:
        """Take the thread's run over from whoever works on it, and end it. Raises NotFound when it has none."""
        self._check_writable("cancel")
        active = next((run for run in self._store.runs(thread) if run.status in RunStatus.ACTIVE), None)
        if active is None:
            raise NotFound(f"no active run on {thread!r}", hint="tt-debug runs STORE lists them")
        return recover.stop(self._store, active.run_id, "cancel", force=True)

    def figures(self) -> Figures:
        """Recoveries and what came of them, writes, what waits."""
        return figures(self._store)

    # --- breakpoints

    def breakpoints(self, thread: str | None = None) -> tuple[Breakpoint, ...]:
        """Oldest first; of a thread, those of all threads are among them."""
        return self._own.breakpoints(thread)

    def set_breakpoint(self, wanted: Breakpoint) -> Breakpoint:
        """Keep it under the next free id, unless it is there already. Raises UsageError for a bad condition."""
        self._check_writable("break")
        if wanted.condition is not None:
            if len(wanted.condition) > LONGEST_CONDITION:
                raise UsageError(f"a condition has at most {LONGEST_CONDITION} characters")
            check_condition(wanted.condition)
        taken = {each.id for each in self._own.breakpoints()}
        id = next(f"b{number}" for number in range(1, len(taken) + 2) if f"b{number}" not in taken)
        return self._own.set_breakpoint(replace(wanted, id=id))

    def replace_breakpoint(self, id: str, wanted: Breakpoint) -> Breakpoint:
        """Another one in the place of ``id``; its hits are counted anew. At no moment is there none. Raises as setting
        and clearing do."""
        made = self.set_breakpoint(wanted)
        if made.id != id:
            self.clear_breakpoint(id)
        return made

    def clear_breakpoint(self, id: str) -> None:
        """Raises NotFound."""
        self._check_writable("break")
        if not self._own.clear_breakpoint(id):
            raise NotFound(f"no breakpoint {id}", hint="tt-debug break STORE lists them")

    # --- recovery

    def sound(self, thread: str) -> tuple[Header, ...]:
        """The newest checkpoints of the thread's line that are what was written, from which it can be forked."""
        from tt_debug.engine.gate import intact  # 57 ms of pydantic, for a damaged line only

        return intact(self._own, thread)

    def fault(self, thread: str) -> tuple[Ref, str] | None:
        """The newest checkpoint of the thread's line that is not what was written, and what is wrong with it."""
        return self._own.fault(self._own.head(thread))

    def plans(self, threads: Sequence[str] = ()) -> tuple[RecoveryPlan, ...]:
        """What was found of runs that nobody works on, oldest first."""
        if self._records.own is None:
            return () if self._records.found is None else tuple(graph_recovery.plans(self._records.found, threads))
        return tuple(recovery.plans(self._store, self._store.time(), threads))

    def act(self, plan: RecoveryPlan, on_event: OnEvent) -> RunResult | None:
        """Do what the plan says, and wait for the run to end; None where nothing was run.

        Raises Conflict when somebody else took the run since."""
        self._check_writable("recover")
        store = self._store
        if plan.action == "hold":
            with claimed(store, plan.run) as mine:
                case = recovery.recovery_case(mine, plan.then.removeprefix("hold it: "), plan.kind, holds=True)
                store.finish(mine.run_id, mine.token, RunStatus.CRASHED, str(case.prompt), case=case)
        elif plan.action == "reject" and plan.case is not None:
            store.answer(plan.case, plan.evidence, "nobody", reject=True)
        elif plan.action == "expire" and plan.case is not None:
            store.expire(plan.case, plan.evidence)
        elif plan.action == "run":
            if plan.run.recoveries >= recovery.ALERT_AFTER:
                why = f"recovered {plan.run.recoveries + 1} times"
                with suppress(StoreError):  # an alert that cannot be kept must not keep the run from going on
                    store.open_case(recovery.recovery_case(plan.run, why, holds=False))
            return self.run_on(plan.run, on_event)
        return None

    def refuse_copy(self) -> None:
        """Raises Conflict where the store is a copy that nobody has agreed yet to run code in."""
        copied = None if self._records.own is None else copied_note(self._store)
        if copied is not None:
            raise Conflict(copied, hint="run or resume one of its threads yourself: that asks, and settles it")

    def run_on(self, run: Run, on_event: OnEvent) -> RunResult:
        """Run a run that nobody works on, in a child process, to its end. Raises Conflict when somebody does."""
        self._check_writable("run")
        if self._records.own is None:
            from tt_debug.session.graph_recovery import run_on

            return run_on(self._any_store, self._journal, self._store, run, self._graph, on_event)
        self.refuse_copy()
        from tt_debug.engine.worker import WorkflowJob, run_workflow

        store = self._store
        url = store.secret_url if isinstance(store, Reopened) else store.info.path or ""
        ended = run_workflow(WorkflowJob(url, run.run_id, seen=(run.status, run.token)), on_event)
        return RunResult(ended.run, ended.thread, ended.status, ended.head, ended.error)

    def sweep(
        self,
        mode: Mode,
        on_event: OnEvent,
        *,
        threads: Sequence[str] = (),
        agree: Callable[[RecoveryPlan], bool] = lambda plan: False,
        due: bool = False,
    ) -> Iterator[Swept]:
        """Look once at every run, and do as ``mode`` says; what is not acted on is told of once while it stands so.

        ``due`` leaves runs alone that wait for their next attempt; else the wait is part of running them.
        Every plan that is new is kept as an event, so that what would have been done can be compared with what
        happened. What goes wrong with one run is told, and the sweep goes on."""
        if mode == "off":
            return
        for plan in self.plans(threads):
            if due and self._is_later(plan.after):
                continue
            is_new = plan.key not in self._told
            self._told.add(plan.key)
            wanted = plan.action != "wait" and (mode == "auto" or (mode == "confirm" and is_new and agree(plan)))
            if not wanted and not is_new:
                continue
            try:
                if is_new:
                    self._remember(plan, mode)
                yield Swept(plan, wanted, self.act(plan, on_event) if wanted else None)
            except StoreError as error:
                yield Swept(plan, wanted, error=error)

    def ready(self, threads: Sequence[str] = ()) -> tuple[Run, ...]:
        """Runs that wait for somebody to run them: answered, decided about, or never begun; oldest first.

        One that waits for its next attempt is ready once that may begin."""
        found = (run for run in reversed(self._store.runs()) if run.status == RunStatus.PENDING)
        return tuple(run for run in found if _among(run, threads) and not self._is_later(run.available))

    def awaits(self, threads: Sequence[str] = ()) -> bool:
        """Whether a run that nobody works on only waits for the time of its next attempt."""
        left = [run.available for run in self._store.runs() if run.status == RunStatus.PENDING and _among(run, threads)]
        return any(map(self._is_later, [*left, *(plan.after for plan in self.plans(threads))]))

    def _is_later(self, time: datetime | None) -> bool:
        return time is not None and time > self._store.time()

    def _remember(self, plan: RecoveryPlan, mode: str) -> None:
        run = plan.run
        data = {"action": plan.action, "evidence": plan.evidence, "then": plan.then, "mode": mode, "token": run.token}
        self._store.log_event("recovery_plan", data, run_id=run.run_id, thread=run.thread)

    def _case(self, case_id: str) -> Approval:
        """By its id, or the beginning of one that is open. An id that is not open is left to the store to refuse."""
        known = self._store.cases()
        found = [asked for asked in known if asked.id == case_id] or [
            asked for asked in known if len(case_id) >= 4 and asked.id.startswith(case_id)
        ]
        if len(found) > 1:
            raise NotFound(f"{case_id!r} fits {len(found)} open cases", hint="give more of the id")
        return found[0] if found else Approval(case_id, "", "", "", "", None, kind="failed")

    def _run(self, name: str) -> Run:
        runs = self._store.runs()
        found = [run for run in runs if run.run_id == name] or [run for run in runs if run.thread == name][:1]
        found = found or [run for run in runs if len(name) >= 4 and run.run_id.startswith(name)]
        if len(found) != 1:
            what = f"no run {name!r}" if not found else f"{name!r} fits {len(found)} runs"
            raise NotFound(what, hint="tt-debug runs STORE lists them")
        return found[0]

    def _check_writable(self, what: str) -> None:
        if self._any_store.info.read_only:
            raise ReadOnly(f"{what} writes, and {self._any_store.info.url} is open for reading only")


def copied_note(store: RunStore) -> str | None:
    """What has to be agreed to before code is run in a copied store; None where it is none."""
    original = store.copied_from()
    if original is None:
        return None
    still = "is there" if Path(original).exists() else "is not there any more"
    return (
        f"copied store: its runs were run in {original}, which {still}; what they do outside may be done there as well"
    )


def _among(run: Run, threads: Sequence[str]) -> bool:
    return not threads or run.thread in threads


def needs_attention(store: Store) -> int:
    """How many runs on the store's threads crashed or are held, for a badge. 0 where there were none."""
    if isinstance(store, RunStore):
        return _in_need(store)
    with elsewhere(store) as records:
        return 0 if records is None else _in_need(records)


def _in_need(records: RunStore) -> int:
    return sum(run.shown in (Status.CRASHED, Status.HELD) for run in known_runs(records))
