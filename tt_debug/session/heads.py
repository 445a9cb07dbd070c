"""Whether a checkpoint is a head that can go on, and what to say when it is not."""

from __future__ import annotations

from stores.errors import NotFound
from stores.model import Header, Ref, Status
from stores.protocol import Store, TellsUntold
from tt_debug.errors import NotAHead
from tt_debug.session.thread_view import ThreadView
from tt_debug.shell import argument


def resumable(store: Store, view: ThreadView, ref: Ref) -> Header:
    """The header of a head from which something would run. Raises NotAHead, with the fork command as hint."""
    header = view.headers.get(ref)
    if header is None:
        raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}")
    head = store.head(ref.thread, ref.ns)
    if head != ref:
        newest = view.headers.get(head)
        here, there = places(header, newest) if newest is not None else (ref.id, head.id)
        raise NotAHead(f"{here} is not the head of {ref.thread!r} (that is {there})", hint=fork_hint(header))
    if header.status == Status.CANCELLED:
        raise NotAHead(f"{ref.thread!r} was cancelled", hint=fork_hint(header))
    # A run whose last question was just answered has nothing left to run, and is still to be ended.
    if not header.next and header.status != Status.PENDING and not untold(store, ref):
        raise NotAHead(f"{ref.thread!r} has run to its end", hint=fork_hint(header, "EARLIER"))
    return header


def untold(store: Store, ref: Ref) -> tuple[str, ...]:
    """The nodes of which only the graph knows what comes after them, if anything does."""
    return store.untold(ref) if isinstance(store, TellsUntold) else ()


def place(header: Header) -> str:
    """A checkpoint as people say it."""
    return header.ref.id if header.step is None else f"step {header.step}"


def places(one: Header, other: Header) -> tuple[str, str]:
    """Two checkpoints as people tell them apart: by their ids where both have one step, as an answer has."""
    named = place(one), place(other)
    return named if named[0] != named[1] else (one.ref.id, other.ref.id)


def fork_hint(header: Header, selector: str | None = None, options: str = "") -> str:
    """The command that makes a line which can be resumed; ``options`` stand before the REF."""
    at = selector or (header.ref.id if header.step is None else str(header.step))
    ref = argument(f"{header.ref.thread}@{at}")
    return f"fork there and resume the fork: tt-debug fork STORE {options}{ref}"
