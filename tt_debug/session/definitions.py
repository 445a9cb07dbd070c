"""Which stored workflow definition a checkpoint's thread runs by."""

from __future__ import annotations

from stores.model import Ref
from stores.protocol import RunStore
from stores.runs import Definition
from tt_debug.session.thread_view import ThreadView

ADOPTED = "workflow"  # the key in a fork's meta that binds it, and what descends from it, to a definition's hash


def definition_of(store: RunStore, view: ThreadView, ref: Ref) -> Definition | None:
    """The nearest on the way up: one that a fork adopted, or that of the newest run of a thread passed through."""
    threads: set[str] = set()
    for above in reversed(view.line(ref)):
        adopted = view.headers[above].meta.get(ADOPTED)
        if isinstance(adopted, str):
            return store.definition(adopted)
        if above.thread not in threads:
            threads.add(above.thread)
            runs = store.runs(above.thread)
            if runs:
                return store.definition(runs[0].workflow_hash)
    return None
