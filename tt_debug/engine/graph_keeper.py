"""The owner of a run of a user's graph: a process of ours around the driver, which is in the user's interpreter.

Holds the run's lease and lock, keeps its records, and passes on what the driver tells. It outlives whoever listens, and
the driver does not outlive it. Refuses to know LangGraph or the user's code.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stores.leases import LEASE_SECONDS
from stores.model import Status, Value
from tt_debug.engine.child import ChildExit, run_child
from tt_debug.engine.events_pipe import Tell, open_events
from tt_debug.engine.graph_lock import holder, opened, sign
from tt_debug.engine.graph_owner import OWNER_FD

if TYPE_CHECKING:
    from stores.native.elsewhere import RunsElsewhere
    from stores.runs import Run
    from tt_debug.engine.graph_records import GraphRecords

_PATIENCE: Final = 5.0  # seconds for somebody's write to end, before a thread is not taken over
_PAUSE: Final = 0.02


class Keeper:
    """One run from its claim to its end, and the answers to what its driver asks."""

    def __init__(self, job: Mapping[str, Value], tell: Tell, ours: ExitStack) -> None:
        self._job, self._tell, self._ours = job, tell, ours
        self._thread = str(job["thread"])
        self._store: RunsElsewhere | None = None
        self._run: Run | None = None
        self._records: GraphRecords | None = None
        self._driver = 0
        self.ended = False
        self.refused = False

    # --- what the driver asks

    def serve(self, line: socket.socket) -> None:
        """Answer until the driver is gone; without answers it ends, whatever keeps us from giving them."""
        with line, suppress(OSError), line.makefile("r", encoding="utf-8") as asked:
            for question in asked:
                line.sendall(json.dumps(self._answer(json.loads(question))).encode() + b"\n")

    def _answer(self, asked: dict[str, Value]) -> Mapping[str, Value]:
        from stores.errors import LeaseLost, StoreError

        try:
            return self._about(asked)
        except LeaseLost as lost:
            return {"lost": f"another process took the run over: {lost}"}
        except StoreError as error:
            refusal = {"kind": type(error).__name__, "text": str(error), "hint": error.hint}
            owning = asked["ask"] in ("look", "begin")
            return {"refused": refusal} if owning else {"lost": f"our own records failed: {error}"}

    def _about(self, asked: dict[str, Value]) -> Mapping[str, Value]:
        what = asked["ask"]
        if what == "look":
            return self._look()
        if what == "begin":
            return self._begin(asked)
        assert self._store is not None
        assert self._run is not None
        assert self._records is not None
        match what:
            case "fence":
                self._store.owned(self._run.run_id, self._run.token)
            case "start":
                self._records.start(asked["task"], asked["node"])
            case "finish":
                from tt_debug.engine.graph_records import mark

                self._records.finish(asked["task"], mark(self._thread, asked))
            case "leave":
                self._records.end(Status.PAUSED, None)
            case "fail":
                self._records.fail(asked["task"], asked["error"])
            case "effect":
                return self._records.enter(asked)
            case "done":
                return self._records.done(asked["call"], asked["result"])
            case "failed":
                return self._records.failed(asked["call"], asked["error"], made=asked["made"])
        return {}

    # --- owning

    def _look(self) -> Mapping[str, Value]:
        """Raises Conflict while somebody runs the thread; owns nothing yet."""
        from stores.native.elsewhere import open_for_looking

        store = open_for_looking(Path(self._job["records"]))
        if store is not None:
            with closing(store):
                self._latest(store)
        return {}

    def _begin(self, standing: Mapping[str, Value]) -> Mapping[str, Value]:
        """Own the thread: its run goes on, or one begins. Raises Conflict while somebody else does."""
        from stores.native.elsewhere import open_for_runs
        from tt_debug.engine.graph_records import GraphRecords, Patience, mark
        from tt_debug.engine.ownership import claimed
        from tt_debug.engine.patience import patiently
        from tt_debug.engine.surroundings import Clock

        self._driver = standing["pid"]
        store = open_for_runs(Path(self._job["records"]))
        self._ours.callback(store.close)
        with self._nobody_writing():
            run = self._next_run(store, standing)
            lease = self._job.get("lease") or LEASE_SECONDS
            mine = self._ours.enter_context(claimed(store, run, lease=lease, on_conflict=self._job["on_conflict"]))
            store.stand(mark(self._thread, standing))
        heart = self._ours.enter_context(_beating(store, mine, lease, self._driver))
        store.abandon(mine.run_id, mine.token)
        clock = Clock()
        patience = Patience(lambda write: patiently(clock, write), heart.prolong)
        self._store, self._run = store, mine
        self._records = GraphRecords(store, mine, standing["checkpoint"], patience, self._job["allow"])
        return {"run": mine.run_id}

    @contextmanager
    def _nobody_writing(self) -> Iterator[None]:
        """While this is held no write to the thread is under way, and none begins."""
        from stores.errors import Busy

        descriptor, end = opened(Path(self._job["lock"])), time.monotonic() + _PATIENCE
        try:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if time.monotonic() > end:
                    raise Busy(
                        f"process {holder(descriptor)} is in the middle of a write to thread {self._thread!r}",
                        hint="let it go on, or end it; then try again",
                    )
                time.sleep(_PAUSE)
            sign(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _next_run(self, store: RunsElsewhere, standing: Mapping[str, Value]) -> Run:
        """The thread's run, which nobody works on, or a new one."""
        from stores.runs import RunStatus
        from tt_debug.engine.graph_records import mark

        latest = self._latest(store)
        if latest is None or latest.status in RunStatus.TERMINAL:
            store.stand(mark(self._thread, standing))
            return store.create_run(self._new_run(store, standing))
        if latest.status == RunStatus.WAITING:
            return store.wake(latest.run_id)
        if latest.status in (RunStatus.PAUSED, RunStatus.FAILED) or latest.hold_reason:
            return store.requeue(latest.run_id, self._job["until"])
        return latest

    def _latest(self, store: RunsElsewhere) -> Run | None:
        """The thread's newest run. Raises Conflict while somebody works on it."""
        from stores.errors import Conflict
        from tt_debug.engine.ownership import is_alive

        latest = next(iter(store.runs(self._thread)), None)
        if latest is not None and is_alive(store, latest):
            since = f" since {latest.started:%Y-%m-%d %H:%M:%S} UTC" if latest.started else ""
            where = f"process {latest.owner_pid} on {socket.gethostname()}"
            raise Conflict(
                f"thread {self._thread!r} is owned by {where}{since}, which runs it",
                hint="wait for it, or stop it with tt-debug pause or cancel",
            )
        return latest

    def _new_run(self, store: RunsElsewhere, standing: Mapping[str, Value]) -> Run:
        from stores.model import Ref
        from stores.runs import Definition, Run

        body = json.dumps({**self._job["graph"], "fingerprint": standing["fingerprint"]}, sort_keys=True)
        hash = hashlib.sha256(body.encode()).hexdigest()
        name, folder = str(self._job["graph"]["graph"]), self._job["graph"]["folder"]
        store.put_definition(Definition(hash, name, hash[:12], body, str(Path(folder) / "langgraph")))
        base = Ref(self._thread, "", standing["checkpoint"])
        scope, until = self._job["business_id"], self._job["until"]
        return Run(self._job["run"], self._thread, hash, business_id=scope, base=base, head=base, until=until)

    # --- what the driver tells

    def listen(self, line: dict[str, Value]) -> None:
        """One line of the driver's; its end is told once it is on record."""
        self.refused = self.refused or line["event"] == "refused"
        if line["event"] != "run_ended":
            self._tell(line)
            return
        self.end(line)

    def end(self, line: dict[str, Value]) -> None:
        """The run ends as ``line`` says, unless its records know better."""
        from stores.errors import LeaseLost, StoreError

        self.ended = True
        if self._records is not None and line["status"] != "lost":
            try:
                status, error, asked = self._records.end(line["status"], line["error"])
                if asked is not None:
                    question = {"node": asked.node, "approval": asked.id, "prompt": asked.prompt, "ns": ""}
                    self._tell({**line, "event": "waiting", **question})
                line = {**line, "status": status, "error": error}
            except LeaseLost as lost:
                line = {**line, "status": "lost", "error": f"another process took the run over: {lost}"}
            except StoreError as failed:
                line = {**line, "status": Status.CRASHED, "error": f"our own records cannot be kept: {failed}"}
        self._tell(line)

    def died(self, exit: ChildExit) -> None:
        """The driver is gone without having told its end."""
        from stores.errors import StoreError

        self._tell({"event": "died", "code": exit.code, "last_words": exit.last_words, "began": self._run is not None})
        if self._records is not None:
            how = f"signal {-exit.code}" if exit.code < 0 else f"exit {exit.code}"
            with suppress(StoreError):  # its lease ends without us
                self._records.end(Status.CRASHED, f"the process of the run died ({how})")


