"""Random histories: the native store says what the reference store says, and keeps what it once said."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from stores.errors import StoreError
from stores.ids import new_id
from stores.memory import MemoryStore
from stores.model import Change, Header, NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native

THREADS = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


class Histories(RuleBasedStateMachine):
    refs = Bundle("refs")

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "native.sqlite"
        create_native(self.path)
        self.native = NativeStore(self.path, read_only=False)
        self.memory = MemoryStore()
        self.pairs: list[tuple[Ref, Ref]] = []

    @rule(target=refs, thread=THREADS, state=st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
    def start(self, thread: str, state: dict[str, object]) -> int:
        return self.both(NewCheckpoint(Ref(thread, "", new_id(-1)), None, state, "input"))

    @rule(target=refs, parent=refs, thread=THREADS, state=st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
    def step(self, parent: int, thread: str, state: dict[str, object]) -> int:
        ours, theirs = self.pairs[parent]
        id = new_id(0)
        made = (
            self.native.append(NewCheckpoint(Ref(thread, "", id), ours, state, "step")),
            self.memory.append(NewCheckpoint(Ref(thread, "", id), theirs, state, "step")),
        )
        return self.note(*made)

    @rule(target=refs, base=refs, thread=st.sampled_from(["a", "b", "c", "d", "e"]), value=VALUES)
    def fork(self, base: int, thread: str, value: object) -> int:
        ours, theirs = self.pairs[base]
        change = (Change("remove" if value is None else "add", ("added",), new=value),)
        made: list[Header | StoreError] = []
        for store, ref in ((self.native, ours), (self.memory, theirs)):
            try:
                made.append(store.fork(ref, thread, change))
            except StoreError as error:
                made.append(error)
        one, other = made
        if isinstance(one, Header) and isinstance(other, Header):
            return self.note(one, other)
        assert isinstance(one, StoreError), f"{one} was made, but {other}"
        assert isinstance(other, StoreError), f"{other} was made, but {one}"
        return base

    @rule()
    def reopen(self) -> None:
        self.native.close()
        self.native = NativeStore(self.path, read_only=False)

    @invariant()
    def both_tell_the_same(self) -> None:
        assert [self.told(info.thread, self.native) for info in self.native.threads().items] == [
            self.told(info.thread, self.memory) for info in self.memory.threads().items
        ]

    def teardown(self) -> None:
        self.native.close()
        self.folder.cleanup()

    def both(self, new: NewCheckpoint) -> int:
        return self.note(self.native.append(new), self.memory.append(new))

    def note(self, ours: Header, theirs: Header) -> int:
        self.pairs.append((ours.ref, theirs.ref))
        return len(self.pairs) - 1

    def told(self, thread: str, store: NativeStore | MemoryStore) -> object:
        """All that both tell of a thread; ids that the stores chose themselves are told by their number."""
        side = 0 if store is self.native else 1
        number = {pair[side]: n for n, pair in enumerate(self.pairs)}
        parent = lambda header: None if header.parent is None else number[header.parent]  # noqa: E731
        headers = store.headers(thread).items
        return (
            thread,
            number[store.head(thread)],
            [(number[h.ref], parent(h), h.step, h.source, h.next, h.size) for h in headers],
            [repr(store.load(h.ref).state) for h in headers],
        )


Histories.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestHistories = Histories.TestCase
