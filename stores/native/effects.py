"""The effect ledger in the native tables: each transition under the fence of the run that makes it.

Owns the transactions; the rows are `effect_rows`, which entry a call meets is `stores.effects.meet`.
"""

from __future__ import annotations

from collections.abc import Sequence

from stores.effects import Begun, Effect, EffectCall, EffectClass, EffectStatus, EffectUse, meet
from stores.model import Header, Ref, Value
from stores.native import effect_rows
from stores.native import steps as step_rows
from stores.native.business import execute_statements
from stores.native.database import Database
from stores.native.fencing import Owned, fenced, made_by
from stores.native.inbox import insert_approval
from stores.native.rows import header_at, put_checkpoint
from stores.native.run_rows import run_at
from stores.native.runs import NativeRuns, let_go
from stores.native.schema import version_of
from stores.native.states import keep_binaries
from stores.points import point
from stores.rereading import rereading
from stores.runs import Approval, Run, StepCommit, StepRecord

_EFFECTS_SINCE = 3
"""The schema that the ledger came with: a file that nobody has written to since has none."""


class NativeEffects(NativeRuns):
    """The effects part of `stores.protocol.RunStore`."""

    def begin_effect(self, run_id: str, token: int, call: EffectCall) -> Begun:
        """The entry that the call meets; where there is something to call, durable as an intent before it is."""
        with self._writing() as db, fenced(db, self._fence(run_id, token)) as thread:
            (decided,) = db.execute("SELECT on_conflict FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            met = meet(effect_rows.of_slot(db, call.slot.key), call, decided)
            key = met.found.key if met.found is not None else met.key
            before = None if met.found is None else met.found.status
            owner = (run_id, token)
            if met.found is None:
                effect_rows.put(db, call, key, met.status, met.result, thread=thread, run=owner)
            elif before in (EffectStatus.PLANNED, EffectStatus.FAILED):
                effect_rows.put(db, call, key, EffectStatus.INTENT, thread=thread, run=owner)
            point("native.effect-entered")
            status = effect_rows.at(db, key).status
            called = status == EffectStatus.INTENT or (call.has_value and before is None)
            asks = status in (EffectStatus.UNKNOWN, EffectStatus.CONFLICT)
            if not asks and (before, call.kind) != (EffectStatus.INTENT, EffectClass.AT_MOST_ONCE):
                effect_rows.use(db, run_id, call, key, called=called)
            point("native.effect-begun")
            return Begun(effect_rows.at(db, key), before)

    def end_effect(
        self, run_id: str, token: int, key: str, status: str, result: Value = None, error: str | None = None
    ) -> Effect:
        """What came of the call: done with its result, or failed."""
        with self._writing() as db, fenced(db, self._fence(run_id, token)):
            effect_rows.end(db, key, status, keep_binaries(db, result), error)
            point("native.effect-ended")
            return effect_rows.at(db, key)

    def hold(self, run_id: str, token: int, step: StepRecord, asked: Approval, key: str) -> Run:
        """The attempt abandoned, the question open, the run crashed with the question's kind as its hold reason."""
        with self._writing() as db, fenced(db, self._fence(run_id, token)) as thread:
            (head,) = db.execute("SELECT head FROM threads WHERE thread_id = ?", (thread,)).fetchone()
            step_rows.end(db, step, Ref(thread, "", ""), head, token)
            insert_approval(db, asked)
            effect_rows.ask(db, key, asked.id)
            point("native.effect-held")
            let_go(db, run_id, asked.kind, step.error)
            return run_at(db, run_id)

    def commit_substep(self, commit: StepCommit) -> Header:
        """The part's output and a checkpoint that is the head from now on; the node goes on running."""
        return self._once(commit, _commit_substep)

    @rereading
    def effects_at(self, slot: str) -> Sequence[Effect]:
        """Every entry of a place, oldest first."""
        with self._reading() as db:
            return effect_rows.of_slot(db, slot) if version_of(db) >= _EFFECTS_SINCE else ()

    @rereading
    def effects(self, thread: str | None = None, run_id: str | None = None) -> tuple[EffectUse, ...]:
        """Every use of an effect by the runs of a thread, or by one run, in the order of the steps."""
        with self._reading() as db:
            return effect_rows.uses(db, thread, run_id) if version_of(db) >= _EFFECTS_SINCE else ()


def _commit_substep(db: Database, mine: Owned, commit: StepCommit) -> Header:
    new = commit.checkpoint
    put_checkpoint(db, new, made_by(mine, commit))
    keep_binaries(db, commit.step.output, new.blobs)
    step_rows.end_substep(db, commit.step, new, commit.token)
    execute_statements(db, commit, mine.thread)
    point("native.substep-committed")
    return header_at(db, new.ref.thread, new.ref.id)
