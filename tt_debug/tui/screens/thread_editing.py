"""Forking and editing from the Thread screen, by the form or by $EDITOR; copying what is on screen.

Owns which value is meant and what follows a fork; the form checks, the session writes.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Final

from textual import on
from textual.app import SuspendNotSupported
from textual.message import Message

from stores.errors import NotFound
from stores.model import Capability, Diff, Header, Path, Ref, Value
from stores.paths import format_path, get_path
from tt_debug.errors import RefNotFound, UsageError
from tt_debug.session.losses import losses_at
from tt_debug.session.session import Session
from tt_debug.tui.copying import Copyable, kept_in_file, of_value, report
from tt_debug.tui.dialogs.base import Choice
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.draft import EDITABLE, EditOutcome, EditTarget
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.screens.thread_updating import ThreadUpdating
from tt_debug.tui.widgets.diff_view import DiffView
from tt_debug.tui.widgets.messages_view import MessagesView
from tt_debug.tui.widgets.piece_view import PieceView
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.state_view import StateView

LINE: Final = 4000
"""Cells of a line that is copied."""
Suspend = Callable[[], AbstractContextManager[None]]

KEPT_IN_VIEW: Final = 12
"""A line that was forked from stays unfolded when it has at most so many steps after the fork."""


class Forked(Message):
    """A fork or edit is stored; ``run`` when it is to be run now."""

    def __init__(self, base: Ref, outcome: EditOutcome, header: Header) -> None:
        super().__init__()
        self.base = base
        self.outcome = outcome
        self.header = header


class ThreadEditing(ThreadUpdating):
    """e, E, f, y, Y."""

    _written: tuple[Ref, EditOutcome]

    # --- the form

    def act_edit(self) -> None:
        """Edit the value under the cursor, or the whole state."""
        target = self._target()
        if target is not None:
            self._open_form(target)

    def act_fork(self) -> None:
        """Fork here without an edit."""
        header = self.header()
        if header is not None:
            self._open_form(EditTarget(header.ref, self._where(header), {}, (), header.next, values=False))

    def _target(self) -> EditTarget | None:
        """What is to be edited, with its value."""
        header = self.header()
        if header is None or self.details is None or self.details.ref != header.ref:
            self.say("this checkpoint is still being read")
            return None
        return self.target_at(header, dict(self.details.state), self._path())

    def target_at(self, header: Header, state: dict[str, Value], path: Path) -> EditTarget:
        """The value at ``path`` of a checkpoint's state as what is to be edited; the whole state where it has none."""
        try:
            value: Value = get_path(state, path) if path else state
        except LookupError:
            path, value = (), state
        where, hiding = self._where(header), self.tt.redaction
        target = EditTarget(header.ref, where, value, path, header.next, state=state, hiding=hiding)
        has_graph = self.tt.opening.graph is not None and self.session.info.kind == "langgraph" and not header.ref.ns
        return replace(target, is_head=self._is_head(header.ref), has_graph=has_graph)

    def _is_head(self, ref: Ref) -> bool:
        children = self.view.children(ref) if self.view is not None else ()
        return not any((child.thread, child.ns) == (ref.thread, ref.ns) for child in children)

    def _path(self) -> Path:
        """The path under the cursor of a panel that shows the state; () elsewhere."""
        panel = self.panel()
        if panel.id == "state" and isinstance(panel, StateView):
            node = panel.current()
            return node.path if node is not None and node.start < 0 else ()
        if isinstance(panel, DiffView):
            row = panel.current()
            return row.path if row is not None else ()
        if isinstance(panel, MessagesView):
            return panel.current() or ()
        return ()

    def _open_form(self, target: EditTarget) -> None:
        """Open it at once: a key typed while it is on its way would do something here."""
        try:
            if target.values and target.text is None and len(target.draft().text) > EDITABLE:
                key = self.tt.key_of("edit.ext")
                self.say(f"this value is too large for a form: {key} opens it in $EDITOR", severity="warning")
                return
            suggest = partial(self.session.free_name, target.ref.thread)
            lost = partial(left_behind, self.session, target.ref)
            effects = partial(has_effects, self.session, target.ref)
            form = EditDialog(target, partial(check, self.session, target.ref), suggest, lost, effects)
        except UsageError as error:
            self.say(f"{error}; {error.hint}", severity="warning")
            return
        self.app.push_screen(form, partial(self.write, target.ref))

    def write(self, base: Ref, outcome: EditOutcome | None) -> None:
        """Store a fork or edit of ``base``; None for nothing."""
        if outcome is None:
            return
        self._written = base, outcome
        if outcome.as_node:
            self.plan_update(base, outcome, partial(Forked, base, outcome))
        else:
            work = partial(store, self.session, base, outcome)
            self.tt.loader.write(self, "fork", work, partial(Forked, base, outcome))

    def refused(self, event: Failed) -> None:
        """What was written in the form is not lost when the thread has moved on, or its name is taken meanwhile."""
        choices = (Choice("Fork there instead", "fork", "f", "primary"), Choice("Read again", "read", "r"))
        lines = [line for line in (event.text, event.hint) if line]

        def decided(word: str | None) -> None:
            base, outcome = self._written
            if word == "fork":
                action = "run" if outcome.action.endswith("run") else "fork"
                self.write(base, replace(outcome, action=action, thread=""))
            elif word == "read":
                self.act_refresh()

        self.app.push_screen(NoticeDialog("The store has moved on", lines, choices), decided)

    @on(Forked)
    def _forked(self, event: Forked) -> None:
        header, base = event.header, event.base
        after = self.line[self.places[base] + 1 :] if base in self.places else ()
        if 0 < len(after) <= KEPT_IN_VIEW:
            self.unfolded |= {after[0]}
        self.pin_for_fork(base)
        self.read(select=header.ref, trunk=header.ref.thread)
        in_place = header.ref.thread == base.thread
        words = f"edited {base.thread}" if in_place else f"forked {base.thread} as {header.ref.thread}"
        command = fork_command(self.store_word(), base, event.outcome)
        self.tt.note_done(words, command, made=(self.store, header.ref))
        self.say(
            f"{words}: the cursor is on the new checkpoint" + ("" if in_place else f"; {base.thread} is untouched")
        )
        self.tt.tour_saw("forked")
        if event.outcome.runs:
            self.run_from(header.ref)

    def pin_for_fork(self, base: Ref) -> None:
        """The diff of a fork is against its base, which is its parent: a pin from before would hide it."""
        if self.pin is not None and self.pin != base:
            self.pin = None
            self.graph.pin_at(None)

    def run_from(self, ref: Ref) -> None:
        """Ask to resume at ``ref``; the running part does it."""
        raise NotImplementedError

    # --- $EDITOR

    def act_edit_ext(self) -> None:
        """Edit in $VISUAL or $EDITOR; the form shows the result before anything is stored."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            key = self.tt.key_of("edit")
            self.say(f"neither $VISUAL nor $EDITOR is set; {key} edits here", severity="warning")
            return
        target = self._target()
        if target is None:
            return
        try:
            text = edited(editor, target.draft().text, self.app.suspend)
        except SuspendNotSupported:
            key = self.tt.key_of("edit")
            self.say(f"this terminal cannot be left for an editor; {key} edits here", severity="warning")
        except (OSError, UsageError) as error:
            self.say(f"{editor}: {error}", severity="error")
        else:
            self._open_form(replace(target, text=text))

    # --- copying

    def copyables(self) -> list[Copyable]:
        """What the cursor is on, as a value, a message, JSON, a path; the row as it is shown; the checkpoint's id."""
        panel, selected = self.panel(), self.selected
        found: list[Copyable] = []
        failure = self.failures.get(str(panel.id)) if panel.row_count == 0 else None
        if failure is not None:
            found.append(Copyable("r", "report", lambda: report(self._place(selected), failure)))
        if selected is None:
            return [*found, Copyable("t", "thread", lambda: self.thread)]
        if self.details is not None and self.details.ref == selected:
            found += self._value_copies(panel)
        if isinstance(panel, PieceView) and panel is not self.graph and panel.row_count:
            row = panel.cursor
            found.append(Copyable("l", "this line", lambda: text_of(panel.piece_line(row, LINE)).strip()))
        found.append(Copyable("i", "checkpoint id", lambda: selected.id))
        found.append(Copyable("a", "address", lambda: f"{selected.thread}@{selected.id}"))
        return found

    def _value_copies(self, panel: RowView) -> list[Copyable]:
        details, path = self.details, self._path()
        if details is None or not (path or panel.id in ("state", "graph")):
            return []
        state = dict(details.checkpoint.state)
        try:
            return of_value(get_path(state, path) if path else state, path)
        except LookupError:
            # A removed value: the diff has it, the state no longer.
            return [Copyable("p", "path", lambda: format_path(path))]

    def _place(self, ref: Ref | None) -> dict[str, str]:
        info = self.session.info
        place = {"store": f"{info.kind} {info.url}", "thread": self.thread if ref is None else ref.thread}
        if ref is not None:
            place |= {"checkpoint": ref.id}
        return {**place, "namespace": ref.ns} if ref is not None and ref.ns else place

    def store_word(self) -> str:
        """The store as one word of a command line, without a password."""
        info = self.session.info
        return shlex.quote(info.path or info.url)

    def command_line(self) -> str:
        """The command that prints what the panel in focus shows."""
        if self.selected is None:
            return ""
        ref = shlex.quote(f"{self.selected.thread}@{self.selected.id}")
        panel, path = self.panel(), self._path()
        at = f" --path {shlex.quote(format_path(path))}" if path else ""
        if panel.id == "graph":
            return f"tt-debug log {self.store_word()} {shlex.quote(self.selected.thread)} --graph --all"
        if panel.id == "diff":
            other = self.details.base if self.details is not None and self.pin is not None else None
            sides = [shlex.quote(f"{other.thread}@{other.id}"), ref] if other is not None else [ref]
            if self.swapped:
                sides.reverse()
            return f"tt-debug diff {self.store_word()} {' '.join(sides)}"
        return f"tt-debug show {self.store_word()} {ref}{at}"


