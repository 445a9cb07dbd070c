"""A run's events as lines of a log.

Owns the words for each kind of event; what happened stands in the event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from stores.model import Value
from tt_debug.engine.events import Event
from tt_debug.text import human_duration, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.message import flat
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.rows.values import value_line

TEXT = 2000


def event_line(event: Event, glyphs: Glyphs = UNICODE) -> Line:
    """One event on one line: the local time, its sign, what happened."""
    return (Piece(f"{_clock(event.at)} ", "muted"), *_words(event.kind, event.fields, glyphs))


def _clock(at: str) -> str:
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return "--:--:--"


def _words(kind: str, fields: Mapping[str, Value], glyphs: Glyphs) -> Line:
    node = safe_text(str(fields.get("node", "")))
    text = flat(str(fields.get("text", ""))[:TEXT], glyphs).rstrip()
    if kind == "run_started":
        return (Piece("  run started", "strong"),)
    if kind == "step_started":
        attempt = fields.get("attempt", 1)
        again = f"  attempt {attempt}" if isinstance(attempt, int) and attempt > 1 else ""
        return (Piece(f"{glyphs.running} ", "accent"), Piece(node, "strong"), Piece(f"  started{again}", "muted"))
    if kind == "step_finished":
        took = fields.get("duration_ms")
        shown = f"  {human_duration(took / 1000)}" if isinstance(took, (int, float)) else ""
        step = f"  step {fields['step']}" if isinstance(fields.get("step"), int) else ""
        return (Piece(f"{glyphs.done} ", "success"), Piece(node, "strong"), Piece(f"{shown}{step}", "muted"))
    if kind == "substep_finished":
        part = safe_text(str(fields.get("substep", "")))
        return (Piece(f"{glyphs.done} ", "success"), Piece(node, "strong"), Piece(f"  part {part}", "muted"))
    if kind == "step_failed":
        return (Piece(f"{glyphs.failed} ", "error"), Piece(node, "strong"), *_failure(fields, glyphs))
    if kind == "waiting":
        prompt = value_line(fields.get("prompt"), glyphs)
        return (Piece(f"{glyphs.waiting} ", "warning"), Piece(node, "strong"), Piece("  waits  ", "warning"), *prompt)
    if kind == "run_ended":
        return _ended(fields, glyphs)
    if kind == "log":
        return (Piece(f"  {node}  ", "muted"), Piece(text))
    if kind == "output":
        ink = "warning" if fields.get("stream") == "stderr" else "muted"
        return (Piece(f"{glyphs.line} ", ink), Piece(text))
    return (Piece(f"  {safe_text(kind)}", "muted"),)


def _failure(fields: Mapping[str, Value], glyphs: Glyphs) -> Line:
    retry = fields.get("retry_in")
    again = f"  again in {human_duration(float(retry))}" if isinstance(retry, (int, float)) else ""
    return (Piece("  " + flat(str(fields.get("error", ""))[:TEXT], glyphs), "error"), Piece(again, "warning"))


def _ended(fields: Mapping[str, Value], glyphs: Glyphs) -> Line:
    status = safe_text(str(fields.get("status", "")))
    error = fields.get("error")
    pieces = [Piece("  run ended: ", "strong"), Piece(status, "error" if error else "success")]
    if error:
        pieces.append(Piece("  " + flat(str(error)[:TEXT], glyphs), "error"))
    return tuple(pieces)
