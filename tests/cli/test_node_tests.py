"""export --pytest: the files it writes are run by pytest as they are, in a process of their own."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stores.model import Value
from tests.cli.samples import HOSTILE
from tests.engine import effect_nodes
from tests.engine.flows import bench, python
from tests.stores.langgraph_graphs import config, saver_of
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.demo import DemoFiles, prepare
from tt_debug.engine.retry import RetryableError
from tt_debug.node_test_text import NodeTest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TT_DEBUG_DEMO_PACE", "0")


@pytest.fixture
def demo(tmp_path: Path) -> DemoFiles:
    return prepare(tmp_path / "demo")


def export(*words: object) -> int:
    return main(["export", *map(str, words)], Front(open_screen=lambda screen: 0))


def outcome(folder: Path, *more: str) -> tuple[int, str]:
    """What pytest says of the files in a folder."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*words, *more, str(folder)], capture_output=True, text=True, check=False, env=environment, cwd=folder
    )
    return done.returncode, done.stdout + done.stderr


def test_every_node_of_the_demo_gives_alone_what_it_gave_in_its_run(demo: DemoFiles, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    models = 0
    for step in range(22):
        models += export(demo.native, f"trip-planner@{step}", "--pytest", folder / f"test_own_{step}.py") != 0
    for step in (1, 3, 10, 17):
        file = folder / f"test_graph_{step}.py"
        assert export(demo.langgraph, f"trip-kyoto@{step}", "--pytest", file, "--graph", demo.graph) == 0
    assert models == 2, "which have no function to be called"
    code, said = outcome(folder)
    assert code == 0, said
    assert "24 passed" in said


def test_it_fails_when_the_node_gives_something_else(demo: DemoFiles, tmp_path: Path) -> None:
    copy = tmp_path / "changed"
    shutil.copytree(demo.native.parent, copy)
    folder = tmp_path / "made"
    folder.mkdir()
    assert export(demo.native, "trip-planner@17", "--pytest", folder / "test_it.py") == 0
    text = (folder / "test_it.py").read_text()
    assert "choose_hotel" in text
    nodes = copy / "trip_nodes.py"
    source = nodes.read_text()
    assert "def choose_hotel(" in source
    nodes.write_text(
        source.replace("def choose_hotel(", "def chose(", 1) + "\n\ndef choose_hotel(state):\n    return {}\n"
    )
    (folder / "test_it.py").write_text(text.replace("../demo", "../changed"))
    code, said = outcome(folder)
    assert code == 1
    assert "1 failed" in said


def ran(folder: Path, run: str, state: Mapping[str, Value]) -> Path:
    """A store in which one node of `effect_nodes` has run."""
    folder.mkdir()
    on = bench(folder, [python("n", f"tests.engine.effect_nodes:{run}", None, retry={"max": 3, "first": 0})])
    on.start(dict(state), "t")
    on.go()
    assert on.kinds()[-1] == "run_ended"
    on.store.close()
    return folder / "store.sqlite"


def constants(file: Path) -> dict[str, Value]:
    """What stands in a test file under the names that are written large."""
    assigned = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign)]
    named = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
    return {name: ast.literal_eval(named[name]) for name in ("STATE", "EXPECTED", "EFFECTS", "PARTS")}


def test_what_a_node_asked_outside_is_answered_from_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect_nodes, "troubles", {"fail": [RetryableError("once")]})
    made = tmp_path / "made"
    made.mkdir()
    names = {}
    given: dict[str, dict[str, Value]] = {
        "sends": {"to": "ada"},
        "asynchronous": {"to": "ada"},
        "buys": {"item": "hat"},
        "three_parts": {"q": 1},
        "dice": {},
    }
    for run, state in given.items():
        file = made / f"test_{run}.py"
        assert export(ran(tmp_path / run, run, state), "t", "--pytest", file) == 0
        found = constants(file)
        names[run] = [name for name, _, _ in found["EFFECTS"]], list(found["PARTS"])
    assert names["buys"] == (["tx", "tx"], [])
    assert names["three_parts"] == ([], ["validate", "generate", "retrieve"])
    assert names["dice"] == (["now", "uuid", "random", "random"], [])
    code, said = outcome(made)
    assert code == 0, said
    assert "5 passed" in said


