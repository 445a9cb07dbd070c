"""The one table of what a user can do: bindings, palette, key bar, help and the README's keys are made from it.

Owns names, keys and words. What an action does is the method ``act_<id>`` of a screen, which also says when it cannot.
"""

from __future__ import annotations

from typing import Final

from tt_debug.tui.action import EVERYWHERE, ROWS, Action, Safety
from tt_debug.tui.thread_actions import THREAD_ACTIONS

ACTIONS: Final[tuple[Action, ...]] = (
    # --- the focused list
    Action("row.down", "Down", ("j", "down"), "One row down.", (ROWS,)),
    Action("row.up", "Up", ("k", "up"), "One row up.", (ROWS,)),
    Action("row.top", "First row", ("g", "home"), "To the first row.", (ROWS,)),
    Action("row.end", "Last row", ("G", "end"), "To the last row.", (ROWS,)),
    Action("row.page_down", "Page down", ("pagedown",), "One page down.", (ROWS,)),
    Action("row.page_up", "Page up", ("pageup",), "One page up.", (ROWS,)),
    Action("row.half_down", "Half a page down", ("ctrl+d",), "Half a page down.", (ROWS,)),
    Action("row.half_up", "Half a page up", ("ctrl+u",), "Half a page up.", (ROWS,)),
    Action(
        "row.open", "Open", ("enter",), "Open, unfold or go to what is under the cursor.", (ROWS,), hint="open", rank=90
    ),
    # --- home
    Action(
        "list.filter",
        "Filter",
        ("slash",),
        "Show only what has this text in its name; Esc shows all.",
        ("home", "help"),
        cli="tt-debug threads STORE --filter TEXT",
        hint="filter",
        rank=80,
    ),
    Action(
        "list.order",
        "Change the order",
        ("o",),
        "Sort by last write, by name, by steps, by status.",
        ("home",),
        hint="sort",
        rank=60,
    ),
    Action(
        "import",
        "Import…",
        ("I",),
        "Take the threads of an exported file into a store of ours. Asks for the file.",
        ("home",),
        Safety.WRITE,
        "tt-debug import STORE FILE",
    ),
    *THREAD_ACTIONS,
    # --- questions of the whole history
    Action(
        "find.when",
        "Find when…",
        ("x",),
        "When a condition held: on this line, or from the list of threads in every thread.",
        ("home", "thread"),
        cli="tt-debug find STORE REF EXPR",
        hint="find",
        rank=43,
    ),
    Action(
        "find.text",
        "Search every checkpoint…",
        ("ctrl+f",),
        "Where a text stands: in values, keys, errors, questions, metadata.",
        ("home", "thread"),
        cli="tt-debug grep STORE TEXT",
    ),
    # --- a long text
    Action("page.back", "Page before", ("comma",), "The page before.", ("pager",), hint="page", rank=80),
    Action("page.next", "Next page", ("full_stop",), "The next page.", ("pager",), hint="page", rank=80),
    # --- approvals
    Action(
        "answer.approve",
        "Approve…",
        ("A",),
        "Answer this question with yes.",
        ("approvals",),
        Safety.WRITE,
        "tt-debug approve STORE ID",
        "approve",
        95,
    ),
    Action(
        "answer.reject",
        "Reject…",
        ("X",),
        "Answer this question with no, and a reason.",
        ("approvals",),
        Safety.WRITE,
        "tt-debug reject STORE ID --reason TEXT",
        "reject",
        94,
    ),
    Action(
        "answer.reply",
        "Reply…",
        ("i",),
        "Answer with a value of your own, checked against the schema.",
        ("approvals",),
        Safety.WRITE,
        "tt-debug answer STORE ID JSON",
        "reply",
        93,
    ),
    # --- everywhere
    Action("order", "Branch or time order", ("o",), "Order the graph by branches or by time.", ("thread",)),
    Action(
        "pane.focus",
        "Go to a panel",
        ("1", "2", "3", "4", "5", "6", "7", "8", "9"),
        "The panel or tab of that number.",
        ("home", "thread", "approvals"),
    ),
    Action(
        "pane.zoom",
        "Zoom the panel",
        ("z",),
        "The panel in focus fills the screen; again, or Esc: back.",
        ("home", "thread"),
        hint="zoom",
        rank=20,
    ),
    Action("pane.next_tab", "Next tab", ("right_square_bracket", "ctrl+pagedown"), "The next tab.", ("thread",)),
    Action("pane.prev_tab", "Previous tab", ("left_square_bracket", "ctrl+pageup"), "The tab before.", ("thread",)),
    Action(
        "inbox",
        "Approvals",
        ("a",),
        "Every question that waits for an answer.",
        ("home", "thread"),
        cli="tt-debug approvals STORE",
        hint="approvals",
        rank=50,
    ),
    Action(
        "copy",
        "Copy…",
        ("y",),
        "Copy what the cursor is on: a value, its path, JSON, a message, an id, the report of a failure.",
        ("home", "thread", "approvals", "pager", "answers"),
    ),
    Action("copy.cli", "Copy as a command", ("Y",), "Copy the command line that shows the same.", (EVERYWHERE,)),
    Action("threads", "Go to a thread", ("t",), "Pick a thread by name.", ("home", "thread", "approvals")),
    Action(
        "secrets",
        "Show or hide secrets",
        ("S",),
        "Show what is kept under names of secrets, on every screen, until this is pressed again.",
        (EVERYWHERE,),
    ),
    Action("refresh", "Read again", ("r",), "Read again what this screen shows.", (EVERYWHERE,)),
    Action("log", "What was done", ("at",), "What the interface did, each with its command.", (EVERYWHERE,)),
    Action(
        "palette",
        "Commands",
        ("colon", "ctrl+p"),
        "Find any command, thread or step by typing.",
        (EVERYWHERE,),
        hint="commands",
        rank=10,
    ),
    Action("help", "Keys", ("question_mark", "f1"), "The keys of this screen.", (EVERYWHERE,)),
    Action(
        "back",
        "Back",
        ("q",),
        "Back to the screen before; from the first one, leave.",
        (EVERYWHERE,),
        hint="back",
        rank=15,
    ),
    Action("quit", "Quit", ("ctrl+q",), "Leave. A run of this screen is asked about first.", (EVERYWHERE,)),
)
