"""The doors of a session to what only some of its users need, each built when it is first gone through.

Owns which there are. Their modules are imported with them: all together that is 25 ms, a quarter of what a listing
takes from the prompt and back.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from stores.protocol import Store
from tt_debug.session import owners
from tt_debug.session.journal import Journal
from tt_debug.session.run_records import Records
from tt_debug.session.running import Code

if TYPE_CHECKING:
    from collections.abc import Callable

    from stores.model import Checkpoint, Ref
    from tt_debug.session.executor import Executor
    from tt_debug.session.marks import Marks
    from tt_debug.session.operating import Operations
    from tt_debug.session.pruning import Pruning
    from tt_debug.session.scanner import Scanner
    from tt_debug.session.tailing import Pulse
    from tt_debug.session.undoing import Undoing
    from tt_debug.session.watches import Watches


class Doors:
    """What `tt_debug.session.session.Session` leads to. Two threads that go through one for the first time at once may
    each get one of their own: what is behind them keeps nothing that the other would miss."""

    def __init__(self, store: Store, journal: Journal, code: Code) -> None:
        self._store = store
        self._journal = journal
        self._code = code
        self._records = Records(store)
        self.load_once: Callable[[Ref], Checkpoint] = partial(owners.loaded, store)
        """A checkpoint past the cache, for what reads every one of them and keeps none."""

    @cached_property
    def operations(self) -> Operations:
        """What an operator does: recovery, the inbox's cases, breakpoints, figures."""
        from tt_debug.session.operating import Operations

        return Operations(self._store, self._journal, self._records, self._code.graph)

    @cached_property
    def executor(self) -> Executor:
        """The records of our own executor: effects, and how a state came about."""
        from tt_debug.session.executor import Executor

        return Executor(self._store, self._records)

    @cached_property
    def scanner(self) -> Scanner:
        """The states of many checkpoints, for questions of the whole history."""
        from tt_debug.session.scanner import Scanner

        return Scanner(self._store, self.load_once)

    @cached_property
    def marks(self) -> Marks:
        """The bookmarks."""
        from tt_debug.session.marks import Marks

        return Marks(self._journal)

    @cached_property
    def watches(self) -> Watches:
        """The watched expressions."""
        from tt_debug.session.watches import Watches

        return Watches(self._journal)

    @cached_property
    def undoing(self) -> Undoing:
        """Forks and edits of our own, and taking them back."""
        from tt_debug.session.undoing import Undoing

        return Undoing(self._store, self._journal)

    @cached_property
    def pruning(self) -> Pruning:
        """What the store could be freed of, and what must stay."""
        from tt_debug.session.pruning import Pruning

        return Pruning(self._store, self._journal)

    @cached_property
    def pulse(self) -> Callable[[str], Pulse]:
        """Whether a thread that another process writes has become another; see `tailing.Pulse`."""
        from tt_debug.session.tailing import Pulse

        return partial(Pulse, self._store)
