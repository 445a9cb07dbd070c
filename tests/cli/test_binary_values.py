"""Binary values of a state at the command line: told by size and SHA-256, never dumped, taken along and back."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Opaque, Ref
from stores.native.sqlite import NativeStore, create_native
from tests.cli.conftest import Ran, Run
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.tui.copying import of_value
from tt_debug.tui.rows.values import value_line
from tt_debug.values import from_json, to_json

IMAGES = [bytes(range(256)) * 4000, bytes(range(255, -1, -1)) * 4000]
DIGESTS = [hashlib.sha256(image).hexdigest() for image in IMAGES]
FORMS = [{"$blob": digest, "size": len(image)} for digest, image in zip(DIGESTS, IMAGES, strict=True)]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TT_DEBUG_REDACT", raising=False)

    def call(*words: object) -> Ran:
        code = main([str(word) for word in words], Front(lambda screen: 0))
        written = capsys.readouterr()
        assert code in (0, 10), written.err
        return Ran(code, written.out, written.err)

    return call


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two checkpoints of a thread "t", whose image is another in the second one."""
    path = tmp_path / "images.sqlite"
    create_native(path)
    with closing(NativeStore(path, read_only=False)) as opened:
        parent = None
        for number, image in enumerate(IMAGES):
            state = {"image": image, "n": number, "all": [{"first": IMAGES[0]}]}
            parent = opened.append(NewCheckpoint(Ref("t", "", str(number)), parent, state, "step")).ref
    return path


def test_they_are_told_by_size_and_hash(command: Run, store: Path) -> None:
    said = command("show", store, "t").out
    assert f"<bytes 1.0M sha256 {DIGESTS[1][:8]}>" in said
    assert json.loads(command("show", store, "t", "--json").out)["data"]["state"]["image"] == FORMS[1]
    assert json.loads(command("show", store, "t", "--path", "image", "--json").out)["data"]["value"] == FORMS[1]
    assert DIGESTS[1] in command("show", store, "t", "--path", "image").out
    diff = command("diff", store, "t").out
    assert all(f"<bytes 1.0M sha256 {digest[:8]}>" in diff for digest in DIGESTS)
    (change,) = [c for c in json.loads(command("diff", store, "t", "--json").out)["data"] if c["path"] == ["image"]]
    assert [change["old"], change["new"]] == FORMS
    assert DIGESTS[1] in command("diff", store, "t", "--format", "json-patch").out
    assert DIGESTS[1][:8] in command("history", store, "t", "image").out
    assert "t@1" in command("find", store, "t", "image.size > `1` && n == `1`").out


def test_an_edit_as_json_keeps_them_by_their_hash(command: Run, store: Path) -> None:
    command("fork", store, "t", "--set", f"picture={json.dumps(FORMS[0])}", "--unset", "image")
    with closing(NativeStore(store)) as opened:
        state = opened.load(opened.head("t-fork-1")).state
        assert state["picture"].data == state["all"][0]["first"].data == IMAGES[0]
        before = opened.load(opened.head("t")).state
        assert from_json(to_json(before), before) is before
        moved = from_json({"here": FORMS[1]}, before)
        assert moved["here"] is before["image"]


def test_an_export_brings_them_once_and_an_import_takes_them_back(command: Run, store: Path, tmp_path: Path) -> None:
    lines = command("export", store, "t").out.splitlines()
    assert [list(json.loads(line).get("blobs", {})) for line in lines] == [DIGESTS[:1], DIGESTS[1:]]
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(lines))
    command("import", tmp_path / "new.sqlite", file)
    with closing(NativeStore(tmp_path / "new.sqlite")) as new, closing(NativeStore(store)) as old:
        for number in range(2):
            ref = Ref("t", "", str(number))
            assert new.load(ref).state["image"].data == old.load(ref).state["image"].data == IMAGES[number]
            assert new.fault(ref) is None
    assert command("export", tmp_path / "new.sqlite", "t").out.splitlines() == lines


def test_an_export_whose_bytes_were_changed_is_not_taken(store: Path, tmp_path: Path, command: Run) -> None:
    lines = command("export", store, "t").out.splitlines()
    first = json.loads(lines[0])
    for text, why in (("AAAA", "not what was exported"), ("?", "no base64")):
        first["blobs"] = {DIGESTS[0]: text}
        file = tmp_path / "export.jsonl"
        file.write_text("\n".join([json.dumps(first), *lines[1:]]))
        with pytest.raises(AssertionError, match=why):
            command("import", tmp_path / "new.sqlite", file)


def test_where_bytes_are_gone_all_else_is_told_and_exported(command: Run, store: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("DELETE FROM chunks WHERE hash = ?", (bytes.fromhex(DIGESTS[0]),))
    assert DIGESTS[0][:8] in command("show", store, "t@0").out
    lines = command("export", store, "t").out.splitlines()
    assert [list(json.loads(line).get("blobs", {})) for line in lines] == [[], DIGESTS[1:]]
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(lines))
    command("import", tmp_path / "new.sqlite", file)
    with closing(NativeStore(tmp_path / "new.sqlite")) as new:
        assert new.load(Ref("t", "", "1")).state["image"].data == IMAGES[1]
        fault = new.fault(Ref("t", "", "0"))
        assert fault is not None
        assert DIGESTS[0] in fault[1]


def test_on_screen_too(store: Path) -> None:
    with closing(NativeStore(store)) as opened:
        image = opened.load(opened.head("t")).state["image"]
    # The store is closed: nothing of this reads the bytes.
    assert isinstance(image, Opaque)
    assert "".join(piece.text for piece in value_line(image)) == f"<bytes 1.0M sha256 {DIGESTS[1][:8]}>"
    assert [each.text() for each in of_value(image, ()) if each.key == "h"] == [DIGESTS[1]]
