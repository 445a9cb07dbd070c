"""Commands that serve a store to another program: mcp. Nothing that is served can write."""

from __future__ import annotations

from dataclasses import dataclass

import click

from tt_debug import __version__
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front
from tt_debug.cli.options import gathered, reveal_option, store_argument
from tt_debug.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOptions:
    """What is served."""

    store: str
    reveal: bool


@click.command()
@store_argument
@reveal_option
@gathered(McpOptions)
def mcp(front: Front, options: McpOptions) -> ExitCode:
    """Let an agent look into a store, by MCP over stdio.

    Tools: threads, log, show, diff, history, find, grep. Secrets are hidden by their names.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise UsageError("the mcp package is not installed", hint="pip install 'tt-debug[mcp]'") from error
    from tt_debug.cli.agent_tools import AgentTools

    with front.looking(options.store) as session:
        server = MCPServer(
            "tt-debug",
            version=__version__,
            instructions="Read-only access to the checkpoints that an agent's runs left in a store.",
            log_level="WARNING",
        )
        for tool in AgentTools(session, front.hiding(options.reveal)).all():
            server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
        server.run("stdio")
    return ExitCode.OK
