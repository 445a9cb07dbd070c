"""The only module of the interface that starts threads: calls of the session run here, answers come back as messages.

Owns order (demand before prefetch), supersession and the error boundary; it knows nothing of what is called.
Threads are daemons, so a hanging database never holds up quitting.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from textual.message import Message
from textual.message_pump import MessagePump

from stores.errors import Busy, StoreError
from tt_debug.errors import DebuggerError
from tt_debug.tui.messages import Bug, Failed, Waiting

T = TypeVar("T")

DEMAND: Final = 0
PREFETCH: Final = 1

GIVE_WAY: Final = 1.0
"""Seconds a long call stands back at most."""

AGAIN: Final = 0.5
"""Seconds before a locked store is asked again."""

_WORKERS: Final = 4
"""Calls at once. One hanging read must not keep the others waiting; more than a few only queue on SQLite."""


@dataclass(order=True, slots=True)
class _Job:
    priority: int
    number: int
    owner: MessagePump = field(compare=False)
    kind: str = field(compare=False)
    work: Callable[[], Message] = field(compare=False)
    patient: bool = field(compare=False, default=False)
    waited: bool = field(compare=False, default=False)
    thread: int | None = field(compare=False, default=None)  # that runs it now


class Loader:
    """Runs calls on its own threads. One instance for an app; `app` gets what is a bug.

    ``interrupt`` is told of the thread whose call nobody waits for any more; it may block.
    """

    def __init__(self, app: MessagePump, interrupt: Callable[[int], None] | None = None) -> None:
        self._app = app
        self._interrupt = interrupt
        self._begun: list[_Job] = []
        self._jobs: list[_Job] = []
        self._wake = threading.Condition()
        self._numbers = itertools.count()
        self._newest: WeakKeyDictionary[MessagePump, dict[str, int]] = WeakKeyDictionary()
        self._workers = 0
        self._idle = 0
        self._running = 0
        self._calls = 0
        self._waiting = 0
        self._closed = False

    def call(
        self,
        owner: MessagePump,
        kind: str,
        work: Callable[[], T],
        answer: Callable[[T], Message],
        *,
        prefetch: bool = False,
        patient: bool = True,
    ) -> None:
        """Run ``work`` and post ``answer(result)`` to ``owner``, or `Failed` with ``kind``.

        While another process keeps the store locked, a ``patient`` call is made again and again; the owner hears of
        it by `Waiting`. Reading is patient, writing is not: it would come when nobody expects it any more.
        A newer demand of the same owner and kind replaces the older one: it is not started any more, and if it
        was, it is interrupted, and its answer dropped. A newer prefetch only replaces one that is still waiting.
        """
        with self._wake:
            number = next(self._numbers)
            if not prefetch:
                self._newest.setdefault(owner, {})[kind] = number
                self._give_up([job for job in self._begun if job.owner is owner and job.kind == kind])
            self._jobs = [job for job in self._jobs if not (job.owner is owner and job.kind == kind)]
            heapq.heapify(self._jobs)
            priority = PREFETCH if prefetch else DEMAND
            self._push(_Job(priority, number, owner, kind, lambda: answer(work()), patient))

    def _push(self, job: _Job) -> None:
        """Under the lock."""
        heapq.heappush(self._jobs, job)
        # An idle thread that was woken for another job still counts as idle, so jobs are compared, not zero.
        if len(self._jobs) > self._idle and self._workers < _WORKERS:
            self._workers += 1
            threading.Thread(target=self._work, name=f"tt-loader-{self._workers}", daemon=True).start()
        self._wake.notify_all()

    def leave(self, owner: MessagePump) -> None:
        """The owner is gone: what it waits for is not started any more, or interrupted."""
        with self._wake:
            self._jobs = [job for job in self._jobs if job.owner is not owner]
            heapq.heapify(self._jobs)
            self._give_up([job for job in self._begun if job.owner is owner])

    def _give_up(self, jobs: list[_Job]) -> None:
        """Under the lock. A store's server is told on a thread of its own, as that takes a way over the network."""
        for job in jobs:
            if self._interrupt is not None and job.patient:
                threading.Thread(target=self._end, args=(job,), name=f"tt-end-{job.number}", daemon=True).start()

    def _end(self, job: _Job) -> None:
        with self._wake:
            thread = job.thread
        if thread is not None and self._interrupt is not None:
            self._interrupt(thread)

    def run(self, owner: MessagePump, kind: str, work: Callable[[], T], answer: Callable[[T], Message]) -> None:
        """Like `call`, for what lasts (a run): on a thread of its own, never replaced, never in anyone's way."""
        with self._wake:
            job = _Job(DEMAND, next(self._numbers), owner, kind, lambda: answer(work()))
            self._running += 1
        threading.Thread(target=self._finish, args=(job, False), name=f"tt-run-{job.number}", daemon=True).start()

    def give_way(self) -> None:
        """From a call that takes long, between two parts of it: let the others go first, but not for ever.

        A store's lock goes to whoever asks first: without this, what the cursor is on would wait for the whole thread.
        """
        with self._wake:
            self._wake.wait_for(lambda: self._closed or (self._calls <= 1 and not self._jobs), GIVE_WAY)

    def close(self) -> None:
        """No more calls are started; threads that are idle end. Waits for nothing."""
        with self._wake:
            self._closed = True
            self._jobs.clear()
            self._wake.notify_all()

    @property
    def busy(self) -> bool:
        """Whether any call is waiting or running."""
        with self._wake:
            return bool(self._jobs) or self._running > 0 or self._waiting > 0

    def post(self, owner: MessagePump, message: Message) -> None:
        """Post from any thread. A message for a screen that is gone, or after the app has ended, is dropped."""
        try:
            owner.post_message(message)
        except RuntimeError:
            # The event loop closed between the check and the call: nobody is left to tell.
            return

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._jobs and not self._closed:
                    self._idle += 1
                    self._wake.wait()
                    self._idle -= 1
                if self._closed:
                    return
                job = heapq.heappop(self._jobs)
                job.thread = threading.get_ident()
                self._begun.append(job)
                self._running += 1
                self._calls += 1
            self._finish(job, job.priority == DEMAND)
            with self._wake:
                self._calls -= 1
                self._wake.notify_all()

    def _finish(self, job: _Job, replaceable: bool) -> None:
        try:
            message = self._done(job)
        except Busy as error:
            if job.patient and self._try_later(job):
                return
            message = Failed(job.kind, error, error.hint)
        except (StoreError, DebuggerError) as error:
            message = Failed(job.kind, error, error.hint)
        except BaseException as error:  # noqa: BLE001 - a thread's boundary: the app raises it again
            with self._wake:
                self._running -= 1
            self.post(self._app, Bug(error))
            return
        with self._wake:
            self._running -= 1
            stale = replaceable and not self._is_newest(job)
        if job.waited:
            self.post(job.owner, Waiting(job.kind, over=True))
        if not stale:
            self.post(job.owner, message)

    def _done(self, job: _Job) -> Message:
        try:
            return job.work()
        finally:
            with self._wake:
                job.thread = None
                if job in self._begun:
                    self._begun.remove(job)

    def _is_newest(self, job: _Job) -> bool:
        return job.priority != DEMAND or self._newest[job.owner][job.kind] == job.number

    def _try_later(self, job: _Job) -> bool:
        """Make the call again after a while; False when nobody waits for it any more."""
        with self._wake:
            if self._closed or not self._is_newest(job):
                return False
            self._running -= 1
            self._waiting += 1
        job.waited = True
        self.post(job.owner, Waiting(job.kind))
        timer = threading.Timer(AGAIN, self._again, (job,))
        timer.daemon = True
        timer.start()
        return True

    def _again(self, job: _Job) -> None:
        with self._wake:
            self._waiting -= 1
            if not self._closed and self._is_newest(job):
                self._push(job)
