"""The one table of what a user can do: bindings, palette, key bar, help and the README's keys are made from it.

Owns names, keys and words. What an action does is the method ``act_<id>`` of a screen, which also says when it cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from textual.binding import Binding, BindingType


class Safety(StrEnum):
    """What an action may do: look (no write), note (our own files), write (append to the store), execute (run code)."""

    LOOK = "look"
    NOTE = "note"
    WRITE = "write"
    EXECUTE = "execute"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a user can do. ``keys`` are Textual's names, the first one is shown.

    ``where`` are screens ("home", "thread", "approvals", "stores", "help"), "everywhere", or "rows" (the focused list).
    ``hint`` is the word in the key bar; neighbours with the same hint are shown together (``,. step``). ``rank`` is
    its claim to a place there, 0 for none. ``cli`` is the same thing as a command line, empty where there is none.
    """

    id: str
    title: str
    keys: tuple[str, ...]
    help: str
    where: tuple[str, ...]
    safety: Safety = Safety.LOOK
    cli: str = ""
    hint: str = ""
    rank: int = 0

    @property
    def method(self) -> str:
        """The screen's method that does it."""
        return "act_" + self.id.replace(".", "_")


EVERYWHERE: Final = "everywhere"
ROWS: Final = "rows"

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
    # --- thread
    Action(
        "nav.back",
        "One step back",
        ("comma",),
        "The checkpoint before, on the current line; from any panel.",
        ("thread",),
        cli="tt-debug show STORE THREAD@~1",
        hint="step",
        rank=85,
    ),
    Action(
        "nav.fwd",
        "One step forward",
        ("full_stop",),
        "The next checkpoint on the current line; from any panel.",
        ("thread",),
        hint="step",
        rank=85,
    ),
    Action(
        "nav.event_back",
        "Previous event",
        ("less_than_sign", "shift+left"),
        "The event before: an error, a wait, a fork, an edit.",
        ("thread",),
        hint="event",
        rank=45,
    ),
    Action(
        "nav.event_fwd",
        "Next event",
        ("greater_than_sign", "shift+right"),
        "The next event: an error, a wait, a fork, an edit.",
        ("thread",),
        hint="event",
        rank=45,
    ),
    Action(
        "nav.head",
        "To the head",
        ("0",),
        "The head of the current line; on a fork's last step it becomes the line.",
        ("thread",),
        cli="tt-debug show STORE THREAD@head",
    ),
    Action(
        "search.open",
        "Search",
        ("slash",),
        "Search steps, nodes and ids, or the panel that has the focus.",
        ("thread",),
        hint="search",
        rank=70,
    ),
    Action("search.next", "Next hit", ("n",), "The next hit of the search.", ("thread",)),
    Action("search.back", "Previous hit", ("N",), "The hit before.", ("thread",)),
    Action(
        "mark.a",
        "Pin A here",
        ("space",),
        "Compare everything with this checkpoint; again: unpin.",
        ("thread",),
        hint="pin A",
        rank=40,
    ),
    Action(
        "diff.open",
        "Show the diff",
        ("d",),
        "What this step changed, or what changed since the pinned A.",
        ("thread",),
        cli="tt-debug diff STORE REF",
        hint="diff",
        rank=75,
    ),
    Action("diff.swap", "Swap the sides", ("percent_sign",), "Show the diff the other way round.", ("thread",)),
    Action(
        "edit",
        "Edit and fork…",
        ("e",),
        "Change a value of this state; the change becomes a fork.",
        ("thread",),
        Safety.WRITE,
        "tt-debug fork STORE REF --set PATH=JSON",
        "edit",
        74,
    ),
    Action(
        "edit.ext",
        "Edit in $EDITOR…",
        ("E",),
        "Change a value in your own editor; a form shows what would change before it is stored.",
        ("thread",),
        Safety.WRITE,
        "tt-debug fork STORE REF --set PATH=JSON",
    ),
    Action(
        "fork",
        "Fork here…",
        ("f",),
        "A new thread from this checkpoint.",
        ("thread",),
        Safety.WRITE,
        "tt-debug fork STORE REF --to THREAD",
        "fork",
        73,
    ),
    Action(
        "run.continue",
        "Continue…",
        ("c",),
        "Resume this line from its head. Lists what will run and asks.",
        ("thread",),
        Safety.EXECUTE,
        "tt-debug resume STORE REF",
        "run",
        72,
    ),
    Action(
        "run.step",
        "Run one step…",
        ("s",),
        "Run exactly one step from the head. Asks first.",
        ("thread",),
        Safety.EXECUTE,
        "tt-debug resume STORE REF --step",
        "run 1",
        35,
    ),
    Action(
        "run.replay",
        "Run again from here…",
        ("R",),
        "Run again from this checkpoint on a new thread. Asks first.",
        ("thread",),
        Safety.EXECUTE,
        "tt-debug replay STORE REF --mode live",
        "rerun",
        30,
    ),
    Action(
        "run.pause",
        "Pause the run",
        ("p",),
        "Ask the active run to stop after the current step.",
        ("thread",),
        Safety.EXECUTE,
        "tt-debug pause STORE THREAD",
    ),
    Action(
        "run.cancel",
        "Cancel the run…",
        ("K",),
        "Ask the active run to end. Asks first.",
        ("thread",),
        Safety.EXECUTE,
        "tt-debug cancel STORE THREAD",
    ),
    Action("follow", "Follow the run", ("F",), "Keep the cursor on the newest checkpoint.", ("thread",)),
    Action(
        "row.fold",
        "Fold, or to the parent",
        ("h", "left"),
        "Fold the branch or value, or go to its parent.",
        ("thread",),
    ),
    Action("row.unfold", "Unfold", ("l", "right"), "Unfold the branch or value.", ("thread",)),
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
        ("1", "2", "3", "4", "5", "6", "7"),
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
    Action("copy", "Copy", ("y",), "Copy what the cursor is on: a value, a message, a checkpoint's id.", ("thread",)),
    Action("copy.cli", "Copy as a command", ("Y",), "Copy the command line that shows the same.", (EVERYWHERE,)),
    Action("threads", "Go to a thread", ("t",), "Pick a thread by name.", ("home", "thread", "approvals")),
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

