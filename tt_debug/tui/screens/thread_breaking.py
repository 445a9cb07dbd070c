"""Breakpoints from the Thread screen: set before the node of a row, listed, taken away; marked in the graph.

Owns no rule of where a run stops: that is the executor's, whoever starts it.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from stores.errors import Unsupported
from stores.supervision import Breakpoint
from tt_debug.session.operating import breakpoint_words
from tt_debug.tui.actions import Action
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.rows.graph import GraphFacts
from tt_debug.tui.screens.approvals import os_user
from tt_debug.tui.screens.thread_undoing import ThreadUndoing

if TYPE_CHECKING:
    from tt_debug.session.session import Session


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
        return frozenset(each.node or "*" for each in self._breakpoints if each.place in ("before", "after"))

    def refusal(self, action: Action) -> str | None:
        """Only runs of our own executor stop at breakpoints."""
        reason = super().refusal(action)
        if reason is None and action.id == "break.toggle" and self._node() is None:
            return "there is no node here to stop before"
        return reason

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
        there = next((each for each in self._breakpoints if (each.place, each.node) == ("before", node)), None)
        operations, url = self.session.operations, self.store.url

        def toggled() -> BreakpointsRead:
            if there is None:
                made = operations.set_breakpoint(Breakpoint("", "before", node, by=os_user()))
                said, option = f"breakpoint {made.id}: {breakpoint_words(made)}", f"--before {shlex.quote(node)}"
            else:
                operations.clear_breakpoint(there.id)
                said, option = f"breakpoint {there.id} is gone", f"--clear {there.id}"
            command = f"tt-debug break {shlex.quote(url)} {option}"
            return BreakpointsRead(operations.breakpoints(self.thread), said, command)

        self.tt.loader.call(self, "break", toggled, lambda message: message, patient=False)

    def act_break_list(self) -> None:
        """List them; the one that is chosen is taken away."""
        if not self._breakpoints:
            self.say(f"no breakpoint here; {self.tt.key_of('break.toggle')} sets one before the node of the row")
            return
        keys = "123456789abcdefghijklmnop"
        shown = dict(zip(keys, self._breakpoints, strict=False))
        rows = [(key, breakpoint_words(each), _about(each)) for key, each in shown.items()]
        self.app.push_screen(MenuDialog("Breakpoints: choose one to take it away", rows), partial(self._chosen, shown))

    def _chosen(self, shown: dict[str, Breakpoint], key: str | None) -> None:
        if key is None or self.tt.read_only:
            return
        each, operations = shown[key], self.session.operations

        def cleared() -> BreakpointsRead:
            operations.clear_breakpoint(each.id)
            command = f"tt-debug break {shlex.quote(self.store.url)} --clear {each.id}"
            return BreakpointsRead(operations.breakpoints(self.thread), f"breakpoint {each.id} is gone", command)

        self.tt.loader.call(self, "break", cleared, lambda message: message, patient=False)


def _about(each: Breakpoint) -> str:
    when = f"when {each.condition}" if each.condition else ""
    hits = f"{each.hits} hit{'' if each.hits == 1 else 's'}"
    return "  ".join(part for part in (hits, when) if part)
