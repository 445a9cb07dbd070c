"""The agent's own virtual environment, which has LangGraph and nothing of ours."""

from __future__ import annotations

import ast
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stores.native.elsewhere import open_for_runs
from tests.engine.graph_threads import KINDS, listing, records, run, started, stored_log, target
from tt_debug.engine import graph
from tt_debug.engine.graph import describe_graph
from tt_debug.errors import ChildFailed

Venv = Callable[..., Path]


def mirror(source: Path, copy: Path, without: tuple[str, ...]) -> None:
    """Links to all that lies in a folder of packages, but for what is named and for what points elsewhere."""
    copy.mkdir()
    for entry in source.iterdir():
        inside = tuple(name.partition("/")[2] for name in without if name.startswith(f"{entry.name}/"))
        if inside:
            mirror(entry, copy / entry.name, inside)
        elif entry.suffix != ".pth" and entry.name not in without:
            (copy / entry.name).symlink_to(entry)


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Venv:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PYTHONPATH", raising=False)

    def make(*without: str) -> Path:
        folder = tmp_path / "agent" / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        mirror(Path(sysconfig.get_path("purelib")), tmp_path / "packages", ("tt_debug", "stores", *without))
        [packages] = folder.glob("lib/python*/site-packages")
        (packages / "agent.pth").write_text(str(tmp_path / "packages"))
        return folder

    return make


def begun(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return started(folder / "t.sqlite", "letters:builder", interrupt_before=["b"])


@pytest.mark.parametrize("name", KINDS)
def test_a_graph_runs_where_our_package_is_not(tmp_path: Path, venv: Venv, name: str) -> None:
    folder = venv()
    python = folder / "bin" / "python"
    for ours in ("tt_debug", "stores"):
        assert subprocess.run([python, "-c", f"import {ours}"], capture_output=True, cwd=tmp_path).returncode == 1
    store = begun(tmp_path)
    assert describe_graph(target(name, python=str(python)), str(store), "t").next == ("b",)
    outcome = run(store, target(name, python=str(folder)))  # the environment's folder will do
    assert (outcome.end.status, outcome.nodes()) == ("done", ["b", "c", "d"])
    assert stored_log(store) == ["in", "a", "b", "c", "d"]
    assert listing(store.parent) == ["t.sqlite"]


def test_modules_named_like_ours_are_the_agents(tmp_path: Path, venv: Venv) -> None:
    """The driver's own folder has a plan.py, a graph.py and more; none of them is found in place of the agent's."""
    agent = tmp_path / "clashing"
    agent.mkdir()
    for name in ("plan", "events", "child", "graph_target", "events_pipe"):
        (agent / f"{name}.py").write_text(f"NAME = 'the agent\\'s {name}'\n")
    (agent / "graph.py").write_text(
        "import child, events, events_pipe, graph_target, plan, sys\n"
        "sys.path.append('AGENTS')\n"
        "from letters import builder as graph\n"
        "print(plan.NAME, events.NAME, child.NAME, graph_target.NAME, events_pipe.NAME, sep='; ')\n".replace(
            "AGENTS", str(Path(__file__).parent.parent / "data" / "agents")
        )
    )
    outcome = run(begun(tmp_path), target("graph:graph", folder=agent, python=str(venv())))
    assert outcome.end.status == "done"
    assert outcome.printed[0] == "; ".join(
        f"the agent's {name}" for name in ("plan", "events", "child", "graph_target", "events_pipe")
    )


@pytest.mark.parametrize(
    ("without", "named", "first"),
    [
        ("langgraph", "langgraph", "name the agent's own interpreter with --python, or "),
        ("langgraph/checkpoint/sqlite", "langgraph.checkpoint.sqlite", ""),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_installs_it(
    tmp_path: Path, venv: Venv, without: str, named: str, first: str
) -> None:
    folder, store = venv(without), begun(tmp_path)
    python = folder / "bin" / "python"
    with pytest.raises(ChildFailed) as caught:
        run(store, target("letters:graph", python=str(python)))
    assert str(caught.value) == f"{python} cannot import {named}"
    assert caught.value.hint == f"{first}run: {python} -m pip install langgraph langgraph-checkpoint-sqlite"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "graph_driver",
            "graph_standing",
            "graph_guard",
            "graph_saver",
            "graph_memory",
            "graph_target",
            "events_pipe",
            "lasting",
        ),
        *("graph_call", "graph_effects", "graph_lock", "graph_owner", "graph_verify", "calling"),
    ],
)
def test_what_runs_in_the_agents_interpreter_asks_little_of_it(name: str) -> None:
    """Python 3.9's syntax; imports of the standard library, of its neighbours, and deferred ones of LangGraph and of
    what its releases bring."""
    tree = ast.parse((Path(graph.__file__).parent / f"{name}.py").read_text(), feature_version=(3, 9))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add("." * node.level or str(node.module).partition(".")[0])
    assert imported - sys.stdlib_module_names <= {".", "langgraph", "langchain_core", "aiosqlite", "psycopg", "xxhash"}


def test_effects_are_kept_where_our_package_is_not(tmp_path: Path, venv: Venv, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph imports ``tt_debug``, and is lent one."""
    monkeypatch.setenv("WORLD", str(tmp_path / "world"))
    store = started(tmp_path / "t.sqlite", "acting:idempotent", interrupt_before=["first"])
    outcome = run(store, target("acting:idempotent", python=str(venv())))
    assert (outcome.end.status, stored_log(store)) == ("done", ["in", "quiet", "pay", "quiet"])
    with closing(open_for_runs(records())) as kept:
        [use] = kept.effects("t")
    assert (use.effect.status, f"pay {use.effect.key}\n") == ("done", (tmp_path / "world").read_text())
