"""``demo``: the whole product on two small example stores, offline."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stores.errors import Unreachable
from stores.places import state_folder
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front, Screen
from tt_debug.cli.options import gathered
from tt_debug.cli.output import Output
from tt_debug.cli.screen import require_screen
from tt_debug.session.plans import GraphTarget

if TYPE_CHECKING:
    from tt_debug.demo import DemoFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """Afresh or as left; opened or only named."""

    reset: bool
    print: bool
    as_json: bool


@click.command()
@click.option("--reset", is_flag=True, help="Make the example files anew.")
@click.option("--print", is_flag=True, help="Only say where they are, as shell assignments.")
@click.option("--json", "as_json", is_flag=True, help="Only say where they are, as JSON.")
@gathered(DemoOptions)
def demo(front: Front, options: DemoOptions) -> ExitCode:
    """Open a small example: one native store, one of LangGraph's."""
    only_named = options.print or options.as_json
    if not only_named:
        require_screen(front, "tt-debug demo --print")
    files = _prepared(state_folder() / "demo", options.reset)
    graph = GraphTarget(files.graph, folder=Path(files.langgraph).parent)
    if not only_named:
        return ExitCode(front.open_screen(Screen((str(files.native), str(files.langgraph)), graph=graph, tour=True)))
    places = {"native": str(files.native), "langgraph": str(files.langgraph), "graph": files.graph}
    output = Output(options.as_json)
    if options.as_json:
        output.document("demo", places)
    else:
        output.text(f"{name.upper()}={shlex.quote(place)}" for name, place in places.items())
    return ExitCode.OK


def _prepared(folder: Path, reset: bool) -> DemoFiles:
    """Raises Unreachable where the files cannot be made."""
    from tt_debug.demo import prepare  # zstandard, 10 ms

    try:
        return prepare(folder, reset)
    except OSError as error:
        raise Unreachable(
            f"the example cannot be put into {folder}: {error.strerror}", hint="TT_DEBUG_HOME=FOLDER moves it"
        ) from error
