"""Which checkpoints ``log`` shows, oldest first: one line of history, a namespace, or everything.

Pure: works on a thread that is already open.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from stores.model import Header, Ref
from tt_debug.errors import RefNotFound
from tt_debug.session.thread_view import ThreadView, parents_first

# LangGraph names a subgraph's rows node:task-id|node:task-id; a person types node|node.
TASK_ID = re.compile(r":[^|]*")


def line_of(view: ThreadView, ref: Ref, newest: int | None = None) -> list[Header]:
    """From the root to ``ref``; of a long line the ``newest`` are read alone."""
    line = view.line(ref)
    wanted = line if newest is None else line[max(0, len(line) - newest) :]
    view.headers.learn(wanted)
    return [view.headers[found] for found in wanted]


def everything(view: ThreadView) -> list[Header]:
    """Every branch and namespace of the family."""
    return parents_first(view.headers.values())


def in_namespace(view: ThreadView, ns: str, *, all_threads: bool) -> list[Header]:
    """The rows of one namespace, with or without its task ids. Raises RefNotFound, naming those there are."""
    present = {ref.ns for ref in view.headers if all_threads or ref.thread == view.thread}
    chosen = matching(present, ns)
    if not chosen:
        names = ", ".join(repr(name) for name in sorted(present) if name)
        raise RefNotFound(
            f"no namespace {ns!r} in {view.thread!r}", hint=f"there is {names}" if names else "it has only the root"
        )
    rows = (
        header
        for ref, header in view.headers.items()
        if ref.ns in chosen and (all_threads or ref.thread == view.thread)
    )
    return parents_first(rows)


def matching(present: Collection[str], ns: str) -> set[str]:
    """Exactly that namespace, else every one that is called so without its task ids."""
    return {ns} if ns in present else {name for name in present if name and TASK_ID.sub("", name) == ns}
