"""Which stored workflow definition a checkpoint's thread runs by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.model import Ref
from stores.protocol import RunStore

if TYPE_CHECKING:
    from stores.runs import Definition
    from tt_debug.session.thread_view import ThreadView

ADOPTED = "workflow_hash"  # the key in a checkpoint's meta that binds it, and what descends from it, to a definition


def definition_of(store: RunStore, view: ThreadView, ref: Ref) -> Definition | None:
    """The one the checkpoint is bound to; where no run has written yet, that of the newest run of its thread."""
    for above in reversed(view.line(ref)):
        bound = view.headers[above].meta.get(ADOPTED)
        if isinstance(bound, str):
            return store.definition(bound)
    runs = store.runs(ref.thread)
    return store.definition(runs[0].workflow_hash) if runs else None
