"""What a panel shows and how it is read, in a few sentences: the beginning of the help, for the panel in focus.

Owns the words; keys stand in them as ``{id}`` of an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PANELS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("home", "threads"): (
        "Threads",
        "Every thread of the open stores, the newest write first. The sign and the word say how it stands; forks are "
        "the threads that left it. {row.open} opens one, {list.filter} narrows the list.",
    ),
    ("home", "messages"): ("Last messages", "The end of the conversation of the thread under the cursor."),
    ("home", "forks"): ("Forks", "What was forked from this thread, and where. {row.open} opens one."),
    ("home", "details"): ("Details", "What the store says of the thread under the cursor."),
    ("thread", "graph"): (
        "Graph",
        "Time runs down. A row is a checkpoint: its step, the node that made it, what it changed, how long that took, "
        "its size. Other lines are folded to one row: {row.unfold} opens one, {nav.head} goes to the head. "
        "{nav.back} and {nav.fwd} step along the line from any panel.",
    ),
    ("thread", "state"): (
        "State",
        "All values at the checkpoint under the cursor. + ~ - beside a key compare with the step before, or with A "
        "where it is pinned. {row.unfold} opens a value, {edit} changes it in a fork, {blame} tells who wrote it.",
    ),
    ("thread", "diff"): (
        "Diff",
        "What this step changed: + added, - removed, ~ changed. Messages are matched by their ids. With A pinned by "
        "{mark.a} it is everything between A and here; {diff.swap} changes the sides.",
    ),
    ("thread", "messages"): ("Messages", "The conversation as the state holds it, calls of tools with their results."),
    ("thread", "writes"): (
        "Writes",
        "What the tasks of the step that starts here wrote, asked or failed with, and what runs next.",
    ),
    ("thread", "meta"): ("Meta", "Ids, parents, times and the runtime's own values, as they are stored."),
    ("thread", "live"): ("Live", "What the run that was started here prints and does, as it comes."),
    ("thread", "effects"): (
        "Effects",
        "What nodes asked of the world outside on this line: called, or given from the record; under which key.",
    ),
    ("thread", "log"): ("Log", "How this checkpoint came about: each attempt at its node, with what it logged."),
    ("thread", "watches"): (
        "Watch",
        "Expressions with their value here, and over the whole line. {watch} adds one; it is kept with the thread.",
    ),
    ("thread", "timeline"): (
        "Timeline",
        "The line from left to right; the height of a cell is its longest step. Below it what happened: A, answers, "
        "failures, questions, edits, forks. {nav.event_back} and {nav.event_fwd} go from one to the next.",
    ),
    ("approvals", "inbox"): ("Inbox", "Every question that waits for an answer, the oldest first."),
    ("approvals", "request"): (
        "Request",
        "What is asked, and what happens on yes and on no. An answer is recorded; nothing runs until you resume.",
    ),
    ("recovery", "found"): (
        "Recovery",
        "Runs that nobody works on, are held, or have failed. {recovery.run} shows what would run, and asks.",
    ),
    ("recovery", "evidence"): ("Evidence", "How it is known that nobody works on it, and what would be done."),
    ("metrics", "nodes"): (
        "Nodes",
        "How often each node ran and failed; half of its runs took at most p50, of twenty all but one p95. Time that "
        "waited for a person is no run time. {row.open} lists the slowest steps, {metrics.order} sorts.",
    ),
    ("metrics", "sizes"): (
        "State size by key",
        "Bytes of each key in all checkpoints together, as JSON. Again: what an older checkpoint of the same family of "
        "threads holds too. Your store may keep such values once.",
    ),
    ("metrics", "room"): (
        "Could be freed",
        "Advice: what nothing needs any more, and why the rest must stay. Nothing in tt-debug deletes a checkpoint.",
    ),
    ("answers", "answers"): (
        "Answers",
        "What was found, as it comes. {row.open} goes to the checkpoint; the answers are then marked on its timeline.",
    ),
    ("answers", "answer-step"): (
        "What changed",
        "What the step of the answer under the cursor changed: all of it, not only what was asked about.",
    ),
    ("compare", "pairs"): (
        "Two lines",
        "The steps of A and B side by side, matched by node and visit: = alike, ~ other values, < > only on one side.",
    ),
    ("compare", "step"): ("What the step changed", "The same step on both sides, and what it made different."),
    ("marks", "marks"): ("Bookmarks", "Names that were given to checkpoints. {row.open} goes there."),
    ("log", "done"): ("Done", "What was done from here, each with the command that does the same."),
    ("stores", "choices"): ("Stores", "Files in this folder that hold checkpoints, langgraph.json's, and the demo."),
}
"""(screen, panel) → its title and what there is to know. Screens are those of the action table."""