def check(session: Session, ref: Ref, changes: Diff, name: str | None) -> None:
    """Raises when ``ref`` would not take the changes, or a new thread cannot have that name."""
    session.preview(ref, changes)
    if name is None:
        return
    if Capability.NAMES_FORKS in session.info.capabilities:
        if name:
            raise UsageError("this store names new threads itself", hint="leave the name empty")
        return
    if not name:
        raise UsageError("the new thread needs a name")
    try:
        session.open_thread(name)
    except (NotFound, RefNotFound):
        return
    raise UsageError(f"there is a thread called {name} already", hint="choose another name")


def store(session: Session, base: Ref, outcome: EditOutcome) -> Header:
    """Write the fork or edit."""
    if outcome.in_place:
        return session.edit(base, outcome.changes)
    keeps = outcome.keep_results and bool(outcome.changes)
    return session.fork(
        base, outcome.thread or None, outcome.changes,
        keep_results=keeps, adopt=outcome.adopt, fresh_effects=outcome.fresh_effects,
    )  # fmt: skip


def has_effects(session: Session, ref: Ref) -> bool:
    """Whether runs on the checkpoint's thread have effects on record, which a fork is given."""
    return bool(session.executor.effects(ref.thread))


def left_behind(session: Session, ref: Ref) -> tuple[str, ...]:
    """What an edit of the checkpoint would leave behind, one sentence a line."""
    return losses_at(session, ref).lines()


