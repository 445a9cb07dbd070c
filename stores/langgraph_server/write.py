"""Forks and edits on a LangGraph server: its copy of a thread, and its ``update_state``.

Owns which of the server's calls make what was asked for; refuses what none of them leads to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stores.changes import apply_changes
from stores.codec import json as strict_json
from stores.errors import Conflict, Corrupt, Invalid, StoreError, Unsupported
from stores.langgraph_server import anew, snapshots
from stores.langgraph_server.connection import Connection, State
from stores.langgraph_server.wanted import Wanted, same
from stores.model import MISSING, Change, Checkpoint, Ref, Value

# langgraph pregel/main.py, update_state: nodes that are none of the graph's. COPY takes the checkpoint as it is.
_COPY: Final = "__copy__"
_NOWHERE: Final = ("tt_debug:nowhere", "00000000-0000-6000-8000-000000000000")


class Writing:
    """One fork or edit of ``base``. Everything that can be refused is refused before the thread itself is touched."""

    def __init__(self, connection: Connection, base: Checkpoint, changes: Sequence[Change]) -> None:
        """Raises Invalid, with the path, for a change that does not apply or that JSON would not carry."""
        self._connection = connection
        self._base = base
        self._ref = base.header.ref
        state: Mapping[str, Value] = apply_changes(dict(base.state), changes)
        if not isinstance(state, Mapping):
            raise Invalid("a state is an object: it cannot be replaced by another kind of value")
        names = {**base.state, **state}
        self._changed = [n for n in names if not same(base.state.get(n, MISSING), state.get(n, MISSING))]
        for name in self._changed:
            if name not in state:
                raise Invalid(f"{name}: a LangGraph server cannot take a channel out of a state")
            strict_json.dumps(state[name], (name,))
        self._wanted = Wanted(state, base.header.next)

    def to_thread(self, *, keep_results: bool, meta: Mapping[str, object]) -> Ref:
        """A thread that goes on from the base with the changes. A failed one leaves none behind.

        It is a copy of the whole thread, at whose end the base stands once more where it is not the end itself.
        """
        is_head = self._is_head()
        if keep_results and (self._changed or not is_head):
            raise Unsupported(
                "the server keeps the results of a step's tasks at the unchanged head of a thread only",
                hint="Fork without --keep-results: the tasks of the step run again.",
            )
        self._check_alive(is_head)
        update = self._found() if self._changed else None if is_head else (None, _COPY)
        thread = self._connection.copy(self._ref.thread)
        try:
            if self._can_run(thread):
                made = self._ref._replace(thread=thread)
                if update is not None:
                    made = made._replace(id=self._connection.update(made, *update))
                self._connection.note(thread, snapshots.fork_note(self._ref, meta))
                return made
        except BaseException:
            self._connection.take_back(thread)
            raise
        self._connection.take_back(thread)
        return anew.begin(self._connection, self._base, self._wanted, meta)

    def edit(self) -> Ref:
        """The changes on the thread itself. Raises Conflict when a run is under way, or its head is another."""
        if not self._changed:
            raise Invalid("an edit without a change would store nothing")
        self._check_alive(self._is_head())
        self._check_idle()
        update = self._found()
        self._check_idle()
        if not self._is_head():
            raise Conflict(
                f"{self._ref.id} is not the head of {self._ref.thread!r} any more", hint="Read it again, or fork there."
            )
        return self._ref._replace(id=self._connection.update(self._ref, *update))

    # --- by a copy

    def _found(self) -> tuple[Value, str | None]:
        """The values, and the node they are said to come from, by which a copy of the thread gets what is wanted.

        Tried on a copy that is gone afterwards. None for a node: the server takes the last writer.
        """
        refusal: StoreError | None = None
        thread = self._connection.copy(self._ref.thread)
        try:
            for as_node in (None, *(node for node in self._base.header.nodes if node != snapshots.INPUT)):
                try:
                    return self._tried(self._ref._replace(thread=thread), as_node), as_node
                except (Invalid, Unsupported) as error:
                    refusal = refusal or error
        finally:
            self._connection.take_back(thread)
        assert refusal is not None
        raise refusal

    def _tried(self, at: Ref, as_node: str | None) -> Value:
        def put(values: dict[str, Value]) -> State:
            return self._connection.stored(at._replace(id=self._connection.update(at, values, as_node)))

        return self._wanted.settle(self._changed, put, as_node)

    def _can_run(self, thread: str) -> bool:
        """Whether a copy can be gone on with: one of the in-memory server (langgraph-runtime-inmem 0.36) cannot hold a
        namespace that its original had not, so that the next call of a subgraph fails with a KeyError."""
        try:
            self._connection.state(thread, *_NOWHERE)
        except Corrupt:
            return not self._connection.has_subgraphs(self._connection.thread(thread))
        return True

    # --- parts

    def _is_head(self) -> bool:
        """Whether the base, and for a subgraph's the call around it, is what the thread goes on from."""
        newest = self._connection.state(self._ref.thread, self._ref.ns)
        if newest is None or snapshots.place(newest) != (self._ref.ns, self._ref.id):
            return False
        root = snapshots.root_of(newest) if self._ref.ns else None
        if root is None:
            return True
        outside = self._connection.state(self._ref.thread)
        return outside is not None and snapshots.place(outside)[1] == root

    def _check_idle(self) -> None:
        if self._connection.active_runs(self._ref.thread):
            raise Conflict(
                f"a run is under way on thread {self._ref.thread}", hint="Wait for its end, or fork to a new thread."
            )

    def _check_alive(self, is_head: bool) -> None:
        if self._ref.ns and not is_head:
            raise Unsupported(
                f"the step around namespace {self._ref.ns!r} is over: nothing would go on from there",
                hint="Fork at the step of the graph around it instead.",
            )
