"""Large states as trees of chunks: equal parts once, whatever is done to them, and the same state back."""

from __future__ import annotations

import json
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.changes import apply_changes
from stores.codec import json as codec
from stores.errors import Corrupt, Invalid
from stores.model import Change
from stores.native.sqlite import NativeStore
from stores.native.states import States
from stores.native.tree_cutting import Cutting
from stores.native.tree_reading import Reading
from stores.native.trees import DEEPEST, INLINE, Held, hash_in, is_tree
from tests.stores.native_states import LETTERS, MESSAGES, append, chat, message, path, sql, store
from tt_debug.redaction import Redaction
from tt_debug.session.questions import history
from tt_debug.session.session import Session
from tt_debug.values import from_json, to_json

__all__ = ["path", "store"]


class Memory:
    """Chunks in a dict, and what is held of them."""

    def __init__(self) -> None:
        self.texts: dict[bytes, bytes] = {}
        self.held: dict[str, Held] = {}

    def write(self, state: dict[str, Any], before: str | None) -> tuple[str, int]:
        """The row, and the bytes of what had not been there."""
        cutting = Cutting(self.held.get, lambda _, value: value)
        row = cutting.root(state, {key: codec.size(value) for key, value in state.items()}, before)
        new = {hash: text for hash, text in cutting.chunks.items() if hash not in self.texts}
        self.texts |= new
        self.held |= cutting.made
        return row, sum(map(len, new.values()))

    def read(self, row: str, size: int, *, anew: bool = True) -> dict[str, Any]:
        held = {} if anew else self.held
        reading = Reading(
            lambda names: {name: held[name] for name in names if name in held},
            lambda names: {name: self.texts.get(hash_in(name), "is gone") for name in names},
            lambda _, value: value,
        )
        state: dict[str, Any] = reading.root(row, size).value
        return state


# --- the tree itself

SMALL = st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.sampled_from([0.0, 1.0, -0.0]), st.text(max_size=9))
ITEMS = st.one_of(
    SMALL,
    st.integers(0, 99).map(lambda n: message(n, 300)),
    st.integers(0, 99).map(lambda n: message(n, 1500)),
    st.integers(0, 9).map(lambda n: [message(n + i, 400) for i in range(14)]),
    st.integers(0, 9).map(lambda n: {f"k{i}": message(n * i, 200) for i in range(30)}),
    st.integers(0, 9).map(lambda n: str(n) * 6000),
)
EDITS = st.lists(
    st.tuples(st.sampled_from(["append", "insert", "remove", "change", "key", "cut"]), st.floats(0, 1), ITEMS),
    min_size=1,
    max_size=6,
)


def edited(state: dict[str, Any], what: str, where: float, item: Any) -> dict[str, Any]:
    items = list(state["items"])
    at = int(where * len(items))
    if what == "append":
        items.append(item)
    elif what == "insert":
        items.insert(at, item)
    elif what == "remove" and at < len(items):
        del items[at]
    elif what == "change" and at < len(items):
        items[at] = item
    elif what == "cut":
        items = items[at:]
    keys = {**state["keys"], f"key {int(where * 20)}": item} if what == "key" else state["keys"]
    return {"items": items, "keys": keys, "last": item}


@settings(max_examples=40, deadline=None)
@given(st.lists(ITEMS, max_size=30), EDITS)
def test_whatever_is_done_to_a_state_it_reads_back_and_is_the_tree_it_would_be_from_scratch(
    items: list[Any], edits: list[tuple[str, float, Any]]
) -> None:
    memory, scratch = Memory(), Memory()
    state: dict[str, Any] = {"items": items, "keys": {}, "last": None}
    row, _ = memory.write(state, None)
    for edit in edits:
        state = edited(state, *edit)
        row, _ = memory.write(state, row)
        assert row == Memory.write(scratch, state, None)[0]
        text = codec.dumps(state)
        # By their texts: 1, 1.0 and True differ there, and so do two orders of keys.
        assert codec.dumps(memory.read(row, len(text))) == text
        assert codec.dumps(memory.read(row, len(text), anew=False)) == text


@pytest.mark.parametrize(
    ("name", "change", "most"),
    [
        ("append", lambda m: [*m, message(999)], 4_000),
        ("insert at the head", lambda m: [message(999), *m], 8_000),
        ("edit in the middle", lambda m: [*m[:100], message(999), *m[101:]], 8_000),
        ("edit and append", lambda m: [*m[:100], message(999), *m[101:], message(998)], 12_000),
        ("remove", lambda m: m[:50] + m[60:], 8_000),
        ("only the end", lambda m: m[120:], 8_000),
    ],
)
@pytest.mark.parametrize("size", [100, 1000])
def test_a_change_of_a_list_writes_what_is_around_it(name: str, change: Any, most: int, size: int) -> None:
    before = [message(number, size) for number in range(200)]
    memory = Memory()
    row, whole = memory.write({"messages": before}, None)
    _, new = memory.write({"messages": change(before)}, row)
    assert new < most, f"{name} wrote {new} bytes of {whole}"


