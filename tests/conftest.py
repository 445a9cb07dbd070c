"""Properties are judged by what they say, not by how busy the machine is; what the user has set counts for nothing."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.langgraph_server import Server, server_of

settings.register_profile("steady", deadline=None, max_examples=40)
settings.load_profile("steady")

# A shell starts what it puts in the background with Ctrl-C ignored, and every process started from there inherits
# that: a test that presses it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