def test_names_and_values_that_want_to_be_code_are_text(tmp_path: Path) -> None:
    evil = '"""\nraise SystemExit(3)\n"""' + "'''\\" + HOSTILE + "<<state>> {node} %s"
    made = NodeTest(
        kind="workflow",
        origin=evil,
        node=evil,
        target="evil_nodes:same",
        folder="..",
        state={evil: [evil, 1.5, None], "k": evil},
        expected={evil: [evil, 1.5, None], "k": evil},
        thread=evil,
        effects=[[evil, evil, evil]],
        parts={evil: evil},
    )
    text = made.text()
    tree = ast.parse(text)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    assert names == [made.name]
    assert "\x1b" not in text
    assert "\u202e" not in text
    (tmp_path / "evil_nodes.py").write_text(f"def same(state, ctx):\n    ctx.effect({evil!r}, None, {evil!r})\n")
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    code, said = outcome(folder)
    assert code == 0, said


def test_secrets_are_left_out_unless_they_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ran(tmp_path / "run", "sends", {"to": "ada", "api_key": "sk-123"})
    hidden, shown = tmp_path / "test_hidden.py", tmp_path / "test_shown.py"
    assert export(store, "t", "--pytest", hidden) == 0
    assert "secrets are left out" in capsys.readouterr().err
    assert export(store, "t", "--pytest", shown, "--reveal") == 0
    assert "sk-123" not in hidden.read_text()
    assert "'api_key': '●●●●'" in hidden.read_text()
    assert "are left out" in hidden.read_text()
    assert "sk-123" in shown.read_text()
    assert "in clear" in shown.read_text()


@pytest.mark.parametrize(
    ("ref", "words", "code", "said"),
    [
        ("trip-planner@-1", (), 2, "where its thread begins"),
        ("trip-planner@17", ("--node", "search"), 2, "'search' did not run"),
        ("nowhere", (), 3, "nowhere"),
        ("trip-kyoto@17", (), 2, "--graph"),
        ("trip-kyoto@17", ("--graph", "agent"), 2, "module:attr"),
    ],
)
def test_what_cannot_be_a_test_says_why_and_writes_nothing(
    ref: str, words: tuple[str, ...], code: int, said: str, demo: DemoFiles, tmp_path: Path, capsys: Any
) -> None:
    store = demo.langgraph if "kyoto" in ref else demo.native
    file = tmp_path / "test_it.py"
    assert export(store, ref, "--pytest", file, *words) == code
    assert said in capsys.readouterr().err
    assert not file.exists()


def test_a_file_that_is_there_stays(demo: DemoFiles, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("mine")
    assert export(demo.native, "trip-planner@17", "--pytest", file) == 4
    assert file.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []
    assert export(demo.native, "trip-planner@17", "--pytest", tmp_path / "no" / "test_it.py") == 3


CHAT = """
from typing import Annotated, TypedDict
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

class State(TypedDict):
    messages: Annotated[list, add_messages]

def agent(state):
    return {"messages": [AIMessage(content="you said " + state["messages"][-1].content)]}

builder = StateGraph(State)
builder.add_node("agent", agent)
builder.add_edge(START, "agent")
builder.add_edge("agent", END)
"""


def test_messages_are_built_by_the_graph_s_own_classes(tmp_path: Path) -> None:
    """A node of LangGraph's that reads messages and answers with one; the second test expects something else."""
    (tmp_path / "chat.py").write_text(CHAT)
    names: dict[str, Any] = {}
    exec(compile(CHAT, "chat.py", "exec", dont_inherit=True), names)
    with saver_of(tmp_path / "chat.db") as saver:
        names["builder"].compile(checkpointer=saver).invoke({"messages": [("human", "hello")]}, config("t"))
    made = tmp_path / "made"
    made.mkdir()
    graph = f"{tmp_path / 'chat.py'}:builder"
    assert export(tmp_path / "chat.db", "t", "--pytest", made / "test_it.py", "--graph", graph) == 0
    text = (made / "test_it.py").read_text()
    assert "langchain_core.messages.human.HumanMessage" in text
    (made / "test_other.py").write_text(text.replace("you said hello", "you said nothing"))
    code, said = outcome(made)
    assert code == 1
    assert "1 failed, 1 passed" in said, said


def test_a_node_without_a_function_is_no_test(demo: DemoFiles, tmp_path: Path, capsys: Any) -> None:
    assert export(demo.native, "trip-planner@10", "--pytest", tmp_path / "test_it.py") == 2
    assert "compare_seasons is no node with a function of its own" in capsys.readouterr().err
