"""Properties are judged by what they say, not by how busy the machine is; what the user has set counts for nothing."""

from __future__ import annotations

import gc
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests import left_behind
from tests.langgraph_server import Server, server_of

settings.register_profile("steady", deadline=None, max_examples=40)
settings.load_profile("steady")

# A shell starts what it puts in the background with Ctrl-C ignored, nohup with the end of the terminal, and every
# process started from there inherits that: a test that sends one would wait for ever.
for _ignored, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, _usual)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules of the interface, whose tests mostly wait, between those that compute: together they fill two cores."""
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    ours = [name for name in modules if name.startswith("tests/tui/")]
    others = [name for name in modules if name not in ours]
    # Where each stands in its own row, as a share of that row: the two rows become one.
    place = {name: at / len(row) for row in (ours, others) for at, name in enumerate(row)}
    items[:] = [item for name in sorted(modules, key=place.__getitem__) for item in modules[name]]


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector need not walk over it, nor look for the little garbage so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        left_behind.end(item.nodeid)
    return report


def pytest_sessionfinish() -> None:
    left_behind.end()


@pytest.fixture(autouse=True)
def _processes_are_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    with left_behind.marked(request.node.nodeid):
        yield


@pytest.fixture(autouse=True, scope="session")
def _nothing_of_the_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TT_DEBUG_HOME", str(tmp_path_factory.mktemp("home")))
        environment.delenv("TT_DEBUG_REDACT", raising=False)
        yield


@pytest.fixture
def langgraph_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A LangGraph server: a real one where the environment names it, else what one answered to this test before."""
    for name in ("LANGGRAPH_API_KEY", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with server_of(request.node.name) as server:
        yield server