def _beating(store: RunsElsewhere, run: Run, lease: float, driver: int) -> Any:
    """A heartbeat that pauses while the driver is stopped: an owner whose hands are tied gives no sign of life."""
    from tt_debug.engine.ownership import Heartbeat

    class Beats(Heartbeat):
        """Of two processes."""

        def _beat(self) -> None:
            if not _is_stopped(driver):
                super()._beat()

    return Beats(store, run, lease)


def _is_stopped(process: int) -> bool:
    with suppress(ChildProcessError):
        found = os.waitid(os.P_PID, process, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
        return found is not None
    return False


def main() -> None:
    """Read the job, start the driver, own its run, and end with it."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    job: dict[str, Any] = json.load(sys.stdin)
    tell = open_events()
    ours, theirs = socket.socketpair()
    with ExitStack() as stack:
        keeper = Keeper(job, tell, stack)
        server = threading.Thread(target=keeper.serve, args=(ours,), name="driver", daemon=True)
        server.start()
        environment = {**os.environ, OWNER_FD: str(theirs.fileno())}
        exit = run_child(
            job["argv"], job["driver"], keeper.listen, environment, job["driver"]["folder"], keep=(theirs,)
        )
        if not keeper.ended and not keeper.refused:
            keeper.died(exit)


if __name__ == "__main__":
    main()
