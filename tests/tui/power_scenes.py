"""More scenes that `test_snapshots` keeps pictures of: questions of the whole history, and what is taken back."""

from __future__ import annotations

from datetime import timedelta

from textual.widgets import Input

from stores.model import Change, Ref
from stores.supervision import Breakpoint
from tests.cli.samples import sample_session
from tests.tui.conftest import wait_for
from tests.tui.state_scenes import SCENES, SMALL, WIDE, Stage, scene
from tests.tui.thread_fakes import START
from tt_debug.session.journal import OwnWrite
from tt_debug.session.undoing import UndoPlan
from tt_debug.tui.dialogs.breakpoint import BreakpointDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.screens.answers import AnswersScreen
from tt_debug.tui.screens.comparing import CompareScreen
from tt_debug.tui.undoing import UndoPlanned

__all__ = ["SCENES", "Stage"]


@scene("watches", SMALL, WIDE)
async def watches(stage: Stage) -> None:
    """Two watches, one of them a column of the graph; where there is one column of panels they are a tab."""
    stage.session.watches.kept["trip-planner"] = ["plan.status", "length(messages)"]
    stage.session.watches.columns["trip-planner"] = "plan.status"
    screen = await stage.thread()
    await wait_for(stage.pilot, lambda: screen.expressions and not screen._left)
    screen.show_tab("watches")
    await stage.press("comma", "comma")


@scene("bookmarks", SMALL)
async def bookmarks(stage: Stage) -> None:
    """Named checkpoints of every thread."""
    session = stage.session
    for number, (ref, name, note) in enumerate(
        (("trip-planner@13", "before the rain", "京都 was still dry here"), ("cheap@12", "good", ""))
    ):
        made = session.marks.put(session.resolve(ref), name, note)
        session.marks.kept[made.ref] = made._replace(at=START + timedelta(minutes=number))
    await stage.thread()
    await stage.press("apostrophe")


@scene("answers-find", WIDE)
async def found(stage: Stage) -> None:
    """Where a value is what it is here, on a screen of its own."""
    screen = await stage.thread()
    await stage.press("2")
    screen.views.state.go_to(("plan", "status"))
    await stage.press("l")
    screen.views.state.go_to(("plan", "status"))
    await stage.press("asterisk")
    await ended(stage)


@scene("answers-text", SMALL)
async def grepped(stage: Stage) -> None:
    """Where a text stands in a thread."""
    await stage.thread()
    await stage.pilot.press("ctrl+f", *"ryokan", "enter")
    await ended(stage)


@scene("answers-who", SMALL)
async def blamed(stage: Stage) -> None:
    """Who wrote a value."""
    screen = await stage.thread()
    await stage.press("2")
    screen.views.state.go_to(("plan",))
    await stage.press("W")
    await ended(stage)


@scene("compare", SMALL, WIDE, made=sample_session)
async def compared(stage: Stage) -> None:
    """Where two lines part, and why."""
    stage.app.push_screen(CompareScreen(stage.app.stores[0], *map(stage.session.resolve, ("trip", "trip-eu"))))
    await stage.rest()


@scene("metrics", SMALL, WIDE, made=sample_session)
async def measured(stage: Stage) -> None:
    """Where time and bytes go, and what could be freed."""
    await stage.press("M")


@scene("turns", SMALL)
async def turned(stage: Stage) -> None:
    """What was said to the agent."""
    await stage.thread()
    await stage.press("T")
    await ended(stage)


async def ended(stage: Stage) -> None:
    """The question on top has all its answers."""
    await wait_for(stage.pilot, lambda: isinstance(stage.app.screen, AnswersScreen) and not stage.app.screen._asking)
    await stage.still()


def plan_of(stage: Stage, kind: str) -> UndoPlan:
    """What would take a write back."""
    ref, base = (stage.session.resolve(name) for name in ("cheap@12", "trip-planner@11"))
    before, made = (stage.session.load(each).header for each in (base, ref))
    write = OwnWrite(ref, "fork" if kind == "fork" else "edit", base, START)
    if kind == "fork":
        return UndoPlan(write, before, made, Ref("cheap", "", ref.id))
    changes = (Change("change", ("plan", "steps", 2), "food", "trains"), Change("remove", ("note",), "dry"))
    lost = ("1 open question (review): asked again, from the start of the node",)
    return UndoPlan(write, before, made, ref, changes, lost)


async def asked_to_undo(stage: Stage, kind: str) -> None:
    """The question before anything is taken back."""
    await stage.thread()
    stage.app.post_message(UndoPlanned(stage.app.stores[0], plan_of(stage, kind)))
    await wait_for(stage.pilot, lambda: isinstance(stage.app.screen, NoticeDialog))
    await stage.still()


@scene("undo-fork", SMALL)
async def undo_fork(stage: Stage) -> None:
    """What becomes of a fork."""
    await asked_to_undo(stage, "fork")


@scene("undo-edit", SMALL)
async def undo_edit(stage: Stage) -> None:
    """What becomes of an edit, and what that does not bring back."""
    await asked_to_undo(stage, "edit")


@scene("breakpoint", SMALL)
async def breakpoint_form(stage: Stage) -> None:
    """A breakpoint with a condition, and what that says here."""
    condition = "length(messages) > `20`"
    stage.session.breaks = [Breakpoint("b1", "effect", "book_hotel", "mail", condition, "trip-planner", hits=2)]
    await stage.thread()
    await stage.still()  # what lies behind a dialog is not drawn anew
    await stage.press("B")
    await stage.pilot.press("1")
    await wait_for(stage.pilot, lambda: isinstance(stage.app.screen, BreakpointDialog))
    stage.app.screen.query_one("#break-when", Input).value = condition.replace("20", "21")
    await stage.rest()
    await wait_for(stage.pilot, lambda: bool(str(stage.app.screen.query_one("#break-answer").render())))
    await stage.still()
