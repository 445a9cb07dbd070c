"""Adapters of others: the README's, installed by its entry point and held to the contract; and those that lie."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from stores import open_store
from stores.conformance import SAMPLE, AdapterConformance, WriterConformance
from stores.errors import Corrupt, NotFound, Unreachable, Unsupported
from stores.memory import MemoryStore
from stores.model import Capability, Header, NewCheckpoint, StoreInfo

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = re.compile(r"<!-- adapter:begin -->\n```python\n(.*?)```\n<!-- adapter:end -->", re.DOTALL)
ENTRY = re.compile(r'```toml\n\[project\.entry-points\."tt_debug\.stores"\]\n(.*?)\n```')
LINES = 60


def example() -> str:
    """The adapter's code, as a reader would copy it."""
    (code,) = EXAMPLE.findall(README.read_text(encoding="utf-8"))
    return str(code)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example as a distribution on the path, with the entry point the README gives it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "lines_store.py").write_text(example(), encoding="utf-8")
    entries = ENTRY.findall(README.read_text(encoding="utf-8"))
    installed(folder, "lines_store", *(entry.replace('"', "") for entry in entries))
    with pytest.MonkeyPatch.context() as path:
        path.syspath_prepend(str(folder))
        yield folder
    sys.modules.pop("lines_store", None)


def installed(folder: Path, name: str, *entries: str) -> None:
    """The metadata of an installed distribution."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[tt_debug.stores]", *entries]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "threads"
    made.mkdir()
    start = datetime(2026, 1, 2, tzinfo=UTC)
    for number, new in enumerate(SAMPLE):
        line = {
            "id": new.ref.id,
            "parent": new.parent and new.parent.id,
            "step": new.step,
            "at": (start + timedelta(seconds=number)).isoformat(),
            "state": dict(new.state),
        }
        with (made / f"{quote(new.ref.thread, safe='')}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return made


@pytest.fixture
def sample(site: Path, folder: Path) -> Iterator[Any]:
    with closing(open_store(f"lines://{folder}", read_only=False)) as store:
        yield store


@pytest.fixture
def frozen(site: Path, folder: Path) -> Iterator[Any]:
    with closing(open_store(f"lines://{folder}")) as store:
        yield store


class TestTheExample(AdapterConformance):
    """As any adapter, opened by its URL through its entry point."""


def test_the_example_is_short_and_comes_from_outside(frozen: Any) -> None:
    assert len(example().splitlines()) <= LINES
    assert type(frozen).__module__ == "lines_store"
    with pytest.raises(Unreachable, match="no open folder"):
        open_store("lines:///nowhere")
    with pytest.raises(Unsupported, match="no adapter"):
        open_store("other:///nowhere")


def test_the_command_line_opens_it(site: Path, folder: Path, tmp_path: Path) -> None:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": str(site), "TT_DEBUG_HOME": str(tmp_path), "PATH": ""}
        argv = [sys.executable, "-m", "tt_debug", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)

    url = f"lines://{folder}"
    assert '"city":"Łódź"' in command("show", url, "trip", "--json").stdout
    assert len(command("log", url, "trip").stdout.splitlines()) == 4
    refused = command("fork", url, "trip@0")
    assert (refused.returncode, "can be read, not written" in refused.stderr) == (3, True)


def test_an_adapter_that_cannot_be_loaded_is_named_where_it_was_needed(tmp_path: Path, monkeypatch: Any) -> None:
    installed(tmp_path, "broken_store", "broken = no_such_module:Store")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Unsupported) as refused:
        open_store("broken://x")
    assert "The adapter broken cannot be loaded" in refused.value.hint


def test_a_path_that_is_no_database_is_offered_to_adapters_first(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "any_store.py").write_text(
        "from stores.memory import MemoryStore\n"
        "class Any_:\n"
        "    @classmethod\n"
        "    def open_url(cls, url, *, read_only=True):\n"
        "        return MemoryStore(read_only=read_only) if url.endswith('.any') else None\n"
    )
    installed(tmp_path, "any_store", "any = any_store:Any_")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "x.any").mkdir()
    assert open_store(str(tmp_path / "x.any")).info.kind == "memory"
    (tmp_path / "x.other").write_text("no database at all")
    with pytest.raises(Corrupt):
        open_store(str(tmp_path / "x.other"))
    with pytest.raises(Unreachable, match="does not exist"):
        open_store(str(tmp_path / "gone.any"))


# --- what the suite says of adapters that lie


class Liar(MemoryStore):
    """Declares something else than it can."""

    def __init__(self, declared: frozenset[str]) -> None:
        super().__init__()
        self._declared = declared
        for new in SAMPLE:
            super().append(new)

    @property
    def info(self) -> StoreInfo:
        return StoreInfo("memory:", "memory", "liar", self._declared, False)


class Forgetful(Liar):
    """Declares WRITE and drops what it is given."""

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> Header:
        return Header(new.ref, new.parent, new.step, new.source, None)


NOTHING_DECLARED: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("store", "test"),
    [
        (Liar(NOTHING_DECLARED), "test_what_was_appended_is_there"),
        (Liar(NOTHING_DECLARED), "test_a_fork_is_a_new_thread_and_the_base_stays"),
        (Liar(NOTHING_DECLARED), "test_a_namespace_has_a_line_and_a_head_of_its_own"),
        (Forgetful(frozenset({Capability.WRITE})), "test_what_was_appended_is_there"),
        (
            Forgetful(frozenset({Capability.WRITE, Capability.NAMESPACES})),
            "test_a_namespace_has_a_line_and_a_head_of_its_own",
        ),
    ],
)
def test_it_is_found_out(store: Liar, test: str) -> None:
    with pytest.raises((pytest.fail.Exception, AssertionError, NotFound)):
        getattr(WriterConformance(), test)(store)


@pytest.mark.parametrize("declared", [Capability.TASKS, Capability.RUNS])
def test_claims_of_what_it_has_not_are_found_out(declared: str) -> None:
    store, suite = Liar(frozenset({declared})), AdapterConformance()
    test = {
        Capability.TASKS: "test_tasks_are_told_where_they_are_declared_and_nowhere_else",
        Capability.RUNS: "test_a_definition_is_kept_under_its_hash",
    }[declared]
    with pytest.raises((AssertionError, AttributeError)):
        getattr(suite, test)(store)


def test_every_capability_has_its_tests() -> None:
    package = Path(open_store.__code__.co_filename).parent
    suites = [package / "conformance.py", package / "conformance_runs.py"]
    # That a store names its forks itself changes what a name means there: its own suite holds it.
    suite = "".join(path.read_text() for path in [*suites, Path(__file__).with_name("test_langgraph_server.py")])
    declared = {name for name in vars(Capability) if name.isupper()}
    assert {name for name in declared if f"Capability.{name}" not in suite} == set()
