"""Runs that nobody works on, that are held or have failed: the evidence of each, and what can be done about it.

Owns deciding; going on is asked about and done on the Thread screen.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from stores.errors import Unsupported
from stores.model import Header, Ref
from stores.runs import Approval
from tt_debug.session.answers import Answer, decisions, verdict
from tt_debug.text import counted
from tt_debug.tui.actions import Action, bindings
from tt_debug.tui.copying import Copyable
from tt_debug.tui.dialogs.answer import AnswerDialog
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows.recovery import Found, found_details, found_line, meaning
from tt_debug.tui.screens.approvals import answer_command, os_user
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

if TYPE_CHECKING:
    from tt_debug.session.session import Session
    from tt_debug.tui.opening import OpenStore


class RecoveryRead(Message):
    """What was found in a store."""

    def __init__(self, store: int, found: tuple[Found, ...]) -> None:
        super().__init__()
        self.store = store
        self.found = found


class SoundRead(Message):
    """The checkpoints from which the thread of a held run can be forked."""

    def __init__(self, found: Found, headers: tuple[Header, ...]) -> None:
        super().__init__()
        self.found = found
        self.headers = headers


class Decided(Message):
    """Something was done about a run, in words; ``command`` is the same as a command line."""

    def __init__(self, words: str, command: str) -> None:
        super().__init__()
        self.words = words
        self.command = command


def read_store(number: int, session: Session) -> tuple[Found, ...]:
    """Plans first, each with its case; then the failed runs that somebody has to see to."""
    if not session.executor.has_runs:
        return ()  # a foreign store's questions alone are the inbox's, and take long to find
    try:
        plans, cases = session.operations.plans(), session.operations.inbox()
    except Unsupported:
        return ()
    by_id = {case.id: case for case in cases}
    found = [Found(number, plan, by_id.get(plan.case or "")) for plan in plans]
    asked = {each.case.id for each in found if each.case is not None}
    others = (case for case in cases if case.kind in ("failed", "recovery_limit") and case.id not in asked)
    return (*found, *(Found(number, case=case) for case in others))


class RecoveryScreen(BaseScreen):
    """The list, and beside or below it all that is known of the one under the cursor."""

    WHERE = "recovery"
    PANES = ("#found", "#evidence")
    BINDINGS = bindings("recovery")

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[int, tuple[Found, ...]] = {}
        self._problems: dict[int, str] = {}

    def compose_body(self) -> ComposeResult:
        """The list and the evidence."""
        with Horizontal(id="recovery-body"):
            yield Panel(id="found")
            yield Panel(id="evidence", empty="nothing is wrong")

    def on_mount(self) -> None:
        """Titles, and the first reading."""
        self.query_one("#found").border_subtitle = "oldest first"
        self.query_one("#evidence").border_title = "2 Evidence"
        self.query_one("#found").focus()
        self._show()

    def on_screen_resume(self) -> None:
        """Something may have been run or decided elsewhere."""
        self.act_refresh()

    def act_refresh(self) -> None:
        """Look at every run again."""
        for number, store in enumerate(self.tt.stores):
            work = partial(read_store, number, store.session)
            self.tt.loader.call(self, f"runs of {store.label}", work, partial(RecoveryRead, number))

    @on(RecoveryRead)
    def _read(self, event: RecoveryRead) -> None:
        self._found[event.store] = event.found
        self._problems.pop(event.store, None)
        self._show()

    def show_failure(self, event: Failed) -> None:
        """A store whose runs cannot be read says so in the list's place."""
        for number, store in enumerate(self.tt.stores):
            if event.kind == f"runs of {store.label}":
                self._found.setdefault(number, ())
                self._problems[number] = f"{store.label}: {event.told}"
                self._show()
                return
        super().show_failure(event)

    def _show(self) -> None:
        panel = self.query_one("#found", Panel)
        rows = [each for number in sorted(self._found) for each in self._found[number]]
        cursor = panel.cursor
        read = len(self._found) == len(self.tt.stores)
        panel.empty = " ".join(self._problems.values()) or ("Every run is at work or at rest." if read else "reading…")
        panel.show([found_line(each, self.tt.glyphs) for each in rows], rows)
        panel.cursor = cursor
        panel.border_title = f"1 Recovery  {len(rows)}"
        self.show_title(Title(("recovery",), counted(len(rows), "run"), read_only=self.tt.read_only))
        self._show_evidence()
        self.refresh_keys()

    @property
    def current(self) -> Found | None:
        """What is under the cursor."""
        panel = self.query_one("#found", Panel)
        found = panel.key(panel.cursor) if panel.keys else None
        return found if isinstance(found, Found) else None

    @on(RowView.Highlighted, "#found")
    @on(Panel.Resized, "#evidence")
    def _show_evidence(self) -> None:
        panel, found = self.query_one("#evidence", Panel), self.current
        if found is None:
            panel.show(())
        else:
            keys = self.tt.key_of("recovery.run"), self.tt.key_of("recovery.decide")
            panel.show(found_details(found, self._store(found).label, keys, panel.text_width))
        self.refresh_keys()

    def _store(self, found: Found) -> OpenStore:
        return self.tt.stores[found.store]

    # --- doing something about it

    def stores_written(self) -> Sequence[OpenStore]:
        """The store of the run under the cursor."""
        return () if self.current is None else (self._store(self.current),)

    def refusal(self, action: Action) -> str | None:
        """Each of the two ways needs a run that it is for."""
        reason = super().refusal(action)
        if reason is not None or not action.id.startswith("recovery."):
            return reason
        found = self.current
        if found is None:
            return "nothing is to be recovered"
        if action.id == "recovery.cancel" and not found.can_be_run:
            return f"only a run that would go on can be cancelled so; {self.tt.key_of('recovery.decide')} decides"
        if action.id == "recovery.run" and (found.plan is None or found.plan.action == "wait"):
            return f"it has to be decided about first: {self.tt.key_of('recovery.decide')}"
        if action.id == "recovery.decide" and found.case is None:
            return f"there is nothing to decide: {self.tt.key_of('recovery.run')} does what is planned"
        return None

    def act_recovery_run(self) -> None:
        """Go on with it, where it is listed what will run; what runs nothing is asked about here."""
        found = self.current
        if found is None or found.plan is None:
            return
        if found.can_be_run:
            self.tt.show_thread(self._store(found), found.thread, then="run.continue")
            return
        lines = (f"found  {found.evidence}", f"then  {found.then}")
        dialog = ConfirmDialog(f"Recover {found.thread}", lines, "Do it", "No code is run by this.")
        self.app.push_screen(dialog, partial(self._agreed, found))

    def _agreed(self, found: Found, answer: str | None) -> None:
        if answer is None or found.plan is None:
            return
        store, plan = self._store(found), found.plan
        command = shlex.join(["tt-debug", "recover", store.url, "--thread", found.thread, "--yes"])
        work = partial(store.session.operations.act, plan, lambda event: None)
        self.tt.loader.write(self, "recover", work, lambda _: Decided(f"{found.thread}: {plan.then}", command))

    def act_recovery_cancel(self) -> None:
        """Ask, and end it."""
        found = self.current
        if found is not None:
            lines = (f"found  {found.evidence}", "then  the run is cancelled; only a fork goes on from it")
            dialog = ConfirmDialog(f"Cancel {found.thread} by force", lines, "Cancel it", "No code is run by this.")
            self.app.push_screen(dialog, partial(self._cancelled, found))

    def _cancelled(self, found: Found, answer: str | None) -> None:
        if answer is None:
            return
        store = self._store(found)
        command = shlex.join(["tt-debug", "cancel", store.url, found.thread, "--force"])
        work = partial(store.session.operations.cancel_by_force, found.thread)
        self.tt.loader.write(self, "cancel", work, lambda _: Decided(f"{found.thread}: cancelled", command))

    def act_recovery_decide(self) -> None:
        """Offer what the case may be decided as, and where the thread is sound enough to be forked."""
        found = self.current
        if found is not None:
            operations = self._store(found).session.operations
            work = partial(operations.sound, found.thread)
            self.tt.loader.call(self, "fork points", work, partial(SoundRead, found))

    @on(SoundRead)
    def _offer(self, event: SoundRead) -> None:
        found, choices = event.found, self._choices(event.found)
        rows = [(str(number), word, about) for number, (word, about) in enumerate(choices, start=1)]
        letters = "abc"
        sound = dict(zip(letters, event.headers, strict=False))
        for letter, header in sound.items():
            where = header.ref.id if header.step is None else f"step {header.step}"
            rows.append((letter, f"fork at {where}", "a new thread from what is sound"))
        self.app.push_screen(
            MenuDialog(f"Decide about {found.thread}", rows),
            partial(self._chosen, found, [word for word, _ in choices], {key: each.ref for key, each in sound.items()}),
        )

    def _choices(self, found: Found) -> list[tuple[str, str]]:
        return [(word, meaning(found.case, word)) for word in decisions(found.case)] if found.case is not None else []

    def _chosen(self, found: Found, words: list[str], sound: dict[str, Ref], key: str | None) -> None:
        if key is None or found.case is None:
            return
        if key in sound:
            self.tt.show_thread(self._store(found), found.thread, sound[key], then="fork")
            return
        word, case = words[int(key) - 1], found.case
        if word == "done":  # what came of it has to be said too
            self.app.push_screen(AnswerDialog(case, "reply"), partial(self._replied, found))
            return
        store = self._store(found)
        command = shlex.join(["tt-debug", "resolve", store.url, case.id, "--as", word])
        work = partial(decide, store.session, case, word)
        said = f"{found.thread}: {word}"
        self.tt.loader.write(self, "decide", work, lambda _: Decided(said, command))

    def _replied(self, found: Found, answer: Answer | None) -> None:
        if answer is None or found.case is None:
            return
        store, case = self._store(found), found.case
        work = partial(store.session.answer, case.id, answer.value, os_user(), thread=case.thread)
        command = answer_command(store.url, case, answer)

        def recorded(made: Header) -> Message:
            if answer.resume:
                self.tt.show_thread(store, case.thread, made.ref, then="run.continue")
            return Decided(f"{found.thread}: answered", command)

        self.tt.loader.write(self, "decide", work, recorded)

    @on(Decided)
    def _done(self, event: Decided) -> None:
        self.tt.note_done(event.words, event.command)
        self.say(event.words)
        self.act_refresh()

    # --- looking

    @on(RowView.Opened, "#found")
    def _opened(self) -> None:
        found = self.current
        if found is not None:
            self.tt.show_thread(self._store(found), found.thread)

    def copyables(self) -> list[Copyable]:
        """The thread, its run, and what was found."""
        found = self.current
        if found is None:
            return []
        run = found.plan.run.run_id if found.plan is not None else (found.case.run_id if found.case else None) or ""
        return [
            Copyable("t", "thread", lambda: found.thread),
            Copyable("i", "run", lambda: run),
            Copyable("m", "message", lambda: f"{found.evidence} → {found.then}"),
        ]

    def command_line(self) -> str:
        """The same on the command line."""
        return "\n".join(f"tt-debug recover {shlex.quote(store.url)}" for store in self.tt.stores)


def decide(session: Session, case: Approval, word: str) -> None:
    """Decide about a run's case, or answer the question that holds it. Raises as `Operations.decide` and `answer`."""
    if session.operations.is_case(case.id):
        session.operations.decide(case.id, word, os_user())
    else:
        session.answer(case.id, verdict(case, word), os_user(), thread=case.thread)
