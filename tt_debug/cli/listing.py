"""Which checkpoints ``log`` shows, oldest first: one line of history, a namespace, or everything.

Pure: works on a thread that is already open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from stores.model import Ref
from tt_debug.errors import RefNotFound
from tt_debug.session.thread_view import ThreadView, parents_first

# LangGraph names a subgraph's rows node:task-id|node:task-id; a person types node|node.
TASK_ID = re.compile(r":[^|]*")


def everything(view: ThreadView) -> Sequence[Ref]:
    """Every branch and namespace of the family."""
    return view.refs if view.ascends else parents_first(view.refs, view.parent)


def in_namespace(view: ThreadView, ns: str, *, all_threads: bool) -> Sequence[Ref]:
    """The rows of one namespace, with or without its task ids. Raises RefNotFound, naming those there are."""
    rows = view.refs if all_threads else [ref for ref in view.refs if ref.thread == view.thread]
    present = {ref.ns for ref in rows}
    chosen = matching(present, ns)
    if not chosen:
        names = ", ".join(repr(name) for name in sorted(present) if name)
        raise RefNotFound(
            f"no namespace {ns!r} in {view.thread!r}", hint=f"there is {names}" if names else "it has only the root"
        )
    return parents_first([ref for ref in rows if ref.ns in chosen], view.parent)


def matching(present: Collection[str], ns: str) -> set[str]:
    """Exactly that namespace, else every one that is called so without its task ids."""
    return {ns} if ns in present else {name for name in present if name and TASK_ID.sub("", name) == ns}
