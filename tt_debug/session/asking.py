"""Open questions to people, in our own store and in LangGraph's, and their answers.

An answer is recorded and runs nothing. In a store that is not ours it waits in the journal until the thread is resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from stores.errors import Conflict, Invalid, NotFound
from stores.model import Header, Ref, Status, Value
from stores.protocol import RunStore, Store
from stores.runs import Approval
from tt_debug.errors import UsageError, WaitingForAnswer
from tt_debug.session.answers import decisions, problem
from tt_debug.session.journal import Asked, Journal
from tt_debug.session.listing import every_header, every_thread
from tt_debug.session.run_records import elsewhere


@dataclass(frozen=True, slots=True)
class Reply:
    """What somebody answers. ``reject`` makes ``answer`` the reason for a no; ``thread`` counts where several ask."""

    approval: str
    answer: Value
    by: str
    reject: bool = False
    thread: str | None = None


def approvals(store: Store, journal: Journal, thread: str | None = None) -> tuple[Approval, ...]:
    """Open questions without a recorded answer, oldest first."""
    if isinstance(store, RunStore):
        return store.approvals(thread)
    answered = journal.answers()
    found = (ask for name in _waiting(store, journal, thread) for ask in questions(store, name))
    open_ones = [ask for ask in found if key(ask) not in answered]
    return tuple(sorted((*open_ones, *held(store, thread)), key=_since))


def held(store: Store, thread: str | None = None) -> tuple[Approval, ...]:
    """What has to be decided about effects of runs on the threads of a store that is not ours, oldest first."""
    with elsewhere(store) as records:
        return () if records is None else records.approvals(thread)


def waiting(question: Approval) -> WaitingForAnswer:
    """The error of a thread that cannot go on without an answer, or until its run's case is decided."""
    verdicts = () if question.kind == "approval" else decisions(question)
    what = "is held until somebody decides about" if verdicts else f"waits for an answer to {question.node}:"
    how = f"resolve STORE {question.id} --as {'|'.join(verdicts)}" if verdicts else ""
    return WaitingForAnswer(
        f"{question.thread!r} {what} {question.prompt}",
        question.id,
        hint=f"tt-debug {how or f'answer STORE {question.id} JSON, or resume with --answer JSON'}",
    )


def key(question: Approval) -> Asked:
    """What an answer to it is recorded under."""
    return Asked(question.thread, question.id, question.turn)


def answer(store: Store, journal: Journal, reply: Reply) -> Header:
    """Record it once. Raises NotFound, Invalid against the question's schema, Conflict when somebody was faster."""
    if isinstance(store, RunStore):
        asked = next((a for a in store.approvals(status=None) if a.id == reply.approval), None)
        # An answer that comes too late is told so, not that it does not fit.
        if asked is not None and asked.status == "open" and not reply.reject:
            check(asked, reply.answer)
        return store.answer(reply.approval, reply.answer, reply.by, reject=reply.reject)
    decided = _decided(store, reply)
    if decided is not None:
        return decided
    question = _asked_for(store, journal, reply)
    value = {"approved": False, "reason": reply.answer} if reply.reject else reply.answer
    if not reply.reject:
        check(question, value)
    journal.record_answer(key(question), value, reply.by)
    return store.load(Ref(question.thread, question.ns, question.checkpoint)).header


def _decided(store: Store, reply: Reply) -> Header | None:
    """The thread's head, once our own records have the decision; None where the reply is to no question of theirs."""
    with elsewhere(store) as records:
        known = () if records is None else records.approvals(status=None)
        asked = next((ask for ask in known if ask.id == reply.approval), None)
        if asked is None or records is None:
            return None
        if asked.status == "open":
            check(asked, reply.answer)
        records.answer(reply.approval, reply.answer, reply.by, reject=reply.reject)
    return store.load(store.head(asked.thread)).header


def _asked_for(store: Store, journal: Journal, reply: Reply) -> Approval:
    """The one open question that the reply is to. Raises NotFound, Conflict when it was answered, UsageError."""
    found = [
        ask for ask in approvals(store, journal) if ask.id == reply.approval and reply.thread in (None, ask.thread)
    ]
    if len(found) > 1:
        threads = ", ".join(sorted(ask.thread for ask in found))
        raise UsageError(f"{reply.approval} is asked in {threads}", hint="--thread NAME says which is answered")
    if found:
        return found[0]
    for asked, before in reversed(journal.answers().items()):
        if asked.approval == reply.approval and reply.thread in (None, asked.thread):
            raise Conflict(
                f"{reply.approval} was already answered by {before.by}", hint="resume the thread to use that answer"
            )
    raise NotFound(f"no open question {reply.approval}", hint="tt-debug approvals STORE lists them")


def check(question: Approval, value: Value) -> None:
    """Raises Invalid naming the place when the question has a schema that ``value`` breaks."""
    wrong = problem(question, value)
    if wrong:
        raise Invalid(f"the answer does not fit what {question.node} asks for: {wrong}")


def _waiting(store: Store, journal: Journal, thread: str | None) -> Iterator[str]:
    if thread is not None:
        yield thread
        return
    for info in every_thread(store, journal):
        if info.status == Status.WAITING:
            yield info.thread


def questions(store: Store, thread: str) -> tuple[Approval, ...]:
    """The interrupts of unfinished tasks on the newest row of each namespace, every one once.

    A subgraph's question stands on its own row and again on every enclosing graph's; the innermost tells the node.
    """
    newest: dict[str, Header] = {}
    for header in every_header(store, thread):
        newest[header.ref.ns] = header
    innermost = sorted(newest.values(), key=lambda header: header.ref.ns.count("|") + bool(header.ref.ns), reverse=True)
    root = newest.get("")
    asked_at_root = {ask.id for ask in _asked(store, root)} if root is not None else None
    found: dict[str, Approval] = {}
    for ask in chain.from_iterable(_asked(store, header) for header in innermost):
        if asked_at_root is None or ask.id in asked_at_root:
            found.setdefault(ask.id, ask)
    return tuple(found.values())


def _asked(store: Store, header: Header) -> list[Approval]:
    ref = header.ref
    return [
        Approval(
            id=interrupt.id, thread=ref.thread, ns=ref.ns, checkpoint=ref.id, node=task.node,
            prompt=interrupt.value, schema=interrupt.schema, since=header.created, turn=interrupt.turn,
        )
        for task in store.load(ref).tasks
        if task.status == "waiting"
        for interrupt in task.interrupts
    ]  # fmt: skip


def _since(approval: Approval) -> float:
    return approval.since.timestamp() if approval.since else 0.0
