"""The MCP server over one store: the tools of `tt_debug.cli.agent_tools`, with their failures in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from stores.errors import StoreError
from tt_debug import __version__
from tt_debug.cli.agent_tools import AgentTools, Answer
from tt_debug.errors import DebuggerError
from tt_debug.redaction import Redaction
from tt_debug.session.session import Session


def agent_server(session: Session, hiding: Redaction) -> MCPServer:
    """A server that has only tools that look."""
    server = MCPServer(
        "tt-debug",
        version=__version__,
        instructions="Read-only access to the checkpoints that an agent's runs left in a store.",
        log_level="WARNING",
    )
    for tool in AgentTools(session, hiding).all():
        server.add_tool(_told(tool), annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    return server


def _told(tool: Callable[..., Answer]) -> Callable[..., Answer]:
    """The tool, with its errors in words: of other exceptions the SDK tells no more than the name of the tool."""

    @wraps(tool)
    def asked(*given: object, **named: object) -> Answer:
        try:
            return tool(*given, **named)
        except (StoreError, DebuggerError) as error:
            raise ToolError(f"{error}; {error.hint}" if error.hint else str(error)) from error

    return asked
