"""Breakpoints from the Thread screen: set before the node of a row, listed, changed, taken away; marked in the graph.

Owns no rule of where a run stops: that is the executor's, whoever starts it.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on
from textual.message import Message

from stores.errors import StoreError, Unsupported
from stores.model import Capability, Ref
from stores.supervision import Breakpoint
from tt_debug.query import Failed, compile_expr, evaluate, holds
from tt_debug.session.operating import breakpoint_words
from tt_debug.tui.actions import Action
from tt_debug.tui.dialogs.breakpoint import BreakpointDialog, Wish
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.rows.graph import GraphFacts
from tt_debug.tui.screens.approvals import os_user
from tt_debug.tui.screens.thread_undoing import ThreadUndoing

if TYPE_CHECKING:
    from tt_debug.session.session import Session


_KEYS: Final = "123456789abcdefghijklm"
_NEW: Final = "n"


class BreakpointsRead(Message):
    """Those that count in this thread; ``said`` is what was done about one just now."""

    def __init__(self, breakpoints: tuple[Breakpoint, ...], said: str = "", command: str = "") -> None:
        super().__init__()
        self.breakpoints = breakpoints
        self.said = said
        self.command = command


def read_breakpoints(session: Session, thread: str) -> tuple[Breakpoint, ...]:
    """None where the store keeps no runs of ours."""
    try:
        return session.operations.breakpoints(thread)
    except Unsupported:
        return ()


class ThreadBreaking(ThreadUndoing):
    """``b`` and ``B``."""

    _breakpoints: tuple[Breakpoint, ...] = ()

    def on_screen_resume(self) -> None:
        """They may have been changed from elsewhere."""
        work = partial(read_breakpoints, self.session, self.thread)
        self.tt.loader.call(self, "breakpoints", work, BreakpointsRead)

    @on(BreakpointsRead)
    def _breakpoints_read(self, event: BreakpointsRead) -> None:
        self._breakpoints = event.breakpoints
        self.graph.show_facts(replace(self.graph.facts, stops=self._stops()))
        if event.said:
            self.tt.note_done(event.said, event.command)
            self.say(event.said)

    def graph_facts(self) -> GraphFacts:
        """With the nodes that runs stop at."""
        return replace(super().graph_facts(), stops=self._stops())

    def _stops(self) -> frozenset[str]:
        """Nodes that a run may stop at; an error or effect of any node marks none."""
        at_any = ("before", "after")
        return frozenset(each.node or "*" for each in self._breakpoints if each.node or each.place in at_any)

    def refusal(self, action: Action) -> str | None:
        """Only runs of our own executor stop at breakpoints."""
        reason = super().refusal(action)
        if reason is not None or action.id not in ("break.toggle", "break.list"):
            return reason
        if Capability.RUNS not in self.session.info.capabilities:
            return "breakpoints are kept in stores of ours: a graph's run is stopped by `resume --until NODE`"
        if action.id == "break.toggle" and self._node() is None:
            return "there is no node here to stop before"
        return None

    def _node(self) -> str | None:
        """The node of the row: the one that runs next where that is what the row shows, else the one that wrote it."""
        item, header = self.graph.item(self.graph.cursor), self.header()
        if item is None or header is None:
            return None
        nodes = header.next if item.kind == "next" else header.nodes
        return nodes[0] if nodes else None

    def act_break_toggle(self) -> None:
        """Set one before the node of the row, or take it away."""
        node = self._node()
        if node is None:
            return
        operations, url = self.session.operations, self.store.url

        def toggled() -> BreakpointsRead:
            # Asked here: the key may be pressed again before what it did was read.
            known = operations.breakpoints(self.thread)
            there = next((each for each in known if (each.place, each.node) == ("before", node)), None)
            if there is None:
                made = operations.set_breakpoint(Breakpoint("", "before", node, by=os_user()))
                said, option = f"breakpoint {made.id}: {breakpoint_words(made)}", f"--before {shlex.quote(node)}"
            else:
                operations.clear_breakpoint(there.id)
                said, option = f"breakpoint {there.id} is gone", f"--clear {there.id}"
            command = f"tt-debug break {shlex.quote(url)} {option}"
            return BreakpointsRead(operations.breakpoints(self.thread), said, command)

        self.tt.loader.write(self, "break", toggled, lambda message: message)

    def act_break_list(self) -> None:
        """List them; the one that is chosen can be changed or taken away. Without any, a new one."""
        if not self._breakpoints:
            self._open_breakpoint(self._new())
            return
        shown = {_NEW: self._new(), **dict(zip(_KEYS, self._breakpoints, strict=False))}
        rows = [(key, breakpoint_words(each), _about(each)) for key, each in shown.items() if key != _NEW]
        rows.append((_NEW, "new", "with a condition, after a node, on an error, before an effect"))

        def chosen(key: str | None) -> None:
            if key is not None:
                self._open_breakpoint(shown[key])

        self.app.push_screen(MenuDialog("Breakpoints: choose one to change it or take it away", rows), chosen)

    def _new(self) -> Breakpoint:
        return Breakpoint("", "before", self._node(), by=os_user())

    def _open_breakpoint(self, shown: Breakpoint) -> None:
        if self.tt.read_only:
            self.say("read-only: started with --read-only", severity="warning")
            return
        here = self.trunk.thread if self.trunk is not None else self.thread
        ask = partial(condition_here, self.session, self.selected)
        self.app.push_screen(BreakpointDialog(shown, here, ask), partial(self._wished, shown))

    def _wished(self, shown: Breakpoint, wish: Wish | None) -> None:
        if wish is not None and wish != Wish(shown):
            work = partial(_kept, self.session, self.thread, self.store.url, shown, wish.wanted)
            self.tt.loader.write(self, "break", work, lambda message: message)


def condition_here(session: Session, ref: Ref | None, condition: str) -> str:
    """What a condition says of a checkpoint. Raises UsageError for what is not JMESPath."""
    expression = compile_expr(condition)
    if ref is None:
        return ""
    try:
        answer = evaluate(expression, session.load(ref).state)
    except StoreError as error:
        return f"this checkpoint cannot be asked: {error}"
    if isinstance(answer, Failed):
        return f"it cannot be asked of this checkpoint, where a run would stop: {answer.reason}"
    return "it holds at this checkpoint" if holds(answer) else "it does not hold at this checkpoint"


def _kept(session: Session, thread: str, url: str, shown: Breakpoint, wanted: Breakpoint | None) -> BreakpointsRead:
    operations, words = session.operations, ["tt-debug", "break", url]
    if wanted is None:
        operations.clear_breakpoint(shown.id)
        said, words = f"breakpoint {shown.id} is gone", [*words, "--clear", shown.id]
    else:
        made = operations.replace_breakpoint(shown.id, wanted) if shown.id else operations.set_breakpoint(wanted)
        when = f" when {made.condition}" if made.condition else ""
        said, words = f"breakpoint {made.id}: {breakpoint_words(made)}{when}", [*words, *_options(made)]
    return BreakpointsRead(operations.breakpoints(thread), said, shlex.join(words))


def _options(made: Breakpoint) -> list[str]:
    """The same as words of the command line."""
    node, name = made.node or "*", made.name or "*"
    found = {"error": ["--on-error"], "effect": ["--before-effect", name]}.get(made.place, [f"--{made.place}", node])
    if made.place in ("error", "effect") and made.node:
        found += ["--node", made.node]
    found += ["--when", made.condition] if made.condition else []
    return found + (["--thread", made.thread] if made.thread else [])


def _about(each: Breakpoint) -> str:
    when = f"when {each.condition}" if each.condition else ""
    only = f"in {each.thread} only" if each.thread else ""
    hits = f"{each.hits} hit{'' if each.hits == 1 else 's'}"
    return "  ".join(part for part in (hits, when, only) if part)
