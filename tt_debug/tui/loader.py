"""The only module of the interface that starts threads: calls of the session run here, answers come back as messages.

Owns order (demand before prefetch), supersession and the error boundary; it knows nothing of what is called.
Threads are daemons, so a hanging database never holds up quitting.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

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
    writes: bool = field(compare=False, default=False)
    waited: bool = field(compare=False, default=False)
    unwanted: bool = field(compare=False, default=False)  # replaced, or its owner is gone
    thread: int | None = field(compare=False, default=None)  # that runs it now
    again: threading.Timer | None = field(compare=False, default=None)  # that makes it again


class Loader:
    """Runs calls on its own threads. One instance for an app; `app` gets what is a bug.

    ``interrupt`` is told of the thread whose call nobody waits for any more; it may block.
    """

    def __init__(self, app: MessagePump, interrupt: Callable[[int], None] | None = None) -> None:
        self._app = app
        self._interrupt = interrupt
        self._begun: list[_Job] = []
        self._jobs: list[_Job] = []
        self._waiting: list[_Job] = []
        self._behind: list[_Job] = []
        """Writes, each behind one of the same owner that has not ended."""
        self._wake = threading.Condition()
        self._numbers = itertools.count()
        self._workers = 0
        self._idle = 0
        self._running = 0
        self._calls = 0
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
        it by `Waiting`.
        A newer demand of the same owner and kind replaces the older one: it is not started any more, and if it
        was, it is interrupted, and its answer dropped. A newer prefetch only replaces one that is still waiting.
        """
        with self._wake:
            priority = PREFETCH if prefetch else DEMAND
            job = _Job(priority, next(self._numbers), owner, kind, lambda: answer(work()), patient)

            def is_older(old: _Job) -> bool:
                return old.owner is owner and old.kind == kind and not old.writes

            if not prefetch:
                self._give_up(list(filter(is_older, self._begun)))
            replaced = self._forget(is_older)
            # Its owner was told that it waits, and is to hear when that is over.
            job.waited = any(old.waited for old in replaced)
            self._push(job)

    def write(self, owner: MessagePump, kind: str, work: Callable[[], T], answer: Callable[[T], Message]) -> None:
        """Run ``work``, which writes, and post ``answer(result)`` to ``owner``, or `Failed` with ``kind``.

        What a user has asked for is done once, after what the same owner asked for before, even if the owner is gone by
        then. It is not made again when the store is locked: it would come when nobody expects it any more.
        """
        with self._wake:
            job = _Job(DEMAND, next(self._numbers), owner, kind, lambda: answer(work()), writes=True)
            if any(each.writes and each.owner is owner for each in (*self._jobs, *self._begun)):
                self._behind.append(job)
            else:
                self._push(job)

    def _forget(self, unwanted: Callable[[_Job], bool]) -> list[_Job]:
        """Under the lock: such calls as have not begun are not made any more."""
        forgotten = [job for job in (*self._jobs, *self._waiting) if unwanted(job)]
        for job in forgotten:
            if job.again is not None:
                job.again.cancel()
        self._jobs = [job for job in self._jobs if job not in forgotten]
        self._waiting = [job for job in self._waiting if job not in forgotten]
        heapq.heapify(self._jobs)
        return forgotten

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
            self._forget(lambda job: job.owner is owner and not job.writes)
            self._give_up([job for job in self._begun if job.owner is owner and job.patient])

    def _give_up(self, jobs: list[_Job]) -> None:
        """Under the lock. A store's server is told on a thread of its own, as that takes a way over the network."""
        for job in jobs:
            job.unwanted = True
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
        threading.Thread(target=self._finish, args=(job,), name=f"tt-run-{job.number}", daemon=True).start()

    def watch(
        self, owner: MessagePump, kind: str, look: Callable[[], bool], answer: Callable[[], Message], pause: float
    ) -> Callable[[], None]:
        """Call ``look`` every ``pause`` seconds, on a thread of its own, until it says yes; then post ``answer()``, or
        `Failed`. While the store is locked nothing is seen. What is given back ends it. Who waits so is not busy."""
        over = threading.Event()

        def looking() -> None:
            message: Message | None = None
            while message is None and not (over.is_set() or self._closed):
                try:
                    message = answer() if look() else None
                except Busy:
                    pass
                except BaseException as error:  # noqa: BLE001 - a thread's boundary: the app raises it again
                    message = _told(kind, error)
                if message is None:
                    time.sleep(pause)  # a third cheaper than to wait for the event
            if message is not None and not over.is_set():
                self.post(self._app if isinstance(message, Bug) else owner, message)

        threading.Thread(target=looking, name=f"tt-watch-{next(self._numbers)}", daemon=True).start()
        return over.set

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
            self._behind.clear()
            self._forget(lambda _: True)
            self._wake.notify_all()

    def finish(self, work: Callable[[], object], seconds: float) -> None:
        """Do what is left to do at the end, and wait no longer than that for it: a database may hang."""
        last = threading.Thread(target=work, name="tt-last", daemon=True)
        last.start()
        last.join(seconds)

    @property
    def busy(self) -> bool:
        """Whether any call is waiting or running, or its answer is still to be posted."""
        with self._wake:
            return bool(self._jobs or self._waiting or self._behind) or self._running > 0

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
            self._finish(job)
            with self._wake:
                self._calls -= 1
                self._wake.notify_all()

    def _finish(self, job: _Job) -> None:
        message = self._outcome(job)
        if message is not None:
            with self._wake:
                self._ended(job)
                self._go_on_writing(job)
                stale = job.unwanted
            if job.waited:
                self.post(job.owner, Waiting(job.kind, over=True))
            if isinstance(message, Bug):
                self.post(self._app, message)
            elif not stale:
                self.post(job.owner, message)
        with self._wake:
            self._running -= 1

    def _outcome(self, job: _Job) -> Message | None:
        """What there is to tell; None of a call that is made again later."""
        try:
            return job.work()
        except Busy as error:
            return None if self._try_later(job) else _told(job.kind, error)
        except BaseException as error:  # noqa: BLE001 - a thread's boundary: the app raises it again
            return _told(job.kind, error)

    def _go_on_writing(self, done: _Job) -> None:
        """Under the lock: what its owner asked for behind it."""
        following = next((job for job in self._behind if done.writes and job.owner is done.owner), None)
        if following is not None:
            self._behind.remove(following)
            self._push(following)

    def _ended(self, job: _Job) -> None:
        """Under the lock."""
        job.thread = None
        self._begun = [each for each in self._begun if each is not job]

    def _try_later(self, job: _Job) -> bool:
        """Make the call again after a while; False when nobody waits for it any more."""
        timer = threading.Timer(AGAIN, self._again, (job,))
        timer.daemon = True
        with self._wake:
            if self._closed or job.unwanted or not job.patient:
                return False
            self._ended(job)
            job.waited, job.again = True, timer
            self._waiting.append(job)
        self.post(job.owner, Waiting(job.kind))
        timer.start()
        return True

    def _again(self, job: _Job) -> None:
        with self._wake:
            if job in self._waiting:
                self._waiting.remove(job)
                self._push(job)


def _told(kind: str, error: BaseException) -> Message:
    if isinstance(error, StoreError | DebuggerError):
        return Failed(kind, error, error.hint)
    return Bug(error)
