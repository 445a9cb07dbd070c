"""Taking back forks and edits of our own on which nothing ran: what that would mean, and doing it.

History is append-only, so nothing is deleted. An edit is taken back by one more checkpoint, with the values from
before it; a fork is put out of sight, in our own record. Owns when that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from stores.errors import Conflict, NotFound, ReadOnly, StoreError
from stores.model import Checkpoint, Diff, Header, Ref, Status, Task
from stores.paths import format_path
from stores.protocol import RunStore, Store
from tt_debug.errors import UsageError
from tt_debug.session import forking
from tt_debug.session.heads import fork_hint, place
from tt_debug.session.journal import Journal, OwnWrite
from tt_debug.session.listing import every_thread, newest_headers, out_of_sight
from tt_debug.session.losses import losses
from tt_debug.text import safe_text

_NAMED: Final = 4
"""Values that go back and are called by their path."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What would take a write back; nothing has happened yet.

    ``base`` and ``header`` are the checkpoints before and after it, ``head`` is where the thread stands now.
    ``changes`` make of the head what ``base`` was; ``lost`` are lines about what that does not bring back.
    """

    write: OwnWrite
    base: Header
    header: Header
    head: Ref
    changes: Diff = ()
    lost: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What is taken back."""
        thread = safe_text(self.write.ref.thread)
        if self.write.kind == "fork":
            return f"Undo the fork {thread}"
        return f"Undo the edit of {thread} at {place(self.base)}"

    @property
    def verb(self) -> str:
        """What is done, as a button says it."""
        return "Put out of sight" if self.write.kind == "fork" else "Put back"

    def lines(self) -> tuple[str, ...]:
        """What it would do, in sentences."""
        thread = safe_text(self.write.ref.thread)
        if self.write.kind == "fork":
            return (
                f"Nothing ran on {thread}. It is put out of sight: listings leave it out, and the graph of "
                f"{safe_text(self.base.ref.thread)} does not draw it.",
                "Nothing is deleted: its rows stay in the store. It is in sight again as soon as anything is written "
                "to it, or something is forked from it.",
            )
        named = ", ".join(safe_text(format_path(change.path) or "the state") for change in self.changes[:_NAMED])
        more = f" and {len(self.changes) - _NAMED} more" if len(self.changes) > _NAMED else ""
        return (
            f"Appends one checkpoint to {thread}, with the values of {place(self.base)}: {named}{more}. It becomes the "
            "head that its application goes on from.",
            f"Nothing is deleted: the edit stays in the history, as {place(self.header)}.",
            *(("Not brought back is what stood open before the edit:", *self.lost) if self.lost else ()),
        )


@dataclass(frozen=True, slots=True)
class Undone:
    """What was done: the checkpoint that was appended, None for a fork that is out of sight now."""

    plan: UndoPlan
    header: Header | None

    @property
    def said(self) -> str:
        """In a sentence."""
        thread = safe_text(self.plan.write.ref.thread)
        if self.header is None:
            return f"{thread} is out of sight; nothing of it is deleted"
        return f"{thread} stands as at {place(self.plan.base)} again, by a new checkpoint"


