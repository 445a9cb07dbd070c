"""REFs as people type them: THREAD[@SELECTOR], turned into addresses.

An existing thread of exactly that name wins, else the last ``@`` splits. A selector is tried as ``head``, ``~N``,
a step, ``failed``, an id, a unique prefix of one, a bookmark; ``id:``, ``step:`` and ``mark:`` force a kind.
``turn:N``, the N-th human message, is found by `tt_debug.session.turns`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from stores.errors import NotFound
from stores.model import Ref, Status
from stores.protocol import ListsByAddress
from tt_debug.errors import RefNotFound
from tt_debug.shell import argument

if TYPE_CHECKING:
    from stores.protocol import Store
    from tt_debug.session.session import Session
    from tt_debug.session.thread_view import ThreadView

STEP = re.compile(r"-?\d+")
BACK = re.compile(r"~(\d+)")
SHORTEST_PREFIX = 4
TURN = re.compile(r"turn:(-?\d+)")
"""``THREAD@turn:2``: the second human message; ``turn:-1`` the last one."""


class Place(NamedTuple):
    """What a REF leads to, and its thread, opened."""

    view: ThreadView
    ref: Ref


def resolve(session: Session, text: str) -> Ref:
    """What a REF leads to, as `locate` says it; no forks are looked at for a head."""
    thread, selector = session.split(text)
    return session.lineage(thread).head if selector == "head" else locate(session, text).ref


def locate(session: Session, text: str) -> Place:
    """A REF as typed: THREAD[@SELECTOR]. Raises RefNotFound, naming what was looked for."""
    thread, selector = session.split(text)
    view = session.open_thread(thread)
    if counted := TURN.fullmatch(selector):
        from tt_debug.session import turns  # with questions of the whole history, 20 ms

        ref = turns.turn(session, thread, int(counted.group(1))).ref
    else:
        ref = select(view, selector, session.marks.named(thread))
    # It may stand in a thread of the family.
    return Place(view if ref.thread == thread else session.open_thread(ref.thread), ref)


def split(store: Store, text: str) -> tuple[str, str]:
    """(thread, selector); raises RefNotFound when no such thread is in the store."""
    if thread_exists(store, text):
        return text, "head"
    thread, at, selector = text.rpartition("@")
    if at and thread_exists(store, thread):
        return thread, selector or "head"
    name = thread if at else text
    raise RefNotFound(f"no thread {name!r} in {store.info.url}", hint="tt-debug threads STORE lists them")


def thread_exists(store: Store, thread: str) -> bool:
    """Whether the store has any checkpoint of it; a table may well have one whose name is the empty text."""
    try:
        if isinstance(store, ListsByAddress):  # a page of headers is in order, and so a whole thread would have to be
            return bool(store.addresses(thread).refs)
        return bool(store.headers(thread, limit=1).items)
    except NotFound:
        return False


def select(view: ThreadView, selector: str, marks: Mapping[str, Ref] = MappingProxyType({})) -> Ref:
    """The checkpoint of the opened thread that ``selector`` names; ``marks`` are its bookmarks. Raises RefNotFound."""
    kind, colon, rest = selector.partition(":")
    if colon and kind == "mark":
        found = _by_mark(view, rest, marks)
    elif colon and kind in ("id", "step"):
        found = {"id": _by_id, "step": _by_step}[kind](view, rest)
    else:
        found = (
            _by_word(view, selector)
            or (_by_step(view, selector) if STEP.fullmatch(selector) else None)
            or _by_id(view, selector)
            or _by_mark(view, selector, marks)
        )
    if found is None:
        raise RefNotFound(
            f"nothing in {view.thread!r} is called @{selector}",
            hint=f"tt-debug log STORE {argument(view.thread)} shows its steps and ids",
        )
    return found


def _by_word(view: ThreadView, selector: str) -> Ref | None:
    if selector == "head":
        return view.head
    if selector == "failed":
        return _failed(view)
    back = BACK.fullmatch(selector)
    if back:
        line = view.line()
        steps = int(back.group(1))
        return line[-1 - steps] if steps < len(line) else None
    return None


def _failed(view: ThreadView) -> Ref | None:
    """The checkpoint on which the last failed task started; its error is a write on that row."""
    failed = [header for header in view.headers.values() if header.status == Status.FAILED]
    own = [header for header in failed if header.ref.thread == view.thread and not header.ref.ns]
    candidates = own or failed
    return candidates[-1].ref if candidates else None


def _by_step(view: ThreadView, text: str) -> Ref | None:
    """On the line to the head; where rows have no step, the depth from the root counts."""
    if not STEP.fullmatch(text):
        return None
    wanted = int(text)
    found = at_step(view, view.line(), wanted)
    if found is not None:
        return found
    head = view.headers.get(view.head)
    # A step that failed has no checkpoint of its own: its number means the row its error was written to.
    if head and head.status == Status.FAILED and head.step is not None and head.step + 1 == wanted:
        return head.ref
    return None


def at_step(view: ThreadView, line: Sequence[Ref], wanted: int) -> Ref | None:
    """The last checkpoint of that step on a line of the view, oldest first; the depth counts where a row has no step.

    What is known of the line's end is gone through, as subgraphs stand there. Along the rest steps ascend as runtimes
    count them, so it is not read for it, but where that finds none: somebody else may have written them."""

    def step(depth: int) -> int:
        known = view.headers[line[depth]].step
        return depth if known is None else known

    at = len(line) - 1
    while at >= 0 and view.headers.knows(line[at]):
        if step(at) == wanted:
            return line[at]
        at -= 1
    near = bisect_right(range(at + 1), wanted, key=step) - 1
    if near >= 0 and step(near) == wanted:
        return line[near]
    return next((line[depth] for depth in range(at, -1, -1) if step(depth) == wanted), None)


def _by_id(view: ThreadView, text: str) -> Ref | None:
    """A whole id, or a prefix of one only, in any namespace; the opened thread's own rows win over its family's."""
    by_id: dict[str, Ref] = {}
    for ref in view.headers:
        if ref.id not in by_id or ref.thread == view.thread:
            by_id[ref.id] = ref
    if text in by_id:
        return by_id[text]
    if len(text) < SHORTEST_PREFIX:
        return None
    return _unique(by_id, text)


def _unique(by_id: Mapping[str, Ref], prefix: str) -> Ref | None:
    matches = [ref for ident, ref in by_id.items() if ident.startswith(prefix)]
    if len(matches) > 1:
        some = ", ".join(ref.id for ref in matches[:3])
        raise RefNotFound(f"{prefix!r} fits {len(matches)} checkpoints: {some}", hint="give more of the id")
    return matches[0] if matches else None


def _by_mark(view: ThreadView, text: str, marks: Mapping[str, Ref]) -> Ref | None:
    """What a bookmark names, where that is still in the store."""
    found = marks.get(text)
    return None if found is None else view.standing(found)
