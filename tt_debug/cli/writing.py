"""Commands that append: fork and edit. Neither asks, as nothing that was there changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stores.changes import apply_changes
from stores.errors import Conflict
from stores.model import Capability, Change, Header, Ref, Value
from tt_debug.cli import records
from tt_debug.cli.exits import ExitCode, NeedsYes, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, ref_argument, store_argument, together
from tt_debug.cli.output import Output
from tt_debug.cli.run_options import (
    FILE,
    accepting_option,
    conflict_option,
    graph_options,
    running_options,
    workflow_option,
)
from tt_debug.cli.updating import NodeTarget, Updating, node_options
from tt_debug.errors import DefinitionChanged, UsageError
from tt_debug.session.losses import losses_at
from tt_debug.session.plans import RunRequest
from tt_debug.shell import argument

if TYPE_CHECKING:
    from tt_debug.session.session import Session


class OrderedCommand(click.Command):
    """A command whose --set, --unset and --patch apply in the order they were typed.

    click collects each option for itself; list positions make the order between them matter.
    """

    KINDS = ("set", "unset", "patch")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises click.UsageError."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[__name__] = [param.name for param in order if param.name in self.KINDS]
        return super().parse_args(ctx, args)


@dataclass(frozen=True, slots=True)
class Edit:
    """One --set, --unset or --patch as typed."""

    kind: str
    text: str


change_options = together(
    click.option("--set", metavar="P=JSON", multiple=True, help="Give PATH a value; P[+]=JSON appends. Repeatable."),
    click.option("--unset", metavar="P", multiple=True, help="Take PATH out. Repeatable."),
    click.option(
        "--patch",
        type=FILE,
        metavar="FILE",
        multiple=True,
        help="Apply RFC 6902 operations, as diff --format json-patch writes.",
    ),
)


expecting_option = click.option(
    "--expect-head", metavar="ID", help="Refuse unless this is the head of REF's thread: what you last saw of it."
)


def check_head(session: Session, ref: Ref, expected: str | None) -> None:
    """Raises Conflict when the thread of ``ref`` has another head by now than the one that was seen."""
    if expected is None:
        return
    seen, head = (session.resolve(f"{ref.thread}@{selector}") for selector in (expected, "head"))
    if seen != head:
        raise Conflict(
            f"the head of {ref.thread!r} is {head.id} by now, not {seen.id}",
            hint="look at what came, then say so again",
        )


def typed_edits(given: Mapping[str, tuple[Any, ...]]) -> tuple[Edit, ...]:
    """The edits of the current command, in the order they were typed."""
    left = {kind: iter(given[kind]) for kind in OrderedCommand.KINDS}
    order: list[str] = click.get_current_context().meta[__name__]
    return tuple(Edit(kind, str(next(left[kind]))) for kind in order)


def changes_of(edits: tuple[Edit, ...], state: Mapping[str, Value]) -> tuple[Change, ...]:
    """The edits as changes of ``state``, each read against what those before it left. Raises UsageError, Invalid."""
    changes: list[Change] = []
    for edit in edits:
        found = _changes_of_one(edit, state)
        state = apply_changes(state, found)
        changes.extend(found)
    return tuple(changes)


def _changes_of_one(edit: Edit, state: Mapping[str, Value]) -> tuple[Change, ...]:
    from tt_debug.patch import from_json_patch, parse_set, parse_unset

    if edit.kind == "set":
        return (parse_set(edit.text, state),)
    if edit.kind == "unset":
        return (parse_unset(edit.text, state),)
    return tuple(from_json_patch(_operations(Path(edit.text)), state))


def _operations(file: Path) -> list[Value]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read as a JSON Patch: {error}") from error
    if not isinstance(found, list):
        raise UsageError(f"{file} is not a JSON Patch: it must be a list of operations", hint='[{"op": "replace", …}]')
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkOptions(NodeTarget):
    """Where from, where to, with which changes."""

    ref: str
    to: str | None
    set: tuple[str, ...]
    unset: tuple[str, ...]
    patch: tuple[Path, ...]
    run: bool
    keep_results: bool
    fresh_effects: bool
    on_conflict: str | None
    adopt: Path | None
    expect_head: str | None

    def edits(self) -> tuple[Edit, ...]:
        """As typed."""
        return typed_edits({"set": self.set, "unset": self.unset, "patch": self.patch})


@click.command(cls=OrderedCommand)
@store_argument
@ref_argument
@click.option("--to", metavar="THREAD", help="The new thread's name; THREAD-fork-N when left out.")
@change_options
@click.option("--adopt", type=FILE, metavar="FILE", help="Bind the fork to this changed workflow definition.")
@click.option("--keep-results", is_flag=True, help="LangGraph: keep the step's finished results and open questions.")
@click.option("--fresh-effects", is_flag=True, help="Take over no effect on record: everything is called again.")
@click.option("--run", is_flag=True, help="Then go on from there, as resume does.")
@conflict_option
@expecting_option
@node_options
@workflow_option
@graph_options
@accepting_option
@running_options
@gathered(ForkOptions)
def fork(front: Front, options: ForkOptions) -> ExitCode:
    """Start a new thread at a checkpoint, changed or not.

    Nothing that is there changes. Prints the new head as a REF.
    """
    _check_run(options)
    with front.writing(options.wanted()) as session:
        base = session.resolve(options.ref)
        check_head(session, base, options.expect_head)
        edits = options.edits()
        changes = changes_of(edits, session.load(base).state) if edits else ()
        if options.run and options.as_node is None and Capability.RUNS not in session.info.capabilities:
            session.plan(replace(_run_request(options), action="replay", ref=base))  # before anything is stored
        if options.as_node is not None:
            to = session.free_name(base.thread) if options.to is None else options.to
            made_by_node = Updating(front, session, options).go(base, changes, to)
            if made_by_node is None:
                return ExitCode.OK
            made = made_by_node
        else:
            made = _forked(session, base, changes, options)
        if options.run:
            try:
                return _run_on(front, session, made, options)
            except NeedsYes as refused:  # the fork stands: the same command would meet its name
                hint = f"tt-debug resume STORE --yes {argument(made.ref.thread)}"
                raise NeedsYes(str(refused), hint=hint) from refused
    _tell("fork", made, options)
    return ExitCode.OK


def _check_run(options: ForkOptions) -> None:
    options.check()
    if options.run and options.preview:
        raise UsageError("--preview stores nothing that --run could go on from")
    if not (options.run or options.as_node) and (options.workflow or options.graph):
        raise UsageError(
            "--workflow and --graph say what to run, and there is no --run", hint="--adopt changes a fork's workflow"
        )
    if options.as_node is not None and (options.adopt or options.keep_results):
        raise UsageError("--as-node excludes --adopt and --keep-results", hint="it applies what has finished itself")


def _forked(session: Session, base: Ref, changes: tuple[Change, ...], options: ForkOptions) -> Header:
    told = _adopting(session, base, options.adopt) if options.adopt is not None else ()
    if changes and not options.keep_results:
        told = (*told, *left_behind(session, base, "the same with --keep-results keeps it"))
    made = session.fork(
        base,
        options.to,
        changes,
        keep_results=options.keep_results,
        adopt=options.adopt,
        fresh_effects=options.fresh_effects,
    )
    narrate(f"forked {base.thread}@{base.id} → {made.ref.thread}, {_count(changes)}", *told)
    return made


def left_behind(session: Session, base: Ref, way: str) -> tuple[str, ...]:
    """What an edit of a step that is under way does not take along, and ``way`` to; nothing where there is nothing."""
    lost = losses_at(session, base)
    if not lost:
        return ()
    where = f"left behind at {base.thread}@{base.id}, which still has it ({way}):"
    return (where, *(f"  {line}" for line in lost.lines()))


def _adopting(session: Session, base: Ref, file: Path) -> tuple[str, ...]:
    """How the definition in ``file`` differs from the base's, a line each. Raises DefinitionError."""
    try:
        session.plan(RunRequest("replay", ref=base, workflow=file))
    except DefinitionChanged as changed:
        return (f"adopts {file}:", *(f"  {each}" for each in changed.differences))
    except UsageError:  # it is the same, and nothing runs from here, or none is stored: there is nothing to compare
        return ()
    return (f"{file} is what it runs already",)