_SHOWN: Final = {
    "comma": ",",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "at": "@",
    "percent_sign": "%",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "enter": "⏎",
    "escape": "Esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "f1": "F1",
}


def shown_key(key: str, *, ascii_only: bool = False) -> str:
    """A key as people write it: ``,``, ``^p``, ``⏎``."""
    *modifiers, name = key.split("+")
    text = _SHOWN.get(name, name)
    if ascii_only:
        text = {"⏎": "Enter", "↑": "Up", "↓": "Down", "←": "Left", "→": "Right"}.get(text, text)
    for modifier in reversed(modifiers):
        text = f"^{text}" if modifier == "ctrl" else f"{modifier}+{text}"
    return text


def for_screen(where: str) -> tuple[Action, ...]:
    """The actions of a screen and those of every screen, in the table's order; "rows" gives the list's own."""
    if where == ROWS:
        return tuple(action for action in ACTIONS if ROWS in action.where)
    return tuple(action for action in ACTIONS if where in action.where or EVERYWHERE in action.where)


def find(action_id: str) -> Action:
    """The action of that id; KeyError when there is none."""
    for action in ACTIONS:
        if action.id == action_id:
            return action
    raise KeyError(action_id)


def bindings(where: str) -> list[BindingType]:
    """Textual bindings for a screen class, or with "rows" for the list's base class."""
    return [
        Binding(",".join(keys), verb, action.title, show=action.rank > 0, id=name, tooltip=action.help)
        for action in for_screen(where)
        for keys, verb, name in _verbs(action)
    ]


def _verbs(action: Action) -> Iterable[tuple[tuple[str, ...], str, str]]:
    """Keys, Textual action and binding id. The panel keys differ in what they do, so each is a binding of its own."""
    if action.id == "pane.focus":
        return tuple(((key,), f"pane({key})", f"pane.{key}") for key in action.keys)
    if ROWS in action.where:
        return ((action.keys, f"row('{action.id.removeprefix('row.')}')", action.id),)
    return ((action.keys, f"act('{action.id}')", action.id),)


@dataclass(frozen=True, slots=True)
class KeyHint:
    """One entry of the key bar. ``action`` is what a click does; a disabled one is shown dimmed and answers why."""

    keys: str
    label: str
    rank: int
    action: str
    enabled: bool = True


def key_hints(where: str, disabled: Iterable[str] = (), *, ascii_only: bool = False) -> tuple[KeyHint, ...]:
    """The key bar of a screen, most of it in table order; neighbours with one label share an entry."""
    refused = frozenset(disabled)
    hints: list[KeyHint] = []
    lists: Sequence[Action] = for_screen(ROWS) if where != "help" else ()
    for action in (*lists, *for_screen(where)):
        if not action.rank:
            continue
        key = shown_key(action.keys[0], ascii_only=ascii_only)
        if hints and hints[-1].label == action.hint:
            last = hints[-1]
            hints[-1] = KeyHint(last.keys + key, last.label, last.rank, last.action, last.enabled)
        else:
            hints.append(KeyHint(key, action.hint, action.rank, action.id, action.id not in refused))
    return tuple(hints)
