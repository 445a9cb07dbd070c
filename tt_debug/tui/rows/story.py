"""How a state came about, line by line: steps, attempts and effects in order; and the effects alone, as a table.

Owns the words and the columns. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len

from stores.effects import EffectStatus, EffectUse
from stores.model import Header, Ref, Status, Value
from tt_debug.redaction import Redaction
from tt_debug.session.executor import Attempt, Chapter, Duplicate
from tt_debug.text import human_duration, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.message import flat
from tt_debug.tui.rows.pieces import Line, Piece, cells, hanging, pad, wrap
from tt_debug.tui.rows.values import value_line
from tt_debug.values import to_json

ERROR: Final = 500
"""Characters of an error that are shown on its line."""
BELOW: Final = Piece(" " * 9)
"""Before what belongs to the line above."""
_ENDED: Final = {
    "completed": Status.DONE,
    "running": Status.RUNNING,
    "failed": Status.FAILED,
    "waiting": Status.WAITING,
}
_BY_HAND: Final = {
    "input": "the input",
    "fork": "a fork",
    "edit": "an edit",
    "answer": "an answer",
    "migrate": "moved on",
}
_INKS: Final = {
    EffectStatus.DONE: "success",
    EffectStatus.FAILED: "error",
    EffectStatus.UNKNOWN: "warning",
    EffectStatus.CONFLICT: "warning",
    EffectStatus.INTENT: "warning",
}


@dataclass(frozen=True, slots=True)
class StoryRow:
    """One row: the checkpoint that it tells of, or the use of an effect, or neither. ``lead`` pieces stand before what
    came of it."""

    line: Line
    lead: int = 0
    ref: Ref | None = None
    use: EffectUse | None = None


def hidden_story(story: Iterable[Chapter], hiding: Redaction) -> tuple[Chapter, ...]:
    """The same with its secrets hidden: what effects were asked for, and what came of them."""

    def use(found: EffectUse) -> EffectUse:
        effect = found.effect
        shown = replace(effect, request=hiding.hide(effect.request), result=hiding.hide(effect.result))
        return replace(found, effect=shown)

    return tuple(
        replace(chapter, attempts=tuple(replace(one, uses=tuple(map(use, one.uses))) for one in chapter.attempts))
        for chapter in story
    )


def log_rows(story: Sequence[Chapter], glyphs: Glyphs = UNICODE) -> list[StoryRow]:
    """Oldest first: a line for each checkpoint, below it what its step did outside, and the attempts that failed."""
    return [row for chapter in story for row in _chapter(chapter, glyphs)]


def effect_rows(story: Sequence[Chapter], glyphs: Glyphs = UNICODE) -> list[StoryRow]:
    """Oldest first: a line for each use of an effect, in columns."""
    uses = [(_step(chapter.header), use) for chapter in story for attempt in chapter.attempts for use in attempt.uses]
    node_cells = min(max((cell_len(_node(use)) for _, use in uses), default=0), 18)
    name_cells = min(max((cell_len(_name(use)) for _, use in uses), default=0), 16)
    kind_cells = max((len(use.effect.kind) for _, use in uses), default=0)
    found = []
    for step, use in uses:
        lead = (
            Piece(f"{step:>4} ", "muted"),
            *pad((Piece(_node(use)),), node_cells + 2, glyphs.ellipsis),
            *pad((Piece(_name(use), "strong"),), name_cells + 2, glyphs.ellipsis),
            *_how(use),
            Piece(f"{use.effect.kind:<{kind_cells}}  ", "muted"),
        )
        found.append(StoryRow((*lead, *_came_of_it(use, glyphs)), len(lead), use=use))
    return found


def laid_out(rows: Sequence[StoryRow], width: int, height: int) -> list[tuple[int, Line]]:
    """The lines of all rows, each with the number of its row: what came of an effect on as many as it needs where all
    of them fit into ``height``, else one a row."""
    whole = [(number, line) for number, row in enumerate(rows) for line in _whole(row, width)]
    return whole if len(whole) <= height else [(number, row.line) for number, row in enumerate(rows)]


def _whole(row: StoryRow, width: int) -> list[Line]:
    """Beside what it came of while that leaves most of the width, else below it."""
    lead, rest = row.line[: row.lead], row.line[row.lead :]
    if not lead or cells(row.line) <= width:
        return [row.line]
    if cells(lead) * 3 <= width:
        return hanging(lead, rest, width)
    indent = Piece(" " * (cells(lead[:1]) + 4))
    return [lead, *((indent, *line) for line in wrap(rest, width - cells((indent,))))]


def duplicate_rows(found: Sequence[Duplicate]) -> list[StoryRow]:
    """What the thread may have done twice, a line each: the node, its attempts, and what is missing."""
    return [
        StoryRow(
            (
                Piece("! ", "warning"),
                Piece(safe_text(f"{each.effect} in {each.node}" if each.effect else each.node), "strong"),
                Piece(f"  may have been done twice: {safe_text(each.why)}", "warning"),
                Piece(f"  ({', '.join(each.attempts)})", "muted"),
            )
        )
        for each in found
    ]


def effect_text(use: EffectUse) -> str:
    """All of one use of an effect, a text to read in full."""
    effect = use.effect
    facts = {
        "effect": f"{effect.slot.name} of {effect.slot.node}, visit {effect.slot.visit}, call {effect.slot.call_no}",
        "class": effect.kind,
        "status": effect.status,
        "this time": "called" if use.called else "given from the record",
        "key": effect.key,
        "business id": effect.slot.business_id,
        "first by": f"run {effect.run_id} of {effect.thread}",
        "begun": "" if effect.created is None else effect.created.isoformat(),
        "ended": "" if effect.done is None else effect.done.isoformat(),
        "given again": f"{effect.replays} times",
        "error": effect.error or "",
    }
    lines = [f"{name:<12} {value}" for name, value in facts.items() if value]
    values = {"request": effect.request} | ({"result": effect.result} if effect.answered else {})
    for name, value in values.items():
        lines += ["", name, json.dumps(to_json(value), indent=2, ensure_ascii=False)]
    return "\n".join(lines)


def _chapter(chapter: Chapter, glyphs: Glyphs) -> Iterator[StoryRow]:
    header = chapter.header
    last = next((one for one in reversed(chapter.attempts) if one.record.checkpoint), None)
    earlier = [one for one in chapter.attempts if one is not last]
    for one in earlier:
        yield from _attempt(one, glyphs)
    if header is None:
        return
    took = "" if last is None or last.record.duration is None else f"  {human_duration(last.record.duration)}"
    attempt = f"  attempt {last.record.attempt}" if last is not None and last.record.attempt > 1 else ""
    what = ", ".join(header.nodes) if header.source in ("step", "loop", "substep", "suspend") else ""
    part = header.meta.get("substep")
    words = [safe_text(what or _BY_HAND.get(header.source, header.source))]
    words += [f"part {safe_text(str(part))}"] if part else []
    words += [f"by {safe_text(str(by))}"] if (by := header.meta.get("answered_by")) else []
    words += ["asks"] if header.source == "suspend" else []
    sign, ink = (glyphs.done, "success") if what else (glyphs.dot, "accent")
    line = (
        Piece(f"{_step(header):>4} ", "muted"),
        Piece(f"{sign} ", ink),
        Piece("  ".join(words), "strong" if what else "plain"),
        Piece(attempt + took, "muted"),
    )
    yield StoryRow(line, ref=header.ref)
    for use in last.uses if last is not None else ():
        yield _effect(use, glyphs)


def _attempt(one: Attempt, glyphs: Glyphs) -> Iterator[StoryRow]:
    """An attempt that led nowhere, or that is under way."""
    record = one.record
    status = _ENDED.get(record.status, record.status)
    took = "" if record.duration is None else f"  {human_duration(record.duration)}"
    yield StoryRow(
        (
            Piece("     "),
            Piece(f"{status_glyph(status, glyphs)} ", status_ink(status)),
            Piece(safe_text(record.node), "strong"),
            Piece(f"  attempt {record.attempt} {safe_text(record.status)}{took}", "muted"),
        )
    )
    if record.error is not None:
        yield StoryRow((BELOW, Piece(flat(record.error[:ERROR], glyphs), "error")), 1)
    for use in one.uses:
        yield _effect(use, glyphs)


def _effect(use: EffectUse, glyphs: Glyphs) -> StoryRow:
    lead = (BELOW, Piece(f"{_name(use)}  ", "key"), *_how(use), Piece(f"{use.effect.kind}  ", "muted"))
    return StoryRow((*lead, *_came_of_it(use, glyphs)), len(lead), use=use)


def _how(use: EffectUse) -> Line:
    return (Piece("called    ", "accent") if use.called else Piece("recorded  ", "muted"),)


def _came_of_it(use: EffectUse, glyphs: Glyphs) -> Line:
    effect = use.effect
    if effect.status == EffectStatus.DONE:
        result: Value = effect.result
        return value_line(result, glyphs)
    error = "" if effect.error is None else "  " + flat(effect.error[:ERROR], glyphs)
    return (Piece(effect.status, _INKS.get(effect.status, "muted")), Piece(error, "error"))


def _name(use: EffectUse) -> str:
    number = use.effect.slot.call_no
    return safe_text(use.effect.slot.name) + (f" #{number}" if number > 1 else "")


def _node(use: EffectUse) -> str:
    visit = use.effect.slot.visit
    return safe_text(use.effect.slot.node) + (f" #{visit}" if visit > 1 else "")


def _step(header: Header | None) -> str:
    return "" if header is None or header.step is None else str(header.step)
