"""Arguments and options of the commands that run code, or take values for it.

Apart from `options`, as a listing does without them.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tt_debug.cli.front import Wanted
from tt_debug.cli.options import Target, reveal_option, together, writing_options
from tt_debug.errors import UsageError

if TYPE_CHECKING:
    from stores.model import Value
    from tt_debug.session.plans import GraphTarget

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class JsonText(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases of click only
    """A JSON value typed on the command line; a text that is not JSON is refused showing the quotes it needs."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Value:
        """Raises UsageError."""
        if not isinstance(value, str):
            return value
        word = param.opts[0] if isinstance(param, click.Option) else ""
        try:
            return json.loads(value, parse_constant=_no_constant, object_pairs_hook=_each_key_once)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise UsageError(
                f"{word or 'the answer'} {value!r} is not JSON: {reason}", hint=self.quotes(word, value)
            ) from error

    def quotes(self, word: str, text: str) -> str:
        """How to write it as JSON; of a text that means to be JSON already, only that the shell wants quotes."""
        if text.lstrip().startswith(("{", "[", '"')):
            return "put the whole of it into single quotes, so that the shell leaves its own alone"
        quoted = shlex.quote(json.dumps(text, ensure_ascii=False))
        return f"a text needs its own quotes inside the shell's: {word} {quoted}".replace(":  ", ": ")


class JsonObject(JsonText):
    """The same for an object."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Value:
        """Raises UsageError."""
        found = super().convert(value, param, ctx)
        if not isinstance(found, dict):
            word = param.opts[0] if param is not None else "it"
            raise UsageError(f"{word} must be a JSON object, this is {value}", hint=self.quotes(word, ""))
        return found

    def quotes(self, word: str, text: str) -> str:
        """What an object looks like; a text would not do."""
        return super().quotes(word, text) if text.lstrip().startswith("{") else f"""{word} '{{"key": "value"}}'"""


def _no_constant(word: str) -> Value:
    raise ValueError(f"{word} is no JSON value")


def _each_key_once(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {json.dumps(twice, ensure_ascii=False)} is there twice")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget(Target):
    """What every command that runs code gets; ``graph`` and ``workflow`` are two ways to say which code."""

    workflow: Path | None = None
    graph: str | None = None
    config: Value = None
    env_file: Path | None = None
    python: str | None = None
    trust: tuple[str, ...] = ()
    yes: bool = False
    reveal: bool = False
    accept_graph: bool = False

    def wanted(self) -> Wanted:
        """Raises UsageError for options that contradict each other."""
        return Wanted(self.store, read_only=self.read_only, graph=self.graph_target(), workflow=self.workflow)

    def graph_target(self) -> GraphTarget | None:
        """The user's graph, None for a workflow. Raises UsageError."""
        if self.graph is None and not (self.config or self.env_file or self.python or self.trust):
            return None
        from tt_debug.session.plans import GraphTarget  # with runs and their events, 12 ms

        how = GraphTarget("", self.config or {}, self.env_file, self.python, trust=self.trust)
        return graph_target(self.graph, self.workflow, how)


def graph_target(graph: str | None, workflow: Path | None, how: GraphTarget) -> GraphTarget | None:
    """``how`` with the graph's name and the folder it is looked up from. Raises UsageError."""
    if graph is None:
        if how.config or how.env_file or how.python or how.trust:
            raise UsageError("--config, --env-file, --python and --trust say how to run a --graph, and there is none")
        return None
    if workflow is not None:
        raise UsageError(
            "--graph and --workflow exclude each other", hint="a LangGraph store takes --graph, ours --workflow"
        )
    return replace(how, graph=graph, folder=Path.cwd())


class ClassList(click.ParamType):  # type: ignore[type-arg]
    """Classes of effects, separated by commas."""

    name = "classes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Raises click.UsageError for a class that there is not."""
        if isinstance(value, tuple):
            return value
        from stores.effects import EffectClass

        found = tuple(str(value).split(","))
        for name in found:
            if name not in EffectClass.ALL:
                self.fail(f"there is no class {name!r} of effects, only {', '.join(EffectClass.ALL)}", param, ctx)
        return found


workflow_option = click.option("--workflow", type=FILE, metavar="FILE", help="The definition to run, JSON or YAML.")
graph_options = together(
    click.option("--graph", metavar="G", help="Your graph: module:attr, ./file.py:attr or a name in langgraph.json."),
    click.option(
        "--config", type=JsonObject(), metavar="JSON", help="For --graph: configurable, context, recursion_limit."
    ),
    click.option("--env-file", type=FILE, metavar="FILE", help="For --graph: variables for its process."),
    click.option("--python", metavar="PATH", help="For --graph: the interpreter of the agent's own environment."),
    click.option(
        "--trust",
        multiple=True,
        metavar="NAME",
        help="For --graph: build stored values of module.Class, though the graph has not imported it; or read pickle.",
    ),
)
accepting_option = click.option(
    "--accept-graph", is_flag=True, help="For --graph: run it although it has changed since it last ran the thread."
)
conflict_option = click.option(
    "--on-conflict",
    type=click.Choice(["new", "reuse", "skip"]),
    metavar="HOW",
    help="Where an effect on record meets another request: call it as new, reuse the result, skip it; else it asks.",
)
running_options = together(
    click.option("--yes", "-y", is_flag=True, help="Run without asking."),
    reveal_option,
    writing_options,
)
