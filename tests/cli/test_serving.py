"""mcp: an agent asks through the official client, over memory and over stdio, and can only look."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver import MCPServer

from stores.model import NewCheckpoint, Ref, Value
from tests.builders import native_file
from tests.cli.samples import sample_session
from tt_debug.cli.agent_server import agent_server
from tt_debug.redaction import Redaction


@pytest.fixture
def server(tmp_path: Path) -> MCPServer:
    return agent_server(sample_session(tmp_path), Redaction())


async def call(server: MCPServer, tool: str, **arguments: Any) -> Any:
    async with Client(server) as client:
        answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer
        return answer.structured_content


@pytest.mark.anyio
async def test_every_tool_answers(server: MCPServer) -> None:
    async with Client(server) as client:
        listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == ["threads", "log", "show", "diff", "history", "find", "grep"]
    threads = await call(server, "threads")
    assert {item["thread"] for item in threads["items"]} >= {"trip", "trip-eu"}
    assert [item["step"] for item in (await call(server, "log", thread="trip"))["items"]] == [1, 0, -1]
    assert (await call(server, "show", ref="trip@0"))["state"]["plan"]["price"] == 88
    assert (await call(server, "show", ref="trip@0", path="plan.hotel"))["value"] == "ryokan"
    assert {item["op"] for item in (await call(server, "diff", ref="trip"))["items"]} >= {"change", "remove"}
    stops = await call(server, "history", thread="trip", path="city")
    assert [stop["new"] for stop in stops["items"]] == ["大阪", "京都"]
    found = await call(server, "find", expression="city == '京都'", thread="trip", how="last")
    assert [hit["step"] for hit in found["items"]] == [0]
    assert (await call(server, "grep", text="ryokan"))["items"][0]["path"] == ["plan", "hotel"]


@pytest.mark.anyio
async def test_answers_come_in_portions_that_say_whether_there_is_more(server: MCPServer) -> None:
    part = await call(server, "log", thread="trip", limit=2)
    assert (len(part["items"]), part["more"]) == (2, True)
    assert (await call(server, "log", thread="trip", limit=3))["more"] is False
    assert await call(server, "threads", limit=0) == {"items": [], "more": True}


@pytest.mark.anyio
async def test_what_cannot_be_answered_says_why(server: MCPServer) -> None:
    async with Client(server) as client:
        for tool, arguments, why in (
            ("show", {"ref": "nobody"}, "no thread 'nobody'"),
            ("show", {"ref": "trip", "path": "no.where"}, "has no no.where"),
            ("find", {"expression": "a ="}, "not a JMESPath expression"),
            ("find", {"expression": "a ="}, "see https://jmespath.org"),
            ("find", {"expression": "a", "how": "last"}, "name a THREAD"),
        ):
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert why in answer.content[0].text, answer


@pytest.mark.anyio
async def test_secrets_are_hidden_and_large_states_cut(tmp_path: Path) -> None:
    from tt_debug.session.session import Session

    state: dict[str, Value] = {"api_key": "sk-1", "long": "x" * 50_000}
    path = native_file(tmp_path / "s.db", [NewCheckpoint(Ref("s", "", "1"), None, state, "input")])
    session = Session.open(str(path), read_only=True)
    made = agent_server(session, Redaction())
    shown = await call(made, "show", ref="s")
    assert "sk-1" not in str(shown)
    assert len(str(shown)) < 2_000
    assert "ask for one by its path" in shown["cut"]
    assert (await call(made, "show", ref="s", path="long"))["value"] == "x" * 50_000
    assert "sk-1" not in str(await call(made, "show", ref="s", path="api_key"))
    assert "sk-1" not in str(await call(made, "grep", text="sk-"))
    session.close()


@pytest.mark.anyio
async def test_over_stdio_and_nothing_is_written(tmp_path: Path) -> None:
    path = native_file(tmp_path / "s.db", [NewCheckpoint(Ref("s", "", "1"), None, {"a": 1}, "input")])
    before = (path.read_bytes(), sorted(tmp_path.iterdir()))
    words = ["-m", "tt_debug", "mcp", str(path)]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=words))) as client:
        answer = await client.call_tool("threads", {})
        assert answer.structured_content["items"][0]["thread"] == "s"
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
