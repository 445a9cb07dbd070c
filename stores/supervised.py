"""The part of `stores.protocol.RunStore` that watches over runs: ownership, recovery, the inbox, breakpoints, events.

Owns the contract; its values are `stores.supervision`'s, steps and checkpoints `stores.protocol`'s.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from stores.leases import LEASE_SECONDS

if TYPE_CHECKING:
    from stores.model import Header, NewCheckpoint, Ref, Value
    from stores.runs import Approval, Run
    from stores.supervision import Breakpoint, StoredEvent, Takeover


class Breakpoints(Protocol):
    """The part of a `stores.protocol.RunStore` that keeps breakpoints, so that they outlive whoever set them."""

    def breakpoints(self, thread: str | None = None) -> tuple[Breakpoint, ...]:
        """Oldest first; of a thread, those of all threads are among them."""
        ...

    def set_breakpoint(self, wanted: Breakpoint) -> Breakpoint:
        """Keep it; the same place, condition and thread again gives the one that is there."""
        ...

    def clear_breakpoint(self, id: str) -> bool:
        """False where there is none of that id."""
        ...


class Supervised(Protocol):
    """The part of a `stores.protocol.RunStore` that ownership, recovery and the inbox need.

    Lease. A claim lasts for a while and is prolonged by ``beat``; the store measures it by a clock that no change of
    the wall clock moves (its own in a server, the machine's since boot in a file). An owner whose lease is over goes
    on being the owner until somebody claims the run: only then its writes are refused.
    """

    def claim(
        self,
        run_id: str,
        owner: str,
        pid: int,
        on_conflict: str | None = None,
        *,
        lease: float = LEASE_SECONDS,
        takeover: Takeover | None = None,
        seen: Run | None = None,
    ) -> Run:
        """Take the run for ``lease`` seconds: token + 1, status running.

        Allowed from pending and paused, from crashed where nothing holds it, and from running where the lease is
        over or ``takeover`` names its token. From running and crashed it counts as a recovery, and an event
        "recovered" {token, head, evidence} is kept. Conflict otherwise, and nothing changes. ``on_conflict``
        (`stores.effects.OnConflict`) is kept with the run: what its effects do where they meet another request than
        the recorded one; None leaves it as it was. ``seen`` is the run that whoever claims it
        looked at: one that has moved since, be it only that a person paused it, is not taken."""
        ...

    def time(self) -> datetime:
        """The time in UTC by the clock that runs are written down by: a server's own, the machine's for a file."""
        ...

    def beat(self, run_id: str, token: int, lease: float = LEASE_SECONDS) -> None:
        """Prolong the lease: ``lease`` seconds from now. Raises LeaseLost for an old token."""
        ...

    def owned(self, run_id: str, token: int) -> Run:
        """The run as its owner may see it. Raises LeaseLost for an old token, and once it is not running."""
        ...

    def orders(self, run_id: str, token: int) -> tuple[Run, tuple[Breakpoint, ...]]:
        """The same, and the breakpoints of its thread, as they stand at one moment."""
        ...

    def cases(self, thread: str | None = None, status: str | None = "open") -> tuple[Approval, ...]:
        """Inbox entries of the kinds in `Case`, oldest first."""
        ...

    def open_case(self, case: Approval) -> bool:
        """Put it into the inbox beside a run that goes on. False when it is there already, whatever became of it."""
        ...

    def resolve(self, case_id: str, decision: str, by: str) -> Run | None:
        """Decide an open case once, by compare-and-set; gives its run, where it has one.

        "cancel" cancels the run, "dismiss" leaves it, any other decision makes a crashed or failed run pending
        and lets go of what held it. Conflict for a case that is decided already, NotFound for none."""
        ...

    def expire(self, approval_id: str, error: str) -> Run | None:
        """Nobody answered in time: the open question is expired, and its waiting run failed. Conflict when answered."""
        ...

    def rebind(self, run_id: str, token: int, workflow_hash: str, moved: NewCheckpoint) -> Header:
        """One transaction: the run goes on by another definition from now on, and ``moved`` is its thread's head."""
        ...

    def copied_from(self) -> str | None:
        """The path of the store that this one is a copy of, whose runs may be run there too; None where it is none."""
        ...

    def settle(self) -> None:
        """Somebody has agreed that runs are run in this copy from now on."""
        ...

    def definitions_of(self, workflow_id: str) -> tuple[str, ...]:
        """The hashes of a workflow's definitions, the newest first."""
        ...

    def protect(self, thread: str, protected: bool) -> None:
        """Whether cleaning up leaves the thread alone whatever its age. Raises NotFound."""
        ...

    def protected(self) -> frozenset[str]:
        """The threads that it leaves alone."""
        ...

    def log_event(
        self, kind: str, data: Mapping[str, Value], *, run_id: str | None = None, thread: str | None = None
    ) -> StoredEvent:
        """Remember it."""
        ...

    def events(
        self,
        kinds: Collection[str] = (),
        *,
        run_id: str | None = None,
        thread: str | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> tuple[StoredEvent, ...]:
        """The newest ``limit`` of those ``kinds`` (all when empty) with an id above ``after``, oldest first."""
        ...

    def fault(self, ref: Ref, known: Ref | None = None) -> tuple[Ref, str] | None:
        """The newest damaged checkpoint of the line that ends at ``ref``, and what is wrong with it; None: all is well.

        Every checkpoint is compared with its checksum, which covers its parent's, up to the first of the line, or up
        to and with ``known``, above which all was found well before."""
        ...