def _run_on(front: Front, session: Session, made: Header, options: ForkOptions) -> ExitCode:
    """The fork as the first line of the run's stream, then the run."""
    from tt_debug.cli.runner import Runner

    output = Output(options.as_json)
    if options.as_json:
        output.line({"event": "forked", **records.new_head_record(made)})
    else:
        output.text([f"{made.ref.thread}@{made.ref.id}"])
    request = replace(_run_request(options), ref=made.ref)
    return Runner(front, session, output, yes=options.yes, reveal=options.reveal).go(request)


def _run_request(options: ForkOptions) -> RunRequest:
    return RunRequest(
        "resume",
        workflow=options.workflow,
        graph=options.graph_target(),
        accept_graph=options.accept_graph,
        on_conflict=options.on_conflict,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOptions(NodeTarget):
    """Which checkpoint, with which changes."""

    ref: str
    set: tuple[str, ...]
    unset: tuple[str, ...]
    patch: tuple[Path, ...]
    expect_head: str | None


@click.command(cls=OrderedCommand)
@store_argument
@ref_argument
@change_options
@expecting_option
@node_options
@graph_options
@running_options
@gathered(EditOptions)
def edit(front: Front, options: EditOptions) -> ExitCode:
    """Append a changed copy in the thread itself, as its head.

    The application goes on from there. Prints the new head as a REF.
    """
    edits = typed_edits({"set": options.set, "unset": options.unset, "patch": options.patch})
    options.check()
    if options.graph and options.as_node is None:
        raise UsageError("--graph says whose code to run, and without --as-node none is", hint="--as-node NODE")
    if not edits and options.as_node is None:
        raise UsageError("edit needs at least one --set, --unset or --patch", hint="--set 'plan.city=\"Kyoto\"'")
    with front.writing(options.wanted()) as session:
        ref = session.resolve(options.ref)
        check_head(session, ref, options.expect_head)
        changes = changes_of(edits, session.load(ref).state) if edits else ()
        if options.as_node is not None:
            made = Updating(front, session, options).go(ref, changes, None)
            if made is None:
                return ExitCode.OK
        else:
            told = left_behind(session, ref, "fork --keep-results with the same changes keeps it")
            made = session.edit(ref, changes)
            narrate(*told)
    narrate(f"edited {ref.thread}@{ref.id}, {_count(changes)}; the application goes on from {made.ref.id} now")
    _tell("edit", made, options)
    return ExitCode.OK


def _tell(kind: str, made: Header, options: Target) -> None:
    output = Output(options.as_json)
    if options.as_json:
        output.document(kind, records.new_head_record(made))
    else:
        output.text([f"{made.ref.thread}@{made.ref.id}"])


def _count(changes: tuple[Change, ...]) -> str:
    return f"{len(changes)} change{'' if len(changes) == 1 else 's'}"
