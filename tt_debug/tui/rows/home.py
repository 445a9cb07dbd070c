"""The lines of Home about one thread: where it stands, forks, details. Pure: values in, pieces out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich.cells import cell_len

from stores.model import Status, StoreInfo, ThreadInfo
from tt_debug.text import counted, human_age, safe_text
from tt_debug.tui.glyphs import Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.pieces import Line, Piece, pad, wrap
from tt_debug.tui.rows.spent import Used, used_words

UNREAD = "not read yet"
NAME = 20
"""The most cells of a name among the details."""


def problem_lines(problem: str, width: int) -> list[Line]:
    """Why there is no preview."""
    return wrap((Piece(safe_text(problem), "error"),), width)


def fork_lines(
    info: ThreadInfo, threads: Iterable[ThreadInfo], glyphs: Glyphs, now: datetime
) -> tuple[list[Line], list[str]]:
    """The thread this one came from and those forked from it, a line each, and the thread each line stands for."""
    lines: list[Line] = []
    names: list[str] = []
    if info.forked_from is not None:
        lines.append((Piece("forked from ", "muted"), Piece(safe_text(info.forked_from.thread), "secondary")))
        names.append(info.forked_from.thread)
    children = [other for other in threads if other.forked_from is not None and other.forked_from.thread == info.thread]
    for child in children:
        age = human_age(child.updated, now) if child.updated is not None else ""
        lines.append(
            (
                Piece(f"{glyphs.branch}{glyphs.stub} ", "muted"),
                Piece(f"{safe_text(child.thread)}  ", "plain"),
                Piece(f"{status_glyph(child.status, glyphs)} {child.status}", status_ink(child.status)),
                Piece(f"  {_checkpoints(child)}{age}", "muted"),
            )
        )
        names.append(child.thread)
    return lines, names


def detail_lines(info: ThreadInfo, store: StoreInfo, used: Used | None = None) -> list[Line]:
    """Names and values of one thread, its own metadata last. ``used`` is what its messages tell, as far as read."""
    from tt_debug.tui.rows.values import value_line  # with messages 3 ms, behind the first rows

    facts: list[tuple[str, str]] = [("status", info.status if info.read else UNREAD)]
    if info.step is not None:
        facts.append(("step", str(info.step)))
    uncounted = "not counted by this store" if info.read else UNREAD
    held = uncounted if info.checkpoints is None else f"{info.checkpoints:,}"
    facts += [("checkpoints", held), ("last node", info.last_node or ("none yet" if info.read else UNREAD))]
    if info.updated is not None:
        facts.append(("last write", info.updated.astimezone().strftime("%Y-%m-%d %H:%M:%S")))
    if used is not None:
        facts.append(("model use", used_words(used)))
    if info.head is not None:
        facts.append(("head", info.head.id))
    facts.append(("store", f"{store.kind}  {store.url}"))
    meta = [(safe_text(str(key)), value) for key, value in info.meta.items()]
    lead = min(NAME, max(cell_len(name) for name, _ in (*facts, *meta)))
    lines = [(*pad((Piece(name, "muted"),), lead), Piece("  "), Piece(safe_text(value))) for name, value in facts]
    return [*lines, *((*pad((Piece(name, "muted"),), lead), Piece("  "), *value_line(value)) for name, value in meta)]


def summary_line(info: ThreadInfo, forks: int, glyphs: Glyphs, answer_key: str) -> Line:
    """Where the thread stands, for the preview's title. ``answer_key`` opens the approvals."""
    waits = f"  {answer_key} to answer" if info.status == Status.WAITING else ""
    stands = f"{status_glyph(info.status, glyphs)} {info.status}" if info.read else glyphs.ellipsis
    return (
        Piece(stands, status_ink(info.status)),
        Piece(waits, "muted"),
        Piece(f"  {_checkpoints(info)}{counted(forks, 'fork') if forks else ''}".rstrip(), "muted"),
    )


def _checkpoints(info: ThreadInfo) -> str:
    """How many a thread has and a gap after it; nothing where its store does not count them."""
    return "" if info.checkpoints is None else f"{counted(info.checkpoints, 'checkpoint')}  "
