"""An edit as a node's update: the plan, what would come out, then the save. Runs the graph's reducers and branches.

Owns what is asked and printed; refuses to read changes as typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from stores.model import Diff, Header, Ref
from tt_debug.cli import records
from tt_debug.cli.exits import NeedsYes, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import together
from tt_debug.cli.output import Output
from tt_debug.cli.run_options import RunTarget
from tt_debug.diff_text import format_diff
from tt_debug.errors import UsageError
from tt_debug.session.hiding import hidden_changes
from tt_debug.session.plans import NodeEdit, RunPlan, RunRequest, RunResult
from tt_debug.text import safe_text

if TYPE_CHECKING:
    from tt_debug.session.session import Session

node_options = together(
    click.option(
        "--as-node", metavar="NODE", help="With --graph: as if NODE had written it; its edges say what is next."
    ),
    click.option("--by-reducer", is_flag=True, help="With --as-node: hand the values to the reducers, not replace."),
    click.option("--preview", is_flag=True, help="With --as-node: show what comes out, store nothing."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTarget(RunTarget):
    """What `edit` and `fork` get about a node; without one, the others mean nothing."""

    as_node: str | None = None
    by_reducer: bool = False
    preview: bool = False

    def check(self) -> None:
        """Raises UsageError for options that need others."""
        if self.as_node is None and (self.by_reducer or self.preview):
            raise UsageError("--by-reducer and --preview belong to --as-node")


@dataclass(frozen=True, slots=True)
class Updating:
    """One update on one session."""

    front: Front
    session: Session
    options: NodeTarget

    def go(self, ref: Ref, changes: Diff, thread: str | None) -> Header | None:
        """Ask, preview, ask, save. None for a preview alone. Raises NeedsYes when nothing may run or be saved."""
        options = self.options
        edit = NodeEdit(options.as_node or "", changes, options.by_reducer, options.preview)
        request = RunRequest("update", ref=ref, thread=thread, graph=options.graph_target(), edit=edit)
        plan = self.session.plan(request)
        if options.preview:
            self._show(self._made(plan))
            return None
        if not options.yes:
            self._agree(plan)
        else:
            narrate(plan.title)
        result = self._made(plan)
        if options.yes:
            narrate(*self._lines(result))
        assert result.head is not None
        return self.session.load(result.head).header

    def _agree(self, plan: RunPlan) -> None:
        if not self.front.someone_to_ask():
            output = Output(self.options.as_json)
            if self.options.as_json:
                output.document("plan", records.plan_record(plan))
            else:
                output.text(plan.lines())
            hint = "--preview shows what comes out, --yes saves it; both run that code"
            raise NeedsYes("nothing has run: there is no terminal to ask on", hint=hint)
        narrate(*plan.lines())
        if not self.front.ask("Run this code to see what comes out?"):
            raise NeedsYes("nothing has run")
        assert plan.request.edit is not None
        preview = replace(plan.request, edit=replace(plan.request.edit, preview=True))
        narrate(*self._lines(self._made(self.session.plan(preview))))
        if not self.front.ask("Save it?"):
            raise NeedsYes("nothing is saved")

    def _made(self, plan: RunPlan) -> RunResult:
        return self.session.execute(plan, lambda event: None)

    def _show(self, result: RunResult) -> None:
        output = Output(self.options.as_json)
        if output.as_json:
            output.document("preview", {**update_record(result), "notes": list(result.notes)})
        else:
            output.text(self._lines(result))

    def _lines(self, result: RunResult) -> list[str]:
        """What comes out, and what runs next."""
        made = result.updated
        assert made is not None
        changes = hidden_changes(made.changes, (made.before, made.after), self.front.hiding(self.options.reveal))
        lines = list(format_diff(changes)) or ["the state stays as it is"]
        following = " → ".join(map(safe_text, made.next)) if made.next else "nothing: the line ends there"
        return [*lines, f"next          {following}", *(f"note          {safe_text(note)}" for note in result.notes)]


def update_record(result: RunResult) -> Mapping[str, object]:
    """What came of an update: the changes, and what runs next."""
    made = result.updated
    assert made is not None
    return {"changes": [records.change_record(change) for change in made.changes], "next": list(made.next)}
