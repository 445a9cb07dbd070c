"""A fork that is no copy: a new thread of one checkpoint, made from the values that the server shows of another.

Owns how such a thread begins; for servers whose copies of a thread cannot be gone on with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from stores.errors import Invalid, StoreError, Unsupported
from stores.langgraph_server import snapshots
from stores.langgraph_server.connection import Connection, State
from stores.langgraph_server.history import History
from stores.langgraph_server.snapshots import After
from stores.langgraph_server.wanted import Wanted
from stores.model import Checkpoint, Ref, Value

_FURTHEST: Final = 50  # checkpoints that are looked at for who wrote last


def begin(connection: Connection, base: Checkpoint, wanted: Wanted, meta: Mapping[str, object]) -> Ref:
    """The first checkpoint of a new thread with the wanted state and the same nodes next.

    Raises Unsupported, and leaves no thread behind, where no node can be named that would have written it.
    """
    ref = base.header.ref
    if ref.ns:
        raise Unsupported(
            "this server's copies of a thread cannot call subgraphs, so that a fork cannot start inside one",
            hint="Fork at the step of the graph around it instead.",
        )
    known = connection.thread(ref.thread).get("metadata") or {}
    note = {**known, **snapshots.fork_note(ref, {**meta, snapshots.ANEW: True})}
    refusal: StoreError = Unsupported(f"no thread can begin with the state of {ref.id}: who wrote it is not known")
    for as_node, values in _beginnings(connection, base):
        try:
            return _begun(connection, wanted, as_node, values, note)
        except (Invalid, Unsupported) as error:
            refusal = error
    raise refusal


def _begun(
    connection: Connection, wanted: Wanted, as_node: str, values: Mapping[str, Value] | None, note: Mapping[str, Value]
) -> Ref:
    """The wanted state written as a node, or ``values`` where they are to lead to it; checked by what is there then."""
    made: list[Ref] = []

    def put(sent: Mapping[str, Value]) -> State:
        while made:  # in another form it did not become what is wanted
            connection.take_back(made.pop().thread)
        made.append(Ref(connection.create(note), "", ""))
        made[0] = made[0]._replace(id=connection.update(made[0], dict(sent), as_node))
        return connection.stored(made[0])

    try:
        if values is None:
            wanted.settle(wanted.state, put, as_node)
        else:
            wanted.settle((), lambda _: put(values), as_node)
    except BaseException:
        for ref in made:
            connection.take_back(ref.thread)
        raise
    return made[0]


def _beginnings(connection: Connection, base: Checkpoint) -> Iterator[tuple[str, Mapping[str, Value] | None]]:
    """As which node a state may be written to a new thread, and the values where they are not the state."""
    if base.header.next == (snapshots.START,):
        # The input stands in no channel of the state yet: it is what the first task hands on.
        yield snapshots.INPUT, {write.channel: write.value for task in base.tasks for write in task.writes}
        return
    for node in _writers(connection, base):
        if node != snapshots.INPUT:
            yield node, None


def _writers(connection: Connection, base: Checkpoint) -> tuple[str, ...]:
    """Who wrote last, through edits and forks."""
    if base.header.nodes:
        return base.header.nodes
    thread = base.header.ref.thread
    history = History(connection, thread)
    state = connection.state(*base.header.ref)
    for _ in range(_FURTHEST):
        before = history.parent(state) if state is not None else None
        if state is None or before is None:
            break
        if nodes := snapshots.header(thread, state, before, After.STEP).nodes:
            return nodes
        state = before
    return ()
