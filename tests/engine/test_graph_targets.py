"""Every form in which a graph can be named, each driven to its end in a real child process."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from stores.errors import NotFound
from tests.engine.graph_threads import AGENTS, listing, run, started, stored_log, target
from tt_debug.engine.graph import describe_graph
from tt_debug.errors import ChildFailed, UsageError


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A thread stopped before b, as bytes of its file: LangGraph is imported once for all forms."""
    return started(
        tmp_path_factory.mktemp("begun") / "t.sqlite", "letters:builder", interrupt_before=["b"]
    ).read_bytes()


@pytest.fixture
def store(tmp_path: Path, begun: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    path = tmp_path / "store" / "t.sqlite"
    path.parent.mkdir()
    path.write_bytes(begun)
    return path


@pytest.mark.parametrize(
    ("graph", "printed"),
    [
        ("letters:graph", []),
        ("letters:builder", []),
        ("letters:with_memory", []),
        ("letters:make", ["made: sync"]),
        ("letters:make_async", ["made: async"]),
        ("letters:make_configured", ["made: ann on t"]),
        ("letters:make_within", ["opened", "closed"]),
        ("letters:make_within_async", ["opened: async", "closed: async"]),
        ("./letters.py:graph", []),
        ("awaited:graph", []),
        ("awaited:builder", []),
        ("./loose/flow.py:graph", []),
    ],
)
def test_a_graph_is_driven_to_its_end(store: Path, graph: str, printed: list[str]) -> None:
    outcome = run(store, target(graph, config={"configurable": {"who": "ann"}}))
    assert (outcome.end.status, outcome.end.error) == ("done", None)
    assert outcome.nodes() == ["b", "c", "d"]
    assert stored_log(store) == ["in", "a", "b", "c", "d"]
    assert [line for line in outcome.printed if not line.startswith("node")] == printed


def test_a_graph_with_a_saver_of_its_own_runs_on_our_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.sqlite"
    monkeypatch.setenv("OWN_STORE", str(own))
    assert run(store, target("own_saver:graph")).end.status == "done"
    assert stored_log(store) == ["in", "a", "b", "c", "d"]
    assert own.read_bytes() == b""


@pytest.mark.parametrize("name", ["letters", "described"])
def test_a_name_in_langgraph_json_brings_its_dependencies_and_its_env(store: Path, name: str) -> None:
    outcome = run(store, target(name, folder=AGENTS / "project"))
    assert outcome.end.status == "done"
    assert outcome.printed == ["pack.graph: deep blue, left, A book"]


def test_an_env_file_wins_over_the_env_of_langgraph_json(store: Path, tmp_path: Path) -> None:
    env_file = tmp_path / "mine.env"
    env_file.write_text("SHELF='right' # mine\nnonsense\n")
    outcome = run(store, target("letters", folder=AGENTS / "project", env_file=env_file))
    assert outcome.printed == [f"{env_file}:2: not a KEY=VALUE line, skipped", "pack.graph: deep blue, right, A book"]


def test_context_configurable_and_env_reach_the_node(store: Path, tmp_path: Path) -> None:
    started(store, "configured:builder", "c", interrupt_after=["first"])
    env_file = tmp_path / ".env"
    env_file.write_text("export COLOR=green\n")
    config = {"configurable": {"user": "ann", "checkpoint_id": "ignored"}, "context": {"model": "large"}}
    outcome = run(store, target("configured:builder", config=config, env_file=env_file), thread="c")
    assert outcome.end.status == "done"
    assert stored_log(store, "c")[-1] == {"color": "green", "user": "ann", "model": "large"}


def test_the_recursion_limit_is_a_failure_with_a_clear_text(store: Path) -> None:
    outcome = run(store, target("letters:looped", config={"recursion_limit": 5}))
    assert outcome.end.status == "failed"
    assert outcome.nodes()[:5] == ["b", "c", "d", "a", "b"]
    assert outcome.end.error is not None
    assert outcome.end.error.startswith("Recursion limit of 5 reached")
    assert "--config" in outcome.end.error


@pytest.mark.parametrize(
    ("graph", "error", "message", "hint"),
    [
        ("nowhere", UsageError, "no langgraph.json", "module:attr"),
        ("./nowhere.py:graph", UsageError, "there is no file", ""),
        ("./letters.py", UsageError, "which graph of it", "letters.py:graph"),
        ("letters:nothing", UsageError, "has no 'nothing'", "letters:graph"),
        ("letters:not_a_graph", UsageError, "no graph but a builtins.dict", ""),
        ("letters:make_with_two", UsageError, "wants config, runtime", ""),
        ("letters:make_badly", ChildFailed, "RuntimeError: no key in the drawer", ""),
        ("no_such_module:graph", ChildFailed, "No module named 'no_such_module'", "--python"),
    ],
)
def test_what_cannot_be_found_is_refused_in_words(
    store: Path, graph: str, error: type[Exception], message: str, hint: str
) -> None:
    before = store.read_bytes()
    with pytest.raises(error, match=message) as caught:
        run(store, target(graph))
    assert hint in caught.value.hint  # type: ignore[attr-defined]
    assert store.read_bytes() == before


def test_names_of_langgraph_json_that_cannot_be_driven(store: Path) -> None:
    with pytest.raises(UsageError, match="no graph 'other'") as caught:
        run(store, target("other", folder=AGENTS / "project"))
    assert caught.value.hint == "it has: described, letters, script"
    with pytest.raises(UsageError, match="only Python graphs"):
        run(store, target("script", folder=AGENTS / "project"))


def test_options_that_mean_nothing_are_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--config has user") as caught:
        run(store, target("letters:graph", config={"user": "ann"}))
    assert "configurable" in caught.value.hint
    with pytest.raises(UsageError, match=r"cannot read the env file .*none: No such file"):
        run(store, target("letters:graph", env_file=tmp_path / "none"))


def test_describing_runs_and_writes_nothing(store: Path) -> None:
    before, files = store.read_bytes(), listing(store.parent)
    facts = describe_graph(target("letters:make_async"), str(store), "t")
    assert (facts.nodes, facts.next, facts.step) == (("a", "b", "c", "d"), ("b",), 1)
    assert (facts.release, facts.problems, facts.questions) == (f"langgraph {version('langgraph')}", (), ())
    assert (store.read_bytes(), listing(store.parent)) == (before, files)


def test_a_thread_or_file_that_is_not_there(store: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="has no thread 'x'"):
        describe_graph(target("letters:graph"), str(store), "x")
    with pytest.raises(NotFound, match="cannot read"):
        run(tmp_path / "none.sqlite", target("letters:graph"))
    assert not (tmp_path / "none.sqlite").exists()
