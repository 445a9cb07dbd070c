"""From a path or URL to its adapter; and what opening does not import."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

import stores
from stores import create_native, mask_password, open_store, registry
from stores.errors import ReadOnly, Unreachable, Unsupported
from stores.memory import MemoryStore
from stores.registry import split_url
from tests.builders import langgraph_file, native_file, sql_file, table_file


def test_the_file_decides_and_not_its_name(tmp_path: Path) -> None:
    files = {
        "native": native_file(tmp_path / "langgraph.sqlite"),
        "langgraph": langgraph_file("empty_tables.sqlite", tmp_path),
    }
    for kind, path in files.items():
        for url in (str(path), f"sqlite:///{path}"):
            with closing(open_store(url)) as store:
                assert (store.info.kind, store.info.path, store.info.read_only) == (kind, str(path), True)


def test_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native_file(tmp_path / "app.db")
    monkeypatch.chdir(tmp_path)
    for url in ("app.db", "./app.db", "sqlite:///app.db", "SQLITE:///app.db"):
        assert split_url(url) == (tmp_path / "app.db", {})
        with closing(open_store(url)) as store:
            assert store.info.path == str(tmp_path / "app.db")
    assert split_url("sqlite:////a/b.db")[0] == Path("/a/b.db")


def test_a_mapping_is_read_from_the_query(tmp_path: Path) -> None:
    path = table_file(tmp_path / "what?.db")
    url = f"sqlite:///{tmp_path}/what%3F.db?table=history&thread=run&id=id&parent=prev&state=payload"
    assert split_url(url) == (
        path,
        {"table": "history", "thread": "run", "id": "id", "parent": "prev", "state": "payload"},
    )
    with closing(open_store(url)) as store:
        assert store.info.kind == "table"


@pytest.mark.parametrize("name", ["a?b.db", "a#b.db", "a%20b.db", "a b.db", "sqlite:x"])
def test_a_plain_path_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    with closing(open_store(str(native_file(tmp_path / name)))) as store:
        assert store.info.path == str(tmp_path / name)


def test_nothing_is_made_where_nothing_is(tmp_path: Path) -> None:
    for url in (f"{tmp_path}/no.db", f"sqlite:///{tmp_path}/no/no.db", "sqlite://", "sqlite:///"):
        with pytest.raises((Unreachable, Unsupported)) as raised:
            open_store(url, read_only=False)
        assert raised.value.hint
    assert list(tmp_path.iterdir()) == []


def test_foreign_tables_are_named_with_the_way_to_map_them(tmp_path: Path) -> None:
    path = sql_file(tmp_path / "a b.db", "CREATE TABLE checkpoints (id INTEGER, score REAL); CREATE TABLE users (name)")
    with pytest.raises(Unsupported, match="checkpoints, users") as raised:
        open_store(str(path))
    assert "a%20b.db?table=" in raised.value.hint
    langgraph_file("foreign_schema.sqlite", tmp_path)
    with pytest.raises(Unsupported):
        open_store(str(tmp_path / "foreign_schema.sqlite"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:s3cret@db:5432/app", "postgresql://ann:***@db:5432/app"),
        ("postgresql://ann:p%40ss@db/app?password=other&x=1", "postgresql://ann:***@db/app?password=***&x=1"),
        ("postgresql://ann:p@ss@db/app", "postgresql://ann:***@db/app"),
        ("postgres://:secret@/app", "postgres://:***@/app"),
        ("postgresql://ann@db/app", "postgresql://ann@db/app"),
        ("host=db user=ann password='it''s secret' dbname=app", "host=db user=ann password=*** dbname=app"),
        ("host=db password = hunter2", "host=db password = ***"),
        ("service=prod", "service=prod"),
        ("postgresql:/ann:s3cret@db/app", "postgresql:/ann:***@db/app"),
        ("/data/app.db", "/data/app.db"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    assert mask_password(url) == shown


def test_a_url_of_no_adapter_is_refused_without_its_password() -> None:
    with pytest.raises(Unsupported) as raised:
        open_store("redis://ann:s3cret@db/0")
    assert "s3cret" not in str(raised.value) + raised.value.hint


def test_an_installed_adapter_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Theirs:
        @staticmethod
        def open_url(url: str, *, read_only: bool) -> MemoryStore | None:
            return MemoryStore(read_only=read_only) if url.startswith("theirs://") else None

    class Entry(EntryPoint):
        def load(self) -> type[Theirs]:
            return Theirs

    entry = Entry("theirs", "theirs:Theirs", registry.ENTRY_POINTS)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])
    assert isinstance(open_store("theirs://x"), MemoryStore)
    with pytest.raises(Unsupported):
        open_store("others://x")


def test_our_own_adapters_are_entry_points_like_any() -> None:
    declared = {entry.name: entry.value for entry in entry_points(group=registry.ENTRY_POINTS)}
    assert declared == registry._BUILT_IN
    for value in declared.values():
        module, _, name = value.partition(":")
        assert hasattr(import_module(module), name)


def test_a_native_file_is_made_on_request_and_not_in_a_strangers_file(tmp_path: Path) -> None:
    create_native(tmp_path / "new.sqlite")
    create_native(tmp_path / "new.sqlite")
    with closing(open_store(str(tmp_path / "new.sqlite"))) as store:
        assert (store.info.kind, store.threads().items) == ("native", ())
        with pytest.raises(ReadOnly):
            store.fork(stores.Ref("a", "", "b"), "c")  # type: ignore[attr-defined]
    path = langgraph_file("empty_tables.sqlite", tmp_path)
    before = path.read_bytes()
    with pytest.raises(Unsupported, match="LangGraph"):
        create_native(path)
    assert path.read_bytes() == before


def test_every_public_name_is_there() -> None:
    for name in stores.__all__:
        assert getattr(stores, name) is not None
        assert name in dir(stores)
    with pytest.raises(AttributeError):
        stores.nothing


def test_listing_threads_imports_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys, stores\n"
        "for path in sys.argv[1:]:\n"
        "    store = stores.open_store(path)\n"
        "    for info in store.threads().items: store.headers(info.thread)\n"
        "    store.close()\n"
        "heavy = 'sqlite_utils networkx deepdiff psycopg langgraph textual pydantic jsonschema ruamel pytest click'\n"
        "print([name for name in heavy.split() if name in sys.modules])\n"
    )
    files = [native_file(tmp_path / "native.db"), langgraph_file("wal_uncheckpointed.sqlite", tmp_path)]
    done = subprocess.run([sys.executable, "-c", script, *map(str, files)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