def test_a_change_of_type_alone_is_a_change() -> None:
    memory = Memory()
    state = {"messages": [{**message(n), "n": 1} for n in range(50)]}
    row, _ = memory.write(state, None)
    for value in (1.0, True, "1"):
        other = {"messages": [*state["messages"][:25], {**message(25), "n": value}, *state["messages"][26:]]}
        again, _ = memory.write(other, row)
        assert again != row
        assert repr(memory.read(again, 60_000)) == repr(other)


def test_what_a_caller_does_to_its_own_values_later_is_no_history(store: NativeStore) -> None:
    messages = [dict(each) for each in MESSAGES[:40]]
    first = append(store, {"messages": messages})
    messages[3]["content"] = "changed"
    messages.append({"id": "new"})
    second = append(store, {"messages": messages}, first.ref)
    assert store.load(first.ref).state == {"messages": MESSAGES[:40]}
    assert store.load(second.ref).state == {"messages": messages}


# --- in a store


def test_small_states_stand_in_their_rows_and_large_ones_as_trees(store: NativeStore, path: Path) -> None:
    headers = chat(store, 30)
    rows = sql(path, "SELECT state, size FROM checkpoints ORDER BY seq")
    assert [is_tree(text) for text, _ in rows] == [size > INLINE for _, size in rows]
    for header, (text, size) in zip(headers, rows, strict=True):
        state = store.load(header.ref).state
        assert header.size == size == len(codec.dumps(dict(state)))
        assert text if is_tree(text) else json.loads(text) == state


def test_no_ordinary_state_is_taken_for_a_tree(store: NativeStore) -> None:
    root = append(store, {"messages": MESSAGES[:40]})
    (text,) = sql(store._path, "SELECT state FROM checkpoints")[0]
    looks = {"state": text, "list": json.loads(text), "dict": {"list": [["n" + "0" * 40]]}, "dict2": {"dict": []}}
    for state in (looks, {**looks, "messages": MESSAGES[:40]}, {"x": ["j" + "0" * 40] * 2000}):
        made = append(store, state, root.ref, id=f"{hash(str(state))}")
        with closing(NativeStore(store._path)) as anew:
            assert anew.load(made.ref).state == state


def test_a_growing_chat_takes_little_more_than_its_messages(store: NativeStore, path: Path) -> None:
    headers = chat(store, 200)
    unique = len(codec.dumps({"messages": MESSAGES, "n": 200}))
    ((inline,),) = sql(path, "SELECT sum(length(state)) FROM checkpoints")
    (count, packed) = sql(path, "SELECT count(*), sum(length(data)) FROM chunks")[0]
    # Of the first steps, whose states stand in their rows, each takes all of what it holds.
    first = sum(header.size or 0 for header in headers if (header.size or 0) <= INLINE)
    assert (inline + packed - first) / unique <= 1.4
    assert count <= 2.5 * len(headers)
    ((pages,), (size,)) = sql(path, "PRAGMA page_count")[0], sql(path, "PRAGMA page_size")[0]
    assert pages * size <= 3.2 * unique


def test_equal_parts_of_two_states_are_the_same_objects(store: NativeStore, path: Path) -> None:
    headers = chat(store, 60)
    with closing(NativeStore(path)) as anew:
        for reader in (store, anew):
            one, two = (reader.load(header.ref).state for header in headers[-2:])
            assert all(a is b for a, b in zip(one["messages"], two["messages"][:-1], strict=True))
            assert reader.load(headers[-1].ref).state["messages"] is two["messages"]


def test_a_fork_shares_what_it_does_not_change(store: NativeStore, path: Path) -> None:
    base = chat(store, 60)[-1]
    before = sql(path, "SELECT count(*) FROM chunks")[0][0]
    fork = store.fork(base.ref, "fork", [Change("change", ("messages", 3, "content"), None, "short")])
    state = store.load(fork.ref).state
    assert state["messages"][3]["content"] == "short"
    assert store.load(base.ref).state["messages"] == MESSAGES[:60]
    assert sql(path, "SELECT count(*) FROM chunks")[0][0] - before <= 6


def test_a_commit_asks_once_which_chunks_are_there(store: NativeStore) -> None:
    headers = chat(store, 40)
    asked: list[str] = []
    with store._writing() as db:
        db.connection.set_trace_callback(asked.append)  # type: ignore[attr-defined]
    append(store, {"messages": MESSAGES[40:140], "n": 0}, headers[-1].ref)
    about = [statement for statement in asked if "chunks" in statement]
    assert sum(statement.startswith("SELECT") for statement in about) == 1
    assert len(about) <= 8


