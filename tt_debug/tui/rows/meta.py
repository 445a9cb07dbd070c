"""What a checkpoint is rather than what it holds, as a mapping that a state tree can show.

Owns which facts stand there and in which order.
"""

from __future__ import annotations

from collections.abc import Mapping

from stores.model import Checkpoint, Header, Value


def meta_facts(
    checkpoint: Checkpoint, children: int = 0, completed: Mapping[str, int] | None = None
) -> Mapping[str, Value]:
    """Addresses, times, source, what runs next; then the store's metadata and the runtime's own values.

    ``completed`` says how often each node was completed on the line up to there, None where that is not known.
    """
    header = checkpoint.header
    facts: dict[str, Value] = {
        "checkpoint": header.ref.id,
        "thread": header.ref.thread,
        "parent": _parent(header),
        "children": children,
        "step": header.step,
        "source": header.source,
        "nodes": list(header.nodes),
        **({} if completed is None else {"completed": dict(completed)}),
        "next": list(header.next),
        "status": header.status,
        "created": header.created.isoformat() if header.created else None,
        "size in bytes": header.size,
    }
    if header.ref.ns:
        facts["namespace"] = header.ref.ns
    if checkpoint.rebuilt:
        facts["rebuilt"] = dict(checkpoint.rebuilt)
    if header.problem:
        facts["problem"] = header.problem
    if header.meta:
        facts["metadata"] = dict(header.meta)
    if checkpoint.internals:
        facts["internals"] = dict(checkpoint.internals)
    return facts


def _parent(header: Header) -> str | None:
    if header.parent is None:
        return None
    if header.parent.thread == header.ref.thread:
        return header.parent.id
    return f"{header.parent.thread}@{header.parent.id}"
