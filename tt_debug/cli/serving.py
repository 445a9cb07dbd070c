"""Commands that serve a store to another program: an agent (mcp), a browser (serve).

Owns what is served, and that it is for looking only unless writing was asked for by name.
"""

from __future__ import annotations

from dataclasses import dataclass

import click

from stores.errors import Unreachable
from tt_debug.cli.exits import ExitCode, narrate
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
        from tt_debug.cli.agent_server import agent_server  # mcp: 600 ms
    except ImportError as error:
        raise UsageError("the mcp package is not installed", hint="pip install 'tt-debug[mcp]'") from error
    with front.looking(options.store) as session:
        agent_server(session, front.hiding(options.reveal)).run("stdio")
    return ExitCode.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What is served, and where."""

    store: str
    port: int
    write: bool


@click.command()
@store_argument
@click.option("--port", type=click.IntRange(1, 65535), default=8765, metavar="N", help="The port; 8765 by default.")
@click.option("--write", is_flag=True, help="Let the browser fork, edit and run; only looking otherwise.")
@gathered(ServeOptions)
def serve(front: Front, options: ServeOptions) -> ExitCode:
    """Show the interface in a browser on this machine.

    Prints the address to open, which has a key in it. Nobody else on the network can reach it. Ends with Ctrl-C.
    """
    try:
        from tt_debug.cli.web import WebServer
    except ImportError as error:
        raise UsageError("the textual-serve package is not installed", hint="pip install 'tt-debug[web]'") from error

    with front.looking(options.store):
        pass  # what cannot be opened is told here, not in every tab
    words = [options.store] if options.write else [options.store, "--read-only"]
    server = WebServer(words, options.port, narrate)
    try:
        server.serve()
    except OSError as error:
        raise Unreachable(
            f"port {options.port} cannot be served: {error.strerror}", hint="choose another --port"
        ) from error
    return ExitCode.OK