def test_a_tree_that_names_one_chunk_over_and_over_is_not_built() -> None:
    memory = Memory()
    name = "j" + "0" * 40
    row, names = "", [f"{name}/2"]
    import hashlib

    memory.texts[hash_in(name)] = b"[1,2]"
    items = 2
    for _ in range(12):
        text = json.dumps([f"{names[0]}"] * 8, separators=(",", ":")).encode()
        items *= 8
        hash = hashlib.sha256(text).digest()[:20]
        memory.texts[hash] = text
        names = [f"n{hash.hex()}/{items}"]
    row = json.dumps(["tt-debug/tree-1", {"dict": [[["x", {"list": [names]}]]]}])
    with pytest.raises(Corrupt):
        memory.read(row, 20_000)
    row = json.dumps(["tt-debug/tree-1", {"dict": [names]}])
    with pytest.raises(Corrupt, match="larger than it says"):
        memory.read(row, 20_000)


# --- what is large in another way


def test_deep_values_are_kept_or_refused_with_their_path(store: NativeStore, path: Path) -> None:
    def nested(levels: int) -> Any:
        value: Any = {"text": "x" * 20_000}
        for level in range(levels):
            value = {"in": value} if level % 2 else [value]
        return value

    deep = append(store, {"deep": nested(240)})
    wide = append(store, {"deep": nested(DEEPEST * 2), "more": MESSAGES[:20]}, deep.ref)
    before = sql(path, "SELECT count(*) FROM chunks")
    with pytest.raises(Invalid, match=r"deep.*nested deeper"):
        append(store, {"deep": nested(300)}, wide.ref)
    assert sql(path, "SELECT count(*) FROM chunks") == before
    with closing(NativeStore(path)) as anew:
        assert anew.load(deep.ref).state == {"deep": nested(240)}
        assert anew.load(wide.ref).state["deep"] == nested(DEEPEST * 2)
        assert anew.head("chat") == wide.ref


@pytest.mark.parametrize("value", [float("nan"), (1, 2), {1: "key"}, "\ud800", {1, 2}, 2**70])
def test_in_a_large_state_too_what_would_read_back_changed_is_refused(store: NativeStore, value: object) -> None:
    messages: list[Any] = [{**each, "n": None} for each in MESSAGES[:40]]
    head = append(store, {"messages": messages})
    for place in (0, 20, 39):
        changed = [*messages[:place], {**messages[place], "n": value}, *messages[place + 1 :]]
        with pytest.raises(Invalid, match=rf"messages\[{place}\].n"):
            append(store, {"messages": changed}, head.ref)
    assert store.head("chat") == head.ref


def test_a_value_of_many_megabytes_is_kept(store: NativeStore, path: Path) -> None:
    document = "".join(random.Random(1).choices(LETTERS, k=1000)) * 8000
    first = append(store, {"document": document, "n": 1})
    second = append(store, {"document": document, "n": 2}, first.ref)
    with closing(NativeStore(path)) as anew:
        assert anew.load(second.ref).state == {"document": document, "n": 2}
        assert anew.load(first.ref).state["document"] is anew.load(second.ref).state["document"]
    assert sql(path, "SELECT count(*) FROM chunks") == [(1,)]


# --- what is held in memory


def test_what_is_held_in_memory_is_bounded_and_shared(path: Path) -> None:
    with closing(NativeStore(path, read_only=False)) as store:
        headers = chat(store, 120)
    with closing(NativeStore(path)) as reader:
        reader._states = States(reader.blob, most=400_000)
        for header in [*headers, *reversed(headers)]:
            assert len(reader.load(header.ref).state["messages"]) == header.step + 2  # type: ignore[operator]
            assert reader._states._bytes <= 400_000
        assert sum(held.cost for held in reader._states._held.values()) == reader._states._bytes
        assert reader._states._bytes > 200_000


def test_nobody_changes_the_values_that_states_share(path: Path, tmp_path: Path) -> None:
    with closing(NativeStore(path, read_only=False)) as store:
        headers = chat(store, 40)
        texts = {header.ref: codec.dumps(dict(store.load(header.ref).state)) for header in headers}
    session = Session.open(str(path))
    refs = [header.ref for header in headers]
    shared = {ref: session.load(ref).state for ref in refs}
    head, before = refs[-1], refs[-2]
    changes = session.diff(head, before)
    apply_changes(shared[before], changes)
    apply_changes(shared[head], [Change("change", ("messages", 3, "content"), None, "x"), Change("remove", ("n",))])
    forked = session.fork(head, "fork", [Change("change", ("messages", 0, "content"), None, "x")])
    session.edit(forked.ref, [Change("add", ("messages", 0), new={"id": "new"})])
    list(session.export("chat"))
    list(history(session, head, ("messages", 0, "content")))
    Redaction(names=frozenset({"content"})).hide(shared[head])
    to_json(shared[head])
    from_json({"messages": [{"id": "m0"}], "n": 1}, shared[head])
    for ref in refs:
        assert codec.dumps(dict(session.load(ref).state)) == texts[ref] == codec.dumps(dict(shared[ref]))
    session.close()
