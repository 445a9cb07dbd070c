"""The turns of a conversation: each human message with the checkpoint at which it came in, to go back to.

Owns finding them along a line, newest first, no further than somebody reads on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from stores.errors import StoreError
from stores.model import Header, Path, Ref, Value
from tt_debug.conversation import conversation, text_path
from tt_debug.errors import RefNotFound
from tt_debug.session.questions import OnProgress, Stopped
from tt_debug.shell import argument

if TYPE_CHECKING:
    from tt_debug.session.session import Session


@dataclass(frozen=True, slots=True)
class HumanTurn:
    """A human message. ``ref`` is the checkpoint at which it came in, or was last edited: nothing has answered it
    there, but for ``answers`` messages that came in with it. ``before`` is the one before that, None for the first.

    ``path`` is where its text lies in the state at ``ref``; ``next`` would run from there. ``unsure`` says why it may
    have come in earlier.
    """

    ref: Ref
    step: int | None
    before: Ref | None
    path: Path
    text: str
    next: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    answers: int = 0
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class _Said:
    """A human message in a state."""

    path: Path
    text: str
    answers: int


_Key = str | tuple[Path, str]
"""A message's id, or where it stands and what it says."""


@dataclass(slots=True)
class _There:
    """A checkpoint and the human messages it has; ``unsure``: why what is right before it could not be read."""

    header: Header
    humans: dict[_Key, _Said]
    unsure: str = ""


def turns(session: Session, ref: Ref, on_progress: OnProgress | None = None) -> Iterator[HumanTurn]:
    """The turns on the line that ends at ``ref``, the newest first. Raises Stopped."""
    view = session.open_thread(ref.thread)
    line = [view.headers[each] for each in reversed(view.line(view.standing(ref)))]
    told: set[_Key] = set()
    later: _There | None = None
    for done, header in enumerate(line):
        if on_progress is not None and not on_progress(done, len(line)):
            raise Stopped
        try:
            here = _There(header, _humans(session.load(header.ref).state))
        except StoreError as error:
            if later is not None:
                later.unsure = str(error)
            continue
        if later is not None:
            yield from _came_in(later, here.humans, header.ref, told)
        later = here
    if later is not None:
        yield from _came_in(later, {}, None, told)


def turn(session: Session, thread: str, number: int) -> HumanTurn:
    """The ``number``-th human message on the line to the head, from 1; from -1 back. Raises RefNotFound."""
    found = turns(session, session.open_thread(thread).head)
    if number < 0:
        picked = next(islice(found, -number - 1, None), None)
    else:
        every = list(found)
        picked = every[-number] if 0 < number <= len(every) else None
    if picked is None:
        raise RefNotFound(
            f"there is no turn {number} in {thread!r}", hint=f"tt-debug turns STORE {argument(thread)} lists them"
        )
    return picked


def _humans(state: Mapping[str, Value]) -> dict[_Key, _Said]:
    """In the order of the conversation."""
    found: list[tuple[_Key, _Said]] = []
    answers = 0
    for each in reversed(conversation(state)[1]):
        if each.message.role != "human":
            answers += 1
            continue
        key = each.message.id or (each.path, each.message.text)
        found.append((key, _Said(text_path(state, each.path), each.message.text, answers)))
    return dict(reversed(found))


def _came_in(there: _There, earlier: Mapping[_Key, _Said], before: Ref | None, told: set[_Key]) -> Iterator[HumanTurn]:
    """Those of a state that are not in the one before it, or say something else."""
    header = there.header
    for key, said in reversed(there.humans.items()):
        was = earlier.get(key)
        if key in told or (was is not None and was.text == said.text):
            continue
        told.add(key)
        yield HumanTurn(
            header.ref, header.step, before, said.path, said.text, header.next, header.nodes, said.answers, there.unsure
        )
