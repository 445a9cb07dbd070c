"""Which commands there are, in which order and groups, and where each is found. Imports none of them."""

from __future__ import annotations

import importlib
import keyword
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import click


class Place(NamedTuple):
    """The module a command is in, and its line in the help: the first sentence of its own, which a test compares.

    It stands here as well because importing every command for it would cost 60 ms.
    """

    module: str
    help: str


SECTIONS: Final[dict[str, dict[str, Place]]] = {
    "Look": {
        "threads": Place("looking", "List threads, newest write first."),
        "log": Place("looking", "The history of a thread, oldest first."),
        "show": Place("showing", "One checkpoint: state, tasks, what the executor logged."),
        "diff": Place("showing", "What changed since the parent, or from one REF to another."),
        "compare": Place("parting", "Two lines side by side: where they part, and why."),
        "history": Place("asking", "Who wrote a value: every change of it, newest first."),
        "find": Place("asking", "When a condition held: plan.status == 'final'."),
        "grep": Place("asking", "Where a text stands, told where it came in."),
        "turns": Place("turns", "List the human messages of a thread: THREAD@turn:N is a REF."),
        "tail": Place("tailing", "Follow a thread that another process writes."),
        "mark": Place("marking", "Name a checkpoint: THREAD@NAME is a REF then."),
        "marks": Place("marking", "List bookmarks, oldest first."),
        "pick": Place("picking", "Choose a checkpoint on screen and print its REF."),
        "runs": Place("inbox", "Runs of the embedded executor, newest first."),
        "effects": Place("effects", "What runs asked of the world, called or from the record."),
        "approvals": Place("inbox", "Questions that wait for a person, oldest first."),
        "inbox": Place("deciding", "Everything that waits for a person: questions, runs on hold."),
    },
    "Write": {
        "fork": Place("writing", "Start a new thread at a checkpoint, changed or not."),
        "edit": Place("writing", "Append a changed copy in the thread itself, as its head."),
        "undo": Place("undoing", "Take back our last fork or edit on which nothing ran."),
        "answer": Place("inbox", "Record an answer; running stays with resume."),
        "approve": Place("inbox", "Record a yes; running stays with resume."),
        "reject": Place("inbox", "Record a no; running stays with resume."),
        "resolve": Place("deciding", "Decide about a run that is held or has failed."),
    },
    "Run": {
        "run": Place("running", "Start a thread, or one per line of a file."),
        "resume": Place("running", "Go on at a head."),
        "replay": Place("running", "Run again from a checkpoint: by the record, or live."),
        "pause": Place("inbox", "Ask a thread's run to stop after its current step."),
        "cancel": Place("inbox", "Ask a thread's run to end; only a fork goes on then."),
        "break": Place("breaking", "Set, list and clear breakpoints, where runs stop."),
        "retry": Place("deciding", "Let a failed, paused or crashed run go on."),
        "recover": Place("recovering", "Go on with runs that nobody works on any more."),
        "worker": Place("recovering", "Run what was answered, retried or decided, until Ctrl-C."),
    },
    "Store": {
        "export": Place("moving", "Write a thread as JSON lines, or its graph."),
        "import": Place("moving", "Take the threads of an export into a store of ours."),
        "serve": Place("serving", "Show the interface in a browser on this machine."),
        "protect": Place("deciding", "Keep a thread from being cleaned up, whatever its age."),
        "stats": Place("figuring", "Figures about runs; or of any history: sizes, times, cost."),
        "gc": Place("pruning", "Tell what could be freed and what must stay."),
        "mcp": Place("serving", "Let an agent look into a store, by MCP over stdio."),
        "doctor": Place("doctor", "Check the terminal, the installation and a store."),
        "demo": Place("trying", "Open a small example: one native store, one of LangGraph's."),
    },
}


def names() -> list[str]:
    """Every command, in the order of the help."""
    return [name for section in SECTIONS.values() for name in section]


def load(name: str) -> click.Command | None:
    """The command of that name, its module imported now; None where there is none."""
    for section in SECTIONS.values():
        if name in section:
            attribute = f"{name}_" if keyword.iskeyword(name) else name
            command: click.Command = getattr(importlib.import_module(f"tt_debug.cli.{section[name].module}"), attribute)
            return command
    return None
