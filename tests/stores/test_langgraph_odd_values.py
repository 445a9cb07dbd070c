"""Values that would run code, that no class is left for, or that JSON has no form for: looked at, forked, edited."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.codec import splice
from stores.errors import Invalid
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Change, Opaque, Ref, Tagged
from tests.stores.handmade import Row, ext, handmade, packed, uuid
from tt_debug.diff import diff
from tt_debug.values import from_json, to_json


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    (tmp_path / "db").mkdir()
    return tmp_path / "db" / "made.sqlite"


@pytest.fixture
def opened(path: Path) -> Iterator[Any]:
    stores: list[LangGraphStore] = []

    def open_it() -> LangGraphStore:
        stores.append(LangGraphStore(path, read_only=False))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def channels(path: Path, ref: Ref) -> dict[str, bytes]:
    """The stored bytes of every channel of a checkpoint."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        question = "SELECT checkpoint FROM checkpoints WHERE (thread_id, checkpoint_ns, checkpoint_id) = (?, ?, ?)"
        (blob,) = db.execute(question, ref).fetchone()
    parts = {part.key: part.raw for part in splice.split_map(blob)}
    return {part.key: part.raw for part in splice.split_map(parts["channel_values"])}


# --- what would run code

RUN = """
import json, sys
from tt_debug.cli.main import main
before = set(sys.modules)
path = sys.argv[1]
codes = []
for words in (
    ["threads", path], ["log", path, "t", "--all"], ["show", path, "t"], ["show", path, "t", "--json"],
    ["diff", path, "t"], ["diff", path, "t", "--format", "json-patch"],
    ["export", path, "t"], ["fork", path, "t@head", "--to", "f", "--set", "n=5"],
    ["edit", path, "t@head", "--set", "n=6"], ["show", path, "f"],
):
    try:
        codes.append(main(words) or 0)
    except SystemExit as end:
        codes.append(int(end.code or 0))
print(json.dumps({"codes": codes, "trap": [name for name in set(sys.modules) - before if "trap" in name]}))
"""