class Undoing:
    """The writes of our own to one store, and taking them back. Looking at them makes no file."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store = store
        self._journal = journal

    def note(self, kind: Literal["fork", "edit", "undo"], ref: Ref, base: Ref) -> None:
        """Remember a write that has just been made. One that cannot be remembered stands all the same."""
        with suppress(StoreError):
            self._journal.record_write(ref, kind, base)

    def writes(self, thread: str | None = None) -> tuple[OwnWrite, ...]:
        """Our own forks and edits, the newest first; those of a thread, or all."""
        found = (each for each in self._journal.own_writes() if each.kind != "undo")
        return tuple(reversed([each for each in found if thread in (None, each.ref.thread)]))

    def plan(self, ref: Ref | None = None, thread: str | None = None) -> UndoPlan:
        """What would take back the write at ``ref``; default: the last one, of ``thread`` or of all.

        Raises NotFound where none of ours is on record, Conflict where something came after it.
        """
        known = self.writes(thread)
        for each in known:
            if each.ref == ref or (ref is None and each.undone is None):
                return self._planned(each)
        where = f" of {thread!r}" if thread is not None else f" at {ref.id}" if ref is not None else ""
        taken = " that is not taken back already" if known and ref is None else ""
        raise NotFound(
            f"no fork or edit{where}{taken} is on record as ours",
            hint="tt-debug undo STORE --list shows those that are",
        )

    def do(self, plan: UndoPlan) -> Undone:
        """Take it back. Everything is looked at once more: raises as `plan` does, and ReadOnly."""
        if self._store.info.read_only:
            raise ReadOnly(f"undo writes, and {self._store.info.url} is open for reading only")
        plan = self._planned(plan.write)
        if plan.write.kind == "fork":
            self._journal.record_undone(plan.write.ref, plan.header.status)
            return Undone(plan, None)
        made = forking.edit(self._store, plan.head, plan.changes)
        self.note("undo", made.ref, plan.base.ref)
        self._journal.record_undone(plan.write.ref, made.ref.id)
        return Undone(plan, made)

    def bring_back(self, thread: str) -> None:
        """Show a fork that was put out of sight. Raises NotFound for one that was not."""
        found = next((each for each in self.writes(thread) if each.kind == "fork" and each.undone is not None), None)
        if found is None or not self._journal.record_undone(found.ref, None):
            raise NotFound(f"thread {thread!r} was not put out of sight here")

    def _planned(self, write: OwnWrite) -> UndoPlan:
        if write.undone is not None:
            raise Conflict(f"that {write.kind} of {write.ref.thread!r} is taken back already")
        head = self._store.head(write.ref.thread, write.ref.ns)
        standing = self._store.load(head)
        if self._stands_for(head) != write.ref:
            raise Conflict(
                f"{write.ref.thread!r} has gone on since that {write.kind}: its head is {place(standing.header)} now",
                hint=_instead(write, self._store.load(write.base)),
            )
        made, base = self._store.load(write.ref), self._store.load(write.base)
        reason = self._came_after(standing, base, write)
        if reason:
            where = "from" if reason.endswith("forked") else "on"
            raise Conflict(f"{reason} {where} {write.ref.thread!r}: it stays", hint=_instead(write, base))
        if write.kind == "fork":
            return UndoPlan(write, base.header, made.header, head)
        return self._back(write, made, base, standing)

    def _back(self, write: OwnWrite, made: Checkpoint, base: Checkpoint, standing: Checkpoint) -> UndoPlan:
        from tt_debug.diff import diff

        if standing.header.next != base.header.next:
            was, now = _nodes(base), _nodes(standing)
            raise Conflict(
                f"what comes next was changed too, from {was} to {now}, which is the graph's to say",
                hint=fork_hint(base.header),
            )
        changes = diff(dict(standing.state), dict(base.state))
        if not changes:
            raise UsageError(f"{write.ref.thread!r} has the values of {place(base.header)} already")
        lost = () if isinstance(self._store, RunStore) else losses(base, _questions(base)).lines()
        return UndoPlan(write, base.header, made.header, standing.header.ref, changes, lost)

    def _stands_for(self, head: Ref) -> Ref:
        """The checkpoint that a head is like: an undo puts the thread back to what it was at another one."""
        put_back = {each.ref: each.base for each in self._journal.own_writes() if each.kind == "undo"}
        seen = {head}
        while (before := put_back.get(head)) is not None and before not in seen:
            head = before
            seen.add(head)
        return head

    def _came_after(self, head: Checkpoint, base: Checkpoint, write: OwnWrite) -> str:
        """What happened since the write, for which it has to stay; "" for nothing."""
        thread, is_fork = write.ref.thread, write.kind == "fork"
        if is_fork and isinstance(self._store, RunStore) and self._store.runs(thread):
            return "something ran"
        copied = {task.id: task for task in base.tasks}
        if any(_did_something(task, copied.get(task.id)) for task in head.tasks):
            return "something ran"
        asked = _questions(head)
        if any(each.thread == thread and each.approval in asked for each in self._journal.answers()):
            return "a question was answered"
        newer = set(self._newer(head.header.ref))
        if newer and not (is_fork and newer <= set(self._newer(base.header.ref))):
            return "something was written"
        forked = self._forked_from(thread) if is_fork else None
        return f"{forked!r} was forked" if forked is not None else ""

    def _newer(self, ref: Ref) -> Iterator[tuple[str, str]]:
        """Rows that came after a checkpoint, by namespace and id: subgraphs run before their graph goes on."""
        for header in newest_headers(self._store, ref.thread):
            if (header.ref.ns, header.ref.id) == (ref.ns, ref.id):
                return
            yield header.ref.ns, header.ref.id

    def _forked_from(self, thread: str) -> str | None:
        hidden = out_of_sight(self._journal)
        every = every_thread(self._store, self._journal)
        forks = (info.thread for info in every if info.forked_from and info.forked_from.thread == thread)
        return next((name for name in forks if name != thread and name not in hidden), None)


def _instead(write: OwnWrite, base: Checkpoint) -> str:
    if write.kind == "fork":
        return "it is a thread like any other now; the original is as it was"
    return fork_hint(base.header)


def _did_something(task: Task, copied: Task | None) -> bool:
    """Whether a task has more than it had where it was copied from."""
    if copied is None:
        return bool(task.status in (Status.DONE, Status.FAILED, Status.WAITING) or task.writes or task.error)
    more = len(task.writes) > len(copied.writes) or len(task.interrupts) > len(copied.interrupts)
    return more or (task.error is not None and task.error != copied.error)


def _questions(checkpoint: Checkpoint) -> set[str]:
    return {asked.id for task in checkpoint.tasks for asked in task.interrupts}


def _nodes(checkpoint: Checkpoint) -> str:
    return safe_text(", ".join(checkpoint.header.next)) or "nothing"
