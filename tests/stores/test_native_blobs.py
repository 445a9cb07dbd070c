"""Binary values of native states: a reference in the state, the bytes in the store, read when they are asked for."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores import blobs
from stores.blobs import Blob
from stores.errors import Conflict, Corrupt, Invalid
from stores.model import Change, Header, NewCheckpoint, Opaque, Ref
from stores.native import chunks
from stores.native.sqlite import NativeStore, create_native
from tests.stores.native_states import path, sql, store
from tt_debug.diff import diff
from tt_debug.sizes import weigh
from tt_debug.values import to_json

__all__ = ["path", "store"]

IMAGE = bytes(range(256)) * 4000
DIGEST = hashlib.sha256(IMAGE).hexdigest()
FORM = {"$blob": DIGEST, "size": len(IMAGE)}
TEXTS = ["x" * 500 for _ in range(60)]


def append(store: NativeStore, state: dict[str, Any], parent: Ref | None = None, **fields: Any) -> Header:
    id = f"{0 if parent is None else int(parent.id) + 1:06}"
    return store.append(NewCheckpoint(Ref("t", "", id), parent, state, "step", **fields))


@pytest.mark.parametrize("more", [[], TEXTS])
def test_the_state_has_a_reference_and_the_store_has_the_bytes_once(
    store: NativeStore, path: Path, more: list[str]
) -> None:
    first = append(store, {"image": IMAGE, "more": more})
    state = {"all": [{"image": IMAGE}, bytearray(IMAGE)], "again": memoryview(IMAGE), "more": more}
    second = append(store, state, first.ref)
    with closing(NativeStore(path)) as anew:
        for reader in (store, anew):
            found = reader.load(second.ref).state
            images = [found["all"][0]["image"], found["all"][1], found["again"]]
            assert [(image.kind, image.size, image.digest) for image in images] == [("bytes", len(IMAGE), DIGEST)] * 3
            assert all(image.data == IMAGE for image in images)
            assert found["more"] == more
            assert reader.fault(second.ref) is None
    assert sql(path, "SELECT count(*) FROM chunks WHERE hash = ?", bytes.fromhex(DIGEST)) == [(1,)]
    assert all(len(text) < 20_000 for (text,) in sql(path, "SELECT state FROM checkpoints"))


def test_looking_reads_no_bytes(store: NativeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    one = append(store, {"image": IMAGE, "more": TEXTS})
    two = append(store, {"image": IMAGE + b"!", "more": TEXTS, "n": 1}, one.ref)
    asked: list[Any] = []
    fetched = chunks.fetched
    monkeypatch.setattr("stores.native.base.fetched", lambda db, names: asked.append(names) or fetched(db, names))
    with closing(NativeStore(store._path)) as anew:
        before, after = anew.load(one.ref).state, anew.load(two.ref).state
        assert [change.path for change in diff(before, after)] == [("image",), ("n",)]
        assert diff(before["image"], anew.load(one.ref).state["image"]) == ()
        assert to_json(after["image"])["size"] == len(IMAGE) + 1
        assert weigh(after).size > len(IMAGE)
        assert weigh(before["image"]) != weigh(after["image"])
        assert weigh(before).mark == weigh(anew.load(one.ref).state).mark
        assert not asked
        assert after["image"].data == IMAGE + b"!"
        assert asked


def test_a_fork_refers_to_the_same_bytes(store: NativeStore, path: Path) -> None:
    base = append(store, {"image": IMAGE, "n": 1})
    before = sql(path, "SELECT count(*) FROM chunks")
    fork = store.fork(base.ref, "fork", [Change("change", ("n",), 1, 2)])
    assert store.load(fork.ref).state["image"].data == IMAGE
    moved = store.fork(base.ref, "moved", [Change("move", ("picture",), None, None, ("image",))])
    assert store.load(moved.ref).state["picture"].data == IMAGE
    assert sql(path, "SELECT count(*) FROM chunks") == before


def test_a_state_of_another_store_brings_its_bytes(store: NativeStore, tmp_path: Path) -> None:
    origin = append(store, {"image": IMAGE, "more": TEXTS})
    create_native(tmp_path / "other.sqlite")
    with closing(NativeStore(tmp_path / "other.sqlite", read_only=False)) as other:
        copied = append(other, dict(store.load(origin.ref).state))
        given = append(other, {"image": FORM}, copied.ref)
        assert other.load(given.ref).state["image"].data == IMAGE
        assert other.fault(given.ref) is None


def test_a_reference_to_bytes_that_are_nowhere_is_refused(store: NativeStore) -> None:
    head = append(store, {"n": 1})
    with pytest.raises(Invalid, match=DIGEST):
        append(store, {"image": FORM}, head.ref)
    assert store.head("t") == head.ref
    given = append(store, {"image": FORM}, head.ref, blobs={DIGEST: Opaque("bytes", IMAGE)})
    assert store.load(given.ref).state["image"].data == IMAGE


@pytest.mark.parametrize(
    "value",
    [
        {"$blob": DIGEST},
        {"$blob": DIGEST, "size": "12"},
        {"$blob": DIGEST.upper(), "size": 12},
        {"$blob": "abc", "size": 12},
        {"$blob": DIGEST, "size": 12, "more": 1},
        json.dumps(FORM),
        {json.dumps(FORM): 1},
    ],
)
@pytest.mark.parametrize("more", [[], TEXTS])
def test_what_only_looks_like_a_reference_stays_what_it_is(
    store: NativeStore, path: Path, value: Any, more: list[str]
) -> None:
    header = append(store, {"value": value, "more": more})
    with closing(NativeStore(path)) as anew:
        assert anew.load(header.ref).state == {"value": value, "more": more}
        assert anew.fault(header.ref) is None


def test_the_same_content_again_is_the_same_checkpoint(store: NativeStore) -> None:
    first = append(store, {"image": IMAGE})
    assert append(store, {"image": IMAGE}) == first
    with pytest.raises(Conflict):
        append(store, {"image": IMAGE + b"!"})


@pytest.mark.parametrize("more", [[], TEXTS])
@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("DELETE FROM chunks WHERE hash = ?", "is gone"),
        ("UPDATE chunks SET data = substr(data, 1, 30) WHERE hash = ?", "is damaged"),
    ],
)
def test_bytes_that_are_gone_are_named_and_the_rest_is_shown(
    store: NativeStore, path: Path, more: list[str], damage: str, what: str
) -> None:
    sound = append(store, {"n": 1, "more": more})
    header = append(store, {"steps": [1, {"image": IMAGE}], "more": more}, sound.ref)
    sql(path, damage, bytes.fromhex(DIGEST))
    with closing(NativeStore(path)) as anew:
        state = anew.load(header.ref).state
        assert state["steps"][1]["image"].size == len(IMAGE)
        with pytest.raises(Corrupt, match=f"{DIGEST}.*{what}"):
            assert state["steps"][1]["image"].data
        fault = anew.fault(header.ref)
        assert fault is not None
        assert fault[0] == header.ref
        assert fault[1].startswith(f"the binary value {DIGEST} of ")
        assert fault[1].endswith(what)
        assert more or "steps[1].image" in fault[1]
        assert anew.fault(sound.ref) is None


def test_a_value_too_large_for_any_store_is_refused(store: NativeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    head = append(store, {"n": 1})
    monkeypatch.setattr(chunks, "LARGEST", 1000)
    with pytest.raises(Invalid, match="more than a store takes"):
        append(store, {"image": IMAGE}, head.ref)
    assert store.head("t") == head.ref


def test_taking_out_and_putting_back_are_each_others_inverse() -> None:
    value = {"a": [b"one", {"b": b"two", "c": 1}], "plain": [1, [2]]}
    plain, found = blobs.taken_out(value)
    assert plain["plain"] is value["plain"]
    assert sorted(digest for _, digest in blobs.references(plain)) == sorted(found)
    assert blobs.put_back(plain, lambda digest, _: found[digest].data) == value
    one = Blob(DIGEST, 3, lambda _: b"")
    assert one == Blob(DIGEST, 3, lambda _: b"")
    assert one != Blob("0" * 64, 3, lambda _: b"")