def test_nothing_that_values_name_is_imported_or_called(path: Path, tmp_path: Path) -> None:
    """An `os.mkdir`, a class of a module in the folder whose import writes a file, and a pickle; by every command."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "trap.py").write_text("open('SPRUNG', 'w').close()\nclass Rec: pass\n")
    pickle = b"cos\nmkdir\n(S'SPRUNG'\ntR."
    values = {
        "x": ext(0, "os", "mkdir", "SPRUNG"),
        "y": ext(2, "trap", "Rec", {"value": 3}),
        "z": [ext(1, "subprocess", "Popen", [["touch", "SPRUNG"]])],
        "n": 1,
    }
    handmade(
        path,
        [
            Row(uuid(1), None, values | {"n": 0}, ["a"]),
            Row(uuid(2, 1), uuid(1), None or {}, type="pickle", blob=pickle, step=1),
            Row(uuid(3, 2), uuid(2, 1), values, ["a"], step=2),
        ],
    )
    said = subprocess.run(
        [sys.executable, "-c", RUN, str(path)],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    *shown, last = said.stdout.strip().splitlines()
    assert json.loads(last) == {"codes": [0] * 10, "trap": []}
    assert sorted(one.name for one in work.iterdir()) == ["trap.py"]
    assert "os.mkdir" in "\n".join(shown)
    assert "trap.Rec" in "\n".join(shown)


def test_what_would_run_is_shown_with_its_name(path: Path, opened: Any) -> None:
    handmade(
        path, [Row(uuid(1), None, {"x": ext(0, "os", "mkdir", "SPRUNG"), "y": ext(2, "trap", "Rec", {"value": 3})})]
    )
    state = opened().load(Ref("t", "", uuid(1))).state
    assert (state["x"].type_name, state["x"].value) == ("os.mkdir", "SPRUNG")
    assert (state["y"].type_name, state["y"].value) == ("trap.Rec", {"value": 3})


# --- what no class is left for


def test_a_value_whose_class_is_gone_keeps_its_fields_and_its_bytes(path: Path, opened: Any) -> None:
    def record(value: int) -> Any:
        return ext(2, "ghostmod", "Rec", {"value": value, "extra": "e"})

    handmade(
        path,
        [Row(uuid(1), None, {"r": record(3), "n": 1}), Row(uuid(2, 1), uuid(1), {"r": record(4), "n": 1}, step=1)],
    )
    store = opened()
    newest, oldest = (store.load(one.ref) for one in store.headers("t").items)
    assert isinstance(newest.state["r"], Tagged)
    assert (newest.state["r"].type_name, newest.state["r"].value) == ("ghostmod.Rec", {"value": 4, "extra": "e"})
    assert diff(oldest.state, newest.state) == (Change("change", ("r", "value"), 3, 4),)
    base = oldest.header.ref
    fork = store.fork(base, "fork", [Change("change", ("n",), 1, 2)])
    edited = store.fork(store.head("t"), "t", [Change("change", ("n",), 1, 2)])
    assert channels(path, fork.ref)["r"] == channels(path, base)["r"] == packed(record(3))
    assert channels(path, edited.ref)["r"] == packed(record(4))
    assert store.load(edited.ref).state["n"] == 2


# --- maps


def test_keys_keep_their_kind(path: Path, opened: Any) -> None:
    values = {"m": {1: "a", 2: "b"}, "t": {(1, 2): "x"}, "s": {"1": "text"}}
    handmade(path, [Row(uuid(1), None, values)])
    store = opened()
    state = store.load(Ref("t", "", uuid(1))).state
    assert state == values
    assert to_json(state) == {"m": {"$map": [[1, "a"], [2, "b"]]}, "t": {"$map": [[[1, 2], "x"]]}, "s": {"1": "text"}}
    assert from_json(to_json(state["m"])) == state["m"]
    fork = store.fork(store.head("t"), "fork", [Change("change", ("m", 1), "a", "z")])
    assert store.load(fork.ref).state == {**values, "m": {1: "z", 2: "b"}}
    assert {name: channels(path, fork.ref)[name] for name in "ts"} == {name: packed(values[name]) for name in "ts"}


# --- numbers

NUMBERS: dict[str, Any] = {
    "nan": float("nan"),
    "inf": float("inf"),
    "neg": float("-inf"),
    "zero": -0.0,
    "f": 1.0,
    "i": 1,
    "b": True,
    "most": 2**64 - 1,
    "least": -(2**63),
}


def test_numbers_that_json_changes_stay_what_they_are(path: Path, opened: Any) -> None:
    handmade(path, [Row(uuid(1), None, NUMBERS)])
    store = opened()
    base = store.head("t")
    state = store.load(base).state
    assert {name: type(value) for name, value in state.items()} == {name: type(v) for name, v in NUMBERS.items()}
    assert packed(dict(state)) == packed(NUMBERS)
    fork = store.fork(base, "fork", [Change("change", ("i",), 1, 2)])
    kept = channels(path, fork.ref)
    assert kept.pop("i") == packed(2)
    assert kept == {name: raw for name, raw in channels(path, base).items() if name != "i"}


@pytest.mark.parametrize("big", [2**64, -(2**63) - 1, 147573952589676412927])
@pytest.mark.parametrize("place", [("i",), ("deep", 0, "x")])
def test_an_integer_that_does_not_fit_is_refused_with_its_path(
    path: Path, opened: Any, big: int, place: tuple[Any, ...]
) -> None:
    handmade(path, [Row(uuid(1), None, {"i": 1, "deep": [{"x": 1}]})])
    store = opened()
    base = store.head("t")
    for thread in ("t", "fork"):
        with pytest.raises(Invalid, match="i as msgpack" if len(place) == 1 else r"deep\[0\]\.x as msgpack"):
            store.fork(base, thread, [Change("change", place, 1, big)])
    assert [info.thread for info in store.threads().items] == ["t"]
    assert len(store.headers("t").items) == 1


# --- containers


def test_what_an_edit_does_not_touch_is_copied_byte_for_byte(path: Path, opened: Any) -> None:
    values = {
        "tuple": ext(0, "builtins", "tuple", [1, 2]),
        "set": ext(0, "builtins", "set", [3, 1, 2]),
        "deque": ext(0, "collections", "deque", [1, 2]),
        "default": {"a": 1},
        "decimal": ext(0, "decimal", "Decimal", "0.10"),
        "when": ext(3, "datetime", "datetime", "2026-01-02T03:04:05+00:00", "fromisoformat"),
        "uuid": ext(0, "uuid", "UUID", "12345678123456781234567812345678"),
        "bytes": b"\x00\xff",
        "array": ext(6, "<f8", [2], "C", bytes(16)),
        "unknown": ext(99, "x"),
        "long form": [1] * 20,
        "n": 1,
    }
    handmade(path, [Row(uuid(1), None, values, ["a"])])
    store = opened()
    base = store.head("t")
    before = channels(path, base)
    for made in (
        store.fork(base, "fork", [Change("change", ("n",), 1, 2)]),
        store.fork(base, "t", [Change("change", ("n",), 1, 2)]),
    ):
        after = channels(path, made.ref)
        assert {name for name in after if after[name] != before[name]} == {"n"}
        assert list(after) == list(before)
        assert made.next == ("a",)


# --- texts


def test_half_a_character_is_shown_and_saved_as_it_is(path: Path, opened: Any) -> None:
    """Older writers fell back to JSON for it; msgpack that holds it is read as well."""
    broken = packed({"x": "aXYZz"}).replace(b"aXYZz", b"a\xed\xa0\xbdz")
    bytes_in_it = packed({"y": "aXYZz"}).replace(b"aXYZz", b"a\xff\xfe\xfdz")
    blob = Row(uuid(2, 1), None, {"x": "aXYZz", "y": "aXYZz", "n": 1}, step=1)._packed()
    assert isinstance(blob, bytes)
    blob = blob.replace(b"\xa1x\xa5aXYZz", broken[1:]).replace(b"\xa1y\xa5aXYZz", bytes_in_it[1:])
    handmade(
        path,
        [
            Row(uuid(1), None, {"x": "a\ud83dz", "n": 1}, type="json"),
            Row(uuid(2, 1), uuid(1), step=1, blob=blob),
        ],
    )
    store = opened()
    newest, oldest = (store.load(one.ref) for one in store.headers("t").items)
    assert oldest.state == {"x": "a\ud83dz", "n": 1}
    assert newest.state == {"x": "a\ud83dz", "y": "a\udcff\udcfe\udcfdz", "n": 1}
    assert [one.path for one in diff(oldest.state, newest.state)] == [("y",)]
    edited = store.fork(store.head("t"), "t", [Change("change", ("n",), 1, 2)])
    assert {name: channels(path, edited.ref)[name] for name in "xy"} == {
        "x": b"\xa5a\xed\xa0\xbdz",
        "y": b"\xa5a\xff\xfe\xfdz",
    }
    with pytest.raises(Invalid, match="cannot store x"):
        store.fork(edited.ref, "fork", [Change("change", ("x",), "a\ud83dz", "b\ud83d")])


@pytest.mark.parametrize("version", [1, 2])
def test_what_looks_like_the_librarys_envelope_is_a_mapping(path: Path, opened: Any, version: int) -> None:
    envelope = {
        "lc": version,
        "type": "constructor",
        "id": ["langchain_core", "messages", "AIMessage"],
        "kwargs": {"content": "fake"},
    }
    handmade(
        path,
        [
            Row(uuid(1), None, {"text": envelope, "n": 1}),
            Row(uuid(2, 1), uuid(1), {"text": envelope, "n": 1}, type="json", step=1),
        ],
    )
    store = opened()
    for header in store.headers("t").items:
        assert store.load(header.ref).state["text"] == envelope
    fork = store.fork(Ref("t", "", uuid(1)), "fork", [Change("change", ("text", "kwargs", "content"), "fake", "new")])
    assert channels(path, fork.ref)["text"] == packed({**envelope, "kwargs": {"content": "new"}})


def test_bytes_are_opaque_and_say_how_many(path: Path, opened: Any) -> None:
    handmade(path, [Row(uuid(1), None, {"b": b"\x00\xff", "d": {"in": [b"x"]}})])
    state = opened().load(Ref("t", "", uuid(1))).state
    assert state == {"b": Opaque("bytes", b"\x00\xff"), "d": {"in": [Opaque("bytes", b"x")]}}
    assert state["b"].size == 2


@pytest.mark.parametrize("form", ["msgpack", "json"])
def test_a_checkpoint_that_holds_no_values_is_edited(path: Path, opened: Any, form: str) -> None:
    """Early releases wrote none; a channel that the edit adds is all there is then."""
    content = {"v": 1, "channel_values": ..., "updated_channels": ...}
    handmade(path, [Row(uuid(1), None, {"a": 1}, content=content, type=form)])
    store = opened()
    assert store.load(Ref("t", "", uuid(1))).state == {}
    made = store.fork(Ref("t", "", uuid(1)), "fork", [Change("add", ("b",), new=2)])
    assert store.load(made.ref).state == {"b": 2}
    assert store.load(Ref("t", "", uuid(1))).state == {}
