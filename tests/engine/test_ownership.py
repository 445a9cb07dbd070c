"""Who runs a run: the kernel's lock, the lease, and what is true after either was lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores import leases
from stores.errors import Conflict, LeaseLost, Unreachable
from stores.ids import new_id
from stores.locks import RunLock
from stores.making import create_native
from stores.model import NewCheckpoint, Ref
from stores.protocol import RunStore
from stores.registry import open_store
from stores.runs import Run, RunStatus
from stores.supervision import Takeover
from tests.engine.flows import Bench, bench, python
from tests.engine.holders import holder
from tests.postgres import database, postgres_server
from tt_debug.engine import ownership
from tt_debug.engine.ownership import Heartbeat, claimed, is_alive, lock_path, why_ownerless
from tt_debug.engine.surroundings import Clock

__all__ = ["database", "postgres_server"]


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    made = bench(tmp_path, [python("a", "count", None)])
    made.start({})
    return made


def test_one_living_process_holds_the_lock(on: Bench) -> None:
    path = lock_path(on.store, "r 'x'\n", "me")
    assert not path.parent.exists()
    with holder(path):
        assert not RunLock(path).acquire()
        other = RunLock(lock_path(on.store, "other", "me"))
        assert other.acquire()
        other.release()
    assert not path.parent.exists()


@pytest.mark.parametrize("more", [(), ("fork",)])
def test_the_kernel_frees_the_lock_at_death(on: Bench, more: tuple[str, ...]) -> None:
    run = on.store.claim("run-t", "dead", os.getpid())
    with holder(lock_path(on.store, "run-t", "dead"), *more) as child:
        assert is_alive(on.store, run)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert why_ownerless(on.store, run) == f"its process {os.getpid()} is gone"
        with claimed(on.store, run) as mine:
            assert (mine.token, mine.recoveries) == (2, 1)
            assert is_alive(on.store, mine)
    assert not lock_path(on.store, "run-t", "dead").parent.exists()


def test_a_lock_needs_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unreachable):
        RunLock(tmp_path / "file" / "s.db.locks" / "r").acquire()


def test_a_run_at_work_is_not_claimed(on: Bench) -> None:
    with claimed(on.store, on.store.run("run-t")) as mine:
        assert why_ownerless(on.store, mine) is None
        with pytest.raises(Conflict, match=f"process {os.getpid()}"), claimed(on.store, mine):
            pass
        with pytest.raises(Conflict), claimed(on.store, on.store.run("run-t")):
            pass
        assert on.store.run("run-t").token == 1


def test_what_a_process_leaves_that_dies_before_it_owns_the_run_is_tidied_away(on: Bench) -> None:
    with holder(lock_path(on.store, "run-t", "dead")) as child, claimed(on.store, on.store.run("run-t")) as mine:
        child.send_signal(signal.SIGKILL)
        child.wait()
        on.store.finish("run-t", mine.token, RunStatus.PAUSED)
    assert not lock_path(on.store, "run-t", "dead").parent.exists()


def test_an_owner_that_lives_and_does_not_beat_is_taken_over(on: Bench) -> None:
    with holder(lock_path(on.store, "run-t", "stopped")):
        run = on.store.claim("run-t", "stopped", os.getpid(), lease=0)
        found = on.store.run("run-t")
        assert "no sign of life since" in (why_ownerless(on.store, found) or "")
        with claimed(on.store, found) as mine:
            with pytest.raises(LeaseLost):
                on.store.beat("run-t", run.token)
            # That one of the two owners still has its lock says nothing about the other.
            assert is_alive(on.store, mine)
        assert not is_alive(on.store, on.store.run("run-t"))


def test_the_wall_clock_does_not_move_a_lease_and_a_reboot_ends_it(on: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run = on.store.claim("run-t", "me", os.getpid())
    with holder(lock_path(on.store, "run-t", "me")):
        monkeypatch.setattr("stores.native.lease_clock.time.time_ns", lambda: 0)  # decades ago
        on.store.beat("run-t", run.token)
        assert on.store.time().year == 1970
        assert is_alive(on.store, on.store.run("run-t"))
        clock = leases.boot_clock()
        monkeypatch.setattr(leases, "boot_clock", lambda: clock + 3_600_000)  # an hour asleep
        assert not is_alive(on.store, on.store.run("run-t"))
        monkeypatch.setattr(leases, "boot_clock", lambda: clock)
        assert is_alive(on.store, on.store.run("run-t"))
        monkeypatch.setattr(ownership, "boot_id", lambda: "another boot")
        assert why_ownerless(on.store, run) == "the machine was started anew since"


def test_the_heart_beats_while_a_node_takes_long(on: Bench) -> None:
    with claimed(on.store, on.store.run("run-t"), lease=0.3) as mine:
        assert mine.beat is not None
        with Heartbeat(on.store, mine, lease=0.3):
            beat = mine.beat
            while beat == mine.beat:
                beat = on.store.run("run-t").beat
        assert on.store.run("run-t").status == RunStatus.RUNNING


def test_no_call_begins_late_in_a_lease(on: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run = on.store.claim("run-t", "me", os.getpid(), lease=30)
    heart, clock = Heartbeat(on.store, run, lease=30), leases.boot_clock()
    on.store.beat("run-t", run.token, 1)
    monkeypatch.setattr(ownership, "boot_clock", lambda: clock + 24_000)
    heart.prolong()
    assert (on.store.run("run-t").lease_left or 0) <= 1
    monkeypatch.setattr(ownership, "boot_clock", lambda: clock + 26_000)
    heart.prolong()
    assert (on.store.run("run-t").lease_left or 0) > 1
    on.store.claim("run-t", "you", 1, takeover=Takeover(run.token, "theft"))
    monkeypatch.setattr(ownership, "boot_clock", lambda: clock + 60_000)
    with pytest.raises(LeaseLost):
        heart.prolong()


@pytest.fixture
def served(database: str, tmp_path: Path) -> Iterator[RunStore]:
    """A store on a server, with the pending run "r"."""
    create_native(database)
    workflow = bench(tmp_path, [python("a", "count", None)]).workflow
    with closing(open_store(database, read_only=False)) as store:
        assert isinstance(store, RunStore)
        store.put_definition(workflow.definition())
        ref = Ref("t", "", new_id(-1))
        store.create_run(Run("r", "t", workflow.hash), NewCheckpoint(ref, None, {}, "input", step=-1, next=("a",)))
        yield store


def test_on_a_server_no_clock_of_a_client_counts(served: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    before, clock = served.time(), leases.boot_clock()
    monkeypatch.setattr("stores.native.lease_clock.time.time_ns", lambda: 0)
    monkeypatch.setattr(leases, "boot_clock", lambda: clock + 86_400_000)
    with claimed(served, served.run("r")) as mine:
        served.beat("r", mine.token)
        found = served.run("r")
        assert 0 < (found.lease_left or 0) <= 30
        assert found.started is not None
        assert before <= found.started <= (found.beat or before) <= served.time()
        assert Clock(served.time()).now() <= served.time()


def test_of_an_owner_on_another_machine_the_lease_alone_tells(
    served: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with claimed(served, served.run("r")):
        pass
    assert "is gone" in (why_ownerless(served, served.run("r")) or "")
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "another home"))
    found = served.run("r")
    assert why_ownerless(served, found) is None
    with pytest.raises(Conflict), claimed(served, found):
        pass
    served.beat("r", found.token, 0)
    assert "its lease is over" in (why_ownerless(served, served.run("r")) or "")


def test_on_a_server_the_lease_tells_who_runs_a_run_and_here_the_lock_too(served: RunStore) -> None:
    store = served
    with claimed(store, store.run("r")) as mine:
        assert is_alive(store, store.run("r"))
        with pytest.raises(Conflict), claimed(store, store.run("r")):
            pass
        store.beat("r", mine.token, 0)
        assert "its lease is over" in (why_ownerless(store, store.run("r")) or "")
        store.beat("r", mine.token, 30)
    assert why_ownerless(store, store.run("r")) == f"its process {os.getpid()} is gone"
    with claimed(store, store.run("r")) as mine:
        assert (mine.token, mine.recoveries) == (2, 1)
        assert store.finish("r", mine.token, RunStatus.PAUSED).lease_left is None
