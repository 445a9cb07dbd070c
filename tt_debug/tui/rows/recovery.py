"""A run that nobody works on, or that failed, as a row and as details: the evidence, and what can be done. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from stores.model import Status
from stores.runs import Approval
from tt_debug.engine.recovery import RecoveryPlan
from tt_debug.session.answers import decisions
from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.pieces import Line, Piece, wrap


@dataclass(frozen=True, slots=True)
class Found:
    """What the screen lists: a plan of recovery, or the case of a run that failed; ``store`` is its number."""

    store: int
    plan: RecoveryPlan | None = None
    case: Approval | None = None

    @property
    def thread(self) -> str:
        """Whose run it is."""
        return self.plan.run.thread if self.plan is not None else self.case.thread if self.case is not None else ""

    @property
    def status(self) -> str:
        """As listings name it; a run that is to be recovered is crashed, whatever its row says."""
        if self.plan is None:
            return Status.FAILED
        return Status.HELD if self.plan.run.hold_reason else Status.CRASHED

    @property
    def evidence(self) -> str:
        """What was found."""
        if self.plan is not None:
            return self.plan.evidence
        return str(self.case.prompt) if self.case is not None else ""

    @property
    def then(self) -> str:
        """What would be done about it."""
        return self.plan.then if self.plan is not None else "wait for a decision"

    @property
    def can_be_run(self) -> bool:
        """Whether going on is what would be done."""
        return self.plan is not None and self.plan.action == "run"


def found_line(found: Found, glyphs: Glyphs = UNICODE) -> Line:
    """The thread, what is wrong with its run, and what would be done."""
    return (
        Piece(f"{status_glyph(found.status, glyphs)} ", status_ink(found.status)),
        Piece(f"{safe_text(found.thread):<20}  ", "strong"),
        Piece(f"{safe_text(found.then)}  ", "accent"),
        Piece(safe_text(found.evidence), "muted"),
    )


def found_details(found: Found, store: str, keys: tuple[str, str], width: int) -> list[Line]:
    """Everything known of it; ``keys`` are those that run it on and that decide about it."""
    lines: list[Line] = [
        (Piece(safe_text(found.thread), "strong"), Piece(f" of {safe_text(store)}", "muted")),
        (),
        *wrap((Piece("found   ", "muted"), Piece(safe_text(found.evidence))), width),
        *wrap((Piece("then    ", "muted"), Piece(safe_text(found.then), "accent")), width),
    ]
    plan, case = found.plan, found.case
    if plan is not None:
        lines += [
            line for call in plan.calls for line in wrap((Piece("call    ", "muted"), Piece(safe_text(call))), width)
        ]
        if plan.run.recoveries:
            lines.append((Piece("before  ", "muted"), Piece(f"recovered {plan.run.recoveries} times")))
    if case is not None:
        said = str(case.prompt)
        lines += [(), *(wrap((Piece(safe_text(said)),), width) if said not in found.evidence else ())]
        lines += wrap((Piece(f"{keys[1]} decides: {', '.join(decisions(case)) or 'answer it'}", "muted"),), width)
    elif found.can_be_run:
        lines += [(), *wrap((Piece(f"{keys[0]} lists what will run, and asks. Nothing runs before.", "muted"),), width)]
    return lines
