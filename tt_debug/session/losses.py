"""What an edit would leave behind at a checkpoint whose step is under way: open questions, answers, finished tasks.

Pure. Owns the words for it; refuses to decide: an edit loses nothing that is stored, the base still has all of it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stores.errors import StoreError
from stores.model import Capability, Checkpoint, Ref, Status
from tt_debug.text import counted, safe_text

if TYPE_CHECKING:
    from tt_debug.session.session import Session

_UNDER_WAY: Final = frozenset({Status.WAITING, Status.FAILED, Status.UNFINISHED, Status.CRASHED, Status.HELD})


@dataclass(frozen=True, slots=True)
class Losses:
    """Nodes by what of theirs does not come along: an edited checkpoint has a new id, and its tasks start anew.

    ``asking`` have an open question, ``answered`` a recorded answer that was not handed over yet, ``finished`` a
    result that no checkpoint holds yet.
    """

    asking: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.asking or self.answered or self.finished)

    def lines(self) -> tuple[str, ...]:
        """One a kind, as the end of "an edit leaves behind …"."""
        return tuple(
            f"{counted(len(nodes), what)} ({', '.join(map(safe_text, nodes))}): {then}"
            for nodes, what, then in (
                (self.asking, "open question", "asked again, from the start of the node"),
                (self.answered, "recorded answer", "given to nobody"),
                (self.finished, "finished result", "made again, by running the node"),
            )
            if nodes
        )


def losses(checkpoint: Checkpoint, open_questions: Collection[str]) -> Losses:
    """Of a checkpoint as it is loaded; ``open_questions`` are the ids of those without a recorded answer."""
    if checkpoint.header.status not in _UNDER_WAY:
        return Losses()
    due = frozenset(checkpoint.header.next)
    asked = [(task.node, ask.id) for task in checkpoint.tasks if task.status == "waiting" for ask in task.interrupts]
    return Losses(
        asking=tuple(node for node, id in asked if id in open_questions),
        answered=tuple(node for node, id in asked if id not in open_questions),
        finished=tuple(task.node for task in checkpoint.tasks if task.status == "done" and task.node in due),
    )


def losses_at(session: Session, ref: Ref) -> Losses:
    """What an edit of ``ref`` would leave behind; nothing in a store whose checkpoints have no tasks."""
    if Capability.TASKS not in session.info.capabilities or Capability.RUNS in session.info.capabilities:
        return Losses()
    checkpoint = session.load(ref)
    if checkpoint.header.status not in _UNDER_WAY:
        return Losses()
    try:
        waiting = session.approvals(ref.thread)
    except StoreError:  # a damaged neighbour: what is asked here is known all the same
        waiting = ()
    return losses(checkpoint, {ask.id for ask in waiting})