def fork_command(store_word: str, base: Ref, outcome: EditOutcome) -> str:
    """The same as a command line, without the values."""
    ref = shlex.quote(f"{base.thread}@{base.id}")
    sets = "".join(f" --set {shlex.quote(format_path(change.path))}=…" for change in outcome.changes[:3])
    if outcome.as_node:
        sets += f" --as-node {shlex.quote(outcome.as_node)} --graph …{' --by-reducer' if outcome.by_reducer else ''}"
    if outcome.in_place:
        return f"tt-debug edit {store_word} {ref}{sets}"
    sets += " --keep-results" if outcome.keep_results else ""
    sets += " --fresh-effects" if outcome.fresh_effects else ""
    name = f" --to {shlex.quote(outcome.thread)}" if outcome.thread else ""
    adopt = f" --adopt {shlex.quote(str(outcome.adopt))}" if outcome.adopt is not None else ""
    return f"tt-debug fork {store_word} {ref}{name}{sets}{adopt}"


def edited(editor: str, text: str, suspend: Suspend) -> str:
    """The text after the user's editor; raises OSError when that cannot be started or ends with an error."""
    name = kept_in_file(text)
    try:
        code, failure = 0, None
        with suspend():
            try:
                code = subprocess.call([*shlex.split(editor), name])
            except (OSError, ValueError) as error:
                # What leaves the block would leave the terminal without its screen.
                failure = error
        if failure is not None:
            raise OSError(str(failure)) from failure
        if code:
            raise OSError(f"ended with exit code {code}")
        return FilePath(name).read_text(encoding="utf-8", errors="replace")
    finally:
        FilePath(name).unlink(missing_ok=True)
