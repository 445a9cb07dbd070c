"""A run that nobody works on, or that failed, as a row and as details: the evidence, and what can be done. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stores.effects import HOLDS
from stores.model import Status
from stores.runs import Approval
from tt_debug.engine.recovery import RecoveryPlan
from tt_debug.session.answers import decisions
from tt_debug.text import counted, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.pieces import Line, Piece, wrap

_OF_A_RUN: Final = {
    "retry": "let it go on from its head",
    "cancel": "end it; only a fork goes on then",
    "dismiss": "close this, and leave the run as it is",
}
_OF_AN_EFFECT: Final = {
    "done": "it was done; you say what came of it",
    "retry": "call it again, under the same key",
    "skip": "leave it out: the node gets null",
    "new-key": "call it again, under another key",
    "new": "call it, under a key of its own",
    "reuse": "give the result that is on record",
}
_OF_A_STEP: Final = {
    "retry": "run the node again",
    "skip": "go on behind it",
    "fail": "end the run as failed",
}


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
            lines.append((Piece("before  ", "muted"), Piece(f"recovered {counted(plan.run.recoveries, 'time')}")))
    if case is not None:
        said = str(case.prompt)
        lines += [(), *(wrap((Piece(safe_text(said)),), width) if said not in found.evidence else ())]
        lines += wrap((Piece(f"{keys[1]} decides: {', '.join(decisions(case)) or 'answer it'}", "muted"),), width)
    elif found.can_be_run:
        lines += [(), *wrap((Piece(f"{keys[0]} lists what will run, and asks. Nothing runs before.", "muted"),), width)]
    return lines


def meaning(case: Approval, word: str) -> str:
    """What comes of deciding the case so."""
    words = _OF_AN_EFFECT if case.kind in HOLDS else _OF_A_STEP if case.kind == "question" else _OF_A_RUN
    return words.get(word, "")
