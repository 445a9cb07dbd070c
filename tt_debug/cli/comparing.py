"""What ``diff`` compares and how it says it: text, RFC 6902 operations, or deepdiff's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stores.model import MISSING, Change, Diff, Path, Ref, Value
from stores.paths import format_path, get_path, settle_path
from tt_debug.cli.exits import narrate
from tt_debug.errors import RefNotFound, UsageError
from tt_debug.redaction import Redaction
from tt_debug.text import counted

if TYPE_CHECKING:
    from tt_debug.session.session import Session


@dataclass(frozen=True, slots=True)
class Pair:
    """Two checkpoints to compare; ``old`` is None for the root, which has nothing before it."""

    old: Ref | None
    new: Ref


def pair_of(session: Session, first: str, second: str | None) -> Pair:
    """A REF against its parent, or from the first to the second."""
    one = session.resolve(first)
    if second is not None:
        return Pair(one, session.resolve(second))
    return Pair(session.load(one).header.parent, one)


def changes_between(session: Session, pair: Pair, path: Path) -> Diff:
    """What changed at and under ``path``. Raises RefNotFound when it is in neither state."""
    if not path:
        return session.diff(pair.new, pair.old)
    from tt_debug.diff import diff

    before, after = _state(session, pair.old), _state(session, pair.new)
    path = settle_path(after if value_at(after, path) is not MISSING else before, path)
    old, new = value_at(before, path), value_at(after, path)
    if old is MISSING and new is MISSING:
        raise RefNotFound(f"neither state has {format_path(path)}")
    if old is MISSING:
        return (Change("add", path, new=new),)
    if new is MISSING:
        return (Change("remove", path, old=old),)
    return tuple(_under(path, change) for change in diff(old, new))


def states(session: Session, pair: Pair, path: Path) -> tuple[Value, Value]:
    """The two values themselves; what is missing counts as an empty state."""
    sides = (value_at(_state(session, ref), path) for ref in (pair.old, pair.new))
    old, new = ({} if side is MISSING else side for side in sides)
    return old, new


def value_at(state: Mapping[str, Value], path: Path) -> Value:
    """The value at ``path``, MISSING where there is none."""
    try:
        return get_path(state, settle_path(state, path))
    except LookupError:
        return MISSING


def _state(session: Session, ref: Ref | None) -> Mapping[str, Value]:
    return session.load(ref).state if ref is not None else {}


def _under(path: Path, change: Change) -> Change:
    source = None if change.source is None else path + change.source
    return replace(change, path=path + change.path, source=source)


def as_json_patch(changes: Diff, old: Value) -> Value:
    """RFC 6902 operations on ``old``, as ``--patch`` reads them."""
    from tt_debug.patch import to_json_patch

    return to_json_patch(changes, old)


def in_deepdiff_terms(session: Session, pair: Pair, path: Path, hiding: Redaction) -> Value:
    """What deepdiff would call it, as JSON; what it passes over is narrated. The import is deferred: it costs 235 ms.

    Raises UsageError where secrets would be in it: two of them that differ are alike once they are hidden.
    """
    from tt_debug.deep import to_deepdiff, untold
    from tt_debug.diff import diff

    whole = states(session, pair, ())
    for side, value in zip(whole, states(session, pair, path), strict=True):
        if hiding.hide(value, secret=hiding.at(side, settle_path(side, path))) is not value:
            raise UsageError("deepdiff's terms have no word for a secret that is hidden", hint="add --reveal")
    sides = states(session, pair, path)
    told = to_deepdiff(*sides)
    left_out = untold(diff(*sides), told)
    if left_out:
        narrate(
            f"note: deepdiff passes over {counted(left_out, 'change')}: a number of another type in a list, "
            "or 0.0 and -0.0; the other formats have them all"
        )
    return told
