"""The contract of `stores.protocol` as tests: an adapter passes it by subclassing AdapterConformance,
with two pytest fixtures: ``sample``, a real store holding SAMPLE, opened for writing where the
adapter writes, and ``frozen``, the same opened read-only.

A declared capability is tested; an undeclared one must answer `Unsupported`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest

from stores.conformance_addresses import AddressConformance as AddressConformance
from stores.conformance_effects import EffectsConformance as EffectsConformance
from stores.conformance_runs import StepConformance
from stores.conformance_sample import HEADS as HEADS
from stores.conformance_sample import NOBODY as NOBODY
from stores.conformance_sample import ODD as ODD
from stores.conformance_sample import SAMPLE as SAMPLE
from stores.conformance_sample import TRIP as TRIP
from stores.conformance_sample import folder_as_it_is as folder_as_it_is
from stores.conformance_sample import sample_ref as sample_ref
from stores.conformance_supervision import SupervisionConformance
from stores.errors import Conflict, Invalid, LeaseLost, NotFound, ReadOnly, StoreError, Unreachable, Unsupported
from stores.model import Capability, Change, Header, NewCheckpoint, Ref, ThreadInfo, Value

Self = TypeVar("Self")
P = ParamSpec("P")
# An adapter under test: `Any`, since the tests of a capability call what only a store that declares it has.
AnyStore = Any


def needs(capability: str) -> Callable[[Callable[Concatenate[Self, AnyStore, P], None]], Callable[..., None]]:
    """A test of a capability: where it is not declared, the store must say so."""

    def wrap(test: Callable[Concatenate[Self, AnyStore, P], None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(self: Self, sample: AnyStore, *args: P.args, **kwargs: P.kwargs) -> None:
            if capability in sample.info.capabilities:
                return test(self, sample, *args, **kwargs)
            with pytest.raises(Unsupported):
                _attempt(sample, capability)
            return None

        return run

    return wrap


def _attempt(store: AnyStore, capability: str) -> Header:
    if capability == Capability.FORK:
        return store.fork(SAMPLE[2].ref, "another")  # type: ignore[no-any-return]
    if capability == Capability.NAMESPACES:
        return store.append(INNER)  # type: ignore[no-any-return]
    return store.append(NewCheckpoint(sample_ref(9, -1, "another"), None, {}, "input"))  # type: ignore[no-any-return]


INNER = NewCheckpoint(sample_ref(9, -1)._replace(ns="inner:1"), None, {"x": 1}, "input", step=-1)


class StoreConformance:
    """Reading: `stores.protocol.Store`."""

    def test_it_says_what_it_is(self, frozen: AnyStore) -> None:
        known = {value for name, value in vars(Capability).items() if name.isupper()}
        assert frozen.info.read_only
        assert frozen.info.kind
        assert frozen.info.store_id
        assert frozen.info.capabilities <= known

    def test_threads_are_listed_newest_first_with_their_heads(self, frozen: AnyStore) -> None:
        listed = frozen.threads().items
        assert [info.thread for info in listed] == [ODD, TRIP]
        assert [info.checkpoints for info in listed] == [2, 6]
        assert {info.thread: info.head for info in listed} == HEADS
        assert {info.thread: frozen.head(info.thread) for info in listed} == HEADS
        assert all(isinstance(info, ThreadInfo) and info.updated is not None for info in listed)

    def test_pages_of_threads_join_to_the_whole(self, frozen: AnyStore) -> None:
        assert _pages(frozen.threads, 1) == list(frozen.threads().items)
        assert frozen.threads(limit=0).items == ()
        with pytest.raises(ValueError):
            frozen.threads(limit=-1)

    def test_headers_are_listed_newest_first_and_a_child_before_its_parent(self, frozen: AnyStore) -> None:
        for thread in HEADS:
            headers = frozen.headers(thread).items
            written = {new.ref: new for new in SAMPLE if new.ref.thread == thread}
            assert [header.ref for header in headers] == list(reversed(written))
            assert {header.ref: header.parent for header in headers} == {
                ref: new.parent for ref, new in written.items()
            }
            assert all(header.step in (None, written[header.ref].step) for header in headers)
            assert all(header.problem is None for header in headers)
            assert headers == frozen.headers(thread).items

    @pytest.mark.parametrize("limit", [1, 2, 4, 6])
    def test_pages_of_headers_join_to_the_whole(self, frozen: AnyStore, limit: int) -> None:
        whole = list(frozen.headers(TRIP).items)
        assert _pages(functools.partial(frozen.headers, TRIP), limit) == whole
        assert frozen.headers(TRIP, limit=0).items == ()
        with pytest.raises(ValueError):
            frozen.headers(TRIP, limit=-1)

    def test_states_are_loaded_exactly(self, frozen: AnyStore) -> None:
        for new in SAMPLE:
            loaded = frozen.load(new.ref)
            assert _exact(loaded.state) == _exact(new.state)
            assert loaded.header.ref == new.ref
            assert loaded.header.parent == new.parent

    def test_a_listed_header_is_the_loaded_one(self, frozen: AnyStore) -> None:
        for header in frozen.headers(TRIP).items:
            assert frozen.load(header.ref).header == header

    def test_tasks_are_told_where_they_are_declared_and_nowhere_else(self, frozen: AnyStore) -> None:
        declared = Capability.TASKS in frozen.info.capabilities
        for new in SAMPLE:
            loaded = frozen.load(new.ref)
            told = {task.node for task in loaded.tasks}
            assert told >= set(loaded.header.next) if declared else not told

    def test_what_a_caller_does_to_a_state_stays_with_him(self, frozen: AnyStore) -> None:
        frozen.load(SAMPLE[4].ref).state["steps"].clear()
        assert frozen.load(SAMPLE[4].ref).state["steps"] == SAMPLE[4].state["steps"]

    def test_unknown_names_are_not_found(self, frozen: AnyStore) -> None:
        for unknown in (NOBODY, NOBODY._replace(thread=TRIP), SAMPLE[0].ref._replace(ns="nowhere")):
            with pytest.raises(NotFound):
                frozen.load(unknown)
        with pytest.raises(NotFound):
            frozen.headers(NOBODY.thread)
        with pytest.raises(NotFound):
            frozen.head(NOBODY.thread)
        with pytest.raises(NotFound):
            frozen.head(TRIP, "nowhere")

    def test_it_may_be_called_from_many_threads(self, frozen: AnyStore) -> None:
        refs = [new.ref for new in SAMPLE] * 20
        with ThreadPoolExecutor(8) as pool:
            loaded = list(pool.map(lambda ref: frozen.load(ref).header.ref, refs))
        assert loaded == refs

    def test_looking_leaves_the_folder_as_it_was(self, frozen: AnyStore) -> None:
        if frozen.info.path is None:
            pytest.skip("this store is not a file")
        folder = Path(frozen.info.path).parent
        before = folder_as_it_is(folder)
        for info in frozen.threads().items:
            for header in frozen.headers(info.thread).items:
                frozen.load(header.ref)
        assert folder_as_it_is(folder) == before
        frozen.close()
        assert folder_as_it_is(folder) == before

    def test_after_closing_nothing_is_answered(self, frozen: AnyStore) -> None:
        frozen.close()
        frozen.close()
        for question in (
            frozen.threads,
            lambda: frozen.headers(TRIP),
            lambda: frozen.head(TRIP),
            lambda: frozen.load(SAMPLE[0].ref),
        ):
            with pytest.raises(Unreachable):
                question()


class WriterConformance:
    """Appending: `stores.protocol.Writer`."""

    @needs(Capability.WRITE)
    def test_what_was_appended_is_there(self, sample: AnyStore) -> None:
        new = NewCheckpoint(sample_ref(9, 1), SAMPLE[5].ref, {"a": {"b": [1, 1.0, True, "1", None]}}, "step")
        header = sample.append(new)
        assert (header.ref, header.parent, header.step) == (new.ref, new.parent, 2)
        assert _exact(sample.load(new.ref).state) == _exact(new.state)
        assert sample.head(TRIP) == new.ref
        assert sample.headers(TRIP).items[0] == header

    @needs(Capability.NAMESPACES)
    def test_a_namespace_has_a_line_and_a_head_of_its_own(self, sample: AnyStore) -> None:
        if Capability.WRITE not in sample.info.capabilities:
            pytest.skip("nothing can be put into a namespace of this store")
        header = sample.append(INNER)
        assert header.ref == INNER.ref
        assert (sample.head(TRIP, INNER.ref.ns), sample.head(TRIP)) == (INNER.ref, HEADS[TRIP])
        assert sample.load(INNER.ref).state == INNER.state
        assert header in sample.headers(TRIP).items

    @needs(Capability.WRITE)
    def test_the_same_append_twice_is_one_checkpoint(self, sample: AnyStore) -> None:
        again = sample.append(SAMPLE[5])
        assert again.ref == SAMPLE[5].ref
        assert len(sample.headers(TRIP).items) == 6
        with pytest.raises(Conflict):
            sample.append(NewCheckpoint(SAMPLE[5].ref, SAMPLE[5].parent, {"other": 1}, "step", step=1))
        assert sample.load(SAMPLE[5].ref).state == SAMPLE[5].state

    @needs(Capability.WRITE)
    def test_an_append_makes_a_thread(self, sample: AnyStore) -> None:
        first = NewCheckpoint(sample_ref(9, -1, "new"), None, {"a": 1}, "input", meta={"who": "me"})
        header = sample.append(first)
        assert header.step == -1
        assert header.meta["who"] == "me"
        assert sample.threads().items[0].thread == "new"

    @needs(Capability.WRITE)
    def test_an_append_without_its_parent_or_its_lease_writes_nothing(self, sample: AnyStore) -> None:
        before = _content(sample)
        new = NewCheckpoint(sample_ref(9, 0, "new"), NOBODY, {}, "step")
        with pytest.raises(NotFound):
            sample.append(new)
        with pytest.raises(LeaseLost):
            sample.append(NewCheckpoint(new.ref, SAMPLE[5].ref, {}, "step"), fence=("no such run", 1))
        assert _content(sample) == before

    @needs(Capability.WRITE)
    @pytest.mark.parametrize("value", [float("nan"), (1, 2), {1: "key"}, "\ud800", {1, 2}, 2**70])
    def test_what_would_read_back_changed_is_refused_with_its_path(self, sample: AnyStore, value: object) -> None:
        before = _content(sample)
        new = NewCheckpoint(sample_ref(9, 0), SAMPLE[5].ref, {"a": [0, value]}, "step")
        with pytest.raises(Invalid, match=r"a\[1\]"):
            sample.append(new)
        assert _content(sample) == before

    @needs(Capability.WRITE)
    def test_bytes_are_kept_exactly_or_refused_with_their_path(self, sample: AnyStore) -> None:
        new = NewCheckpoint(sample_ref(9, 0), SAMPLE[5].ref, {"a": [0, b"bytes"]}, "step")
        if Capability.BLOBS not in sample.info.capabilities:
            with pytest.raises(Invalid, match=r"a\[1\]"):
                sample.append(new)
            return
        kept = sample.load(sample.append(new).ref).state["a"][1]
        assert (kept.kind, kept.size, kept.data) == ("bytes", 5, b"bytes")

    @needs(Capability.FORK)
    def test_a_fork_is_a_new_thread_and_the_base_stays(self, sample: AnyStore) -> None:
        base, before = SAMPLE[2], _content(sample)
        header = sample.fork(base.ref, "fork", meta={"why": "to see"})
        assert (header.ref.thread, header.source, header.meta["why"]) == ("fork", "fork", "to see")
        assert header.next == sample.load(base.ref).header.next
        assert _exact(sample.load(header.ref).state) == _exact(base.state)
        assert sample.head("fork") == header.ref
        assert {ref: state for ref, state in _content(sample).items() if ref.thread != "fork"} == before
        assert sample.threads().items[0].thread == "fork"

    @needs(Capability.FORK)
    def test_a_fork_carries_changes_and_nothing_else(self, sample: AnyStore) -> None:
        changes = (
            Change("change", ("city",), "Łódź", "Kraków"),
            Change("remove", ("none",), None),
            Change("add", ("steps", 0), new={"id": "x"}),
        )
        header = sample.fork(SAMPLE[2].ref, "fork", changes)
        wanted = {**SAMPLE[2].state, "city": "Kraków", "steps": [{"id": "x"}, *SAMPLE[2].state["steps"]]}
        del wanted["none"]
        assert _exact(sample.load(header.ref).state) == _exact(wanted)

    @needs(Capability.FORK)
    def test_an_edit_in_the_thread_itself_becomes_its_head(self, sample: AnyStore) -> None:
        before = _content(sample)
        header = sample.fork(SAMPLE[5].ref, TRIP, [Change("change", ("city",), "Łódź", "Kraków")])
        assert sample.head(TRIP) == header.ref
        assert header.ref.thread == TRIP
        assert header.source in ("edit", "fork", "update")
        assert sample.load(header.ref).state["city"] == "Kraków"
        now = _content(sample)
        assert set(now) - set(before) == {header.ref}
        assert {ref: now[ref] for ref in before} == before

    @needs(Capability.FORK)
    def test_forks_of_forks_stay_apart(self, sample: AnyStore) -> None:
        one = sample.fork(SAMPLE[2].ref, "one", [Change("change", ("n",), 1, 2)])
        two = sample.fork(one.ref, "two", [Change("change", ("n",), 2, 3)])
        assert [sample.load(ref).state["n"] for ref in (SAMPLE[2].ref, one.ref, two.ref)] == [1, 2, 3]
        assert sample.head("one") == one.ref

    @needs(Capability.FORK)
    def test_a_fork_that_cannot_be_writes_nothing(self, sample: AnyStore) -> None:
        before = _content(sample)
        refused: list[tuple[type[StoreError], Ref, str, list[Change]]] = [
            (Conflict, SAMPLE[2].ref, ODD, []),
            (NotFound, NOBODY, "fork", []),
            (Invalid, SAMPLE[2].ref, "fork", [Change("remove", ("absent",), 1)]),
            (Invalid, SAMPLE[2].ref, "fork", [Change("change", ("n",), 1, object())]),
        ]
        for error, base, thread, changes in refused:
            with pytest.raises(error):
                sample.fork(base, thread, changes)
        assert _content(sample) == before

    @needs(Capability.FORK)
    def test_of_many_forks_to_one_name_one_is_made(self, sample: AnyStore) -> None:
        def attempt(number: int) -> bool:
            try:
                sample.fork(SAMPLE[2].ref, "same", [Change("change", ("n",), 1, number)])
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(16))) == 1

    def test_a_store_opened_for_looking_refuses_to_write(self, frozen: AnyStore) -> None:
        before = _content(frozen)
        for capability in (Capability.WRITE, Capability.FORK):
            expected = ReadOnly if capability in frozen.info.capabilities else Unsupported
            with pytest.raises(expected):
                _attempt(frozen, capability)
        assert _content(frozen) == before


class RunStoreConformance(StepConformance, SupervisionConformance):
    """`stores.protocol.RunStore`: definitions, runs, steps, approvals; ownership, cases, events."""


class AdapterConformance(StoreConformance, AddressConformance, WriterConformance, RunStoreConformance):
    """All of it: what an adapter declares is tested, what it does not must say so."""


def _pages(listing: Callable[..., Any], limit: int) -> list[Any]:
    items: list[Any] = []
    after = None
    while True:
        page = listing(after=after, limit=limit)
        assert len(page.items) <= limit
        items += page.items
        if page.next is None:
            return items
        after = page.next


def _content(store: AnyStore) -> dict[Ref, str]:
    threads = [info.thread for info in store.threads().items]
    refs = [header.ref for thread in threads for header in store.headers(thread).items]
    return {ref: _exact(store.load(ref).state) for ref in refs}


def _exact(value: Value) -> str:
    """A text that differs where types differ: 1, 1.0, True and "1" are four values."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{key!r}: {_exact(item)}" for key, item in value.items())) + "}"
    return "[" + ", ".join(map(_exact, value)) + "]" if isinstance(value, list) else repr(value)
