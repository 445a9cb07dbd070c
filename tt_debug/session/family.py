"""Several threads as one: every checkpoint once, and what each hangs under.

Pure: works on strands that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stores import ids
from stores.model import Header, Ref
from stores.refs import Refs, of_subgraphs
from tt_debug.graph import enclosing
from tt_debug.session.headers import Strand


@dataclass(frozen=True)
class Merged:
    """The checkpoints that stand, oldest first. ``parents`` are places in ``refs``, -1 for none here; ``missing`` are
    those that are named and not here, by the place of their child."""

    refs: Sequence[Ref]
    parents: Sequence[int]
    missing: Mapping[int, Ref]

    @property
    def tells_steps(self) -> bool:
        """Whether the steps that ids have in them, modulo 16,384, can be the steps themselves."""
        return len(self.refs) < ids.STEPS and not self.missing

    def place(self, ref: Ref) -> int | None:
        """Where one stands; None where it does not."""
        return self.refs.place(ref) if isinstance(self.refs, Refs) else self._places.get(ref)

    @cached_property
    def _places(self) -> Mapping[Ref, int]:
        return dict(zip(self.refs, range(len(self.refs)), strict=True))

    def parent(self, at: int) -> Ref | None:
        """The parent of the checkpoint at a place, whether or not it is here."""
        above = self.parents[at]
        return self.refs[above] if above >= 0 else self.missing.get(at)


def merged(strands: Sequence[Strand], copies: bool) -> Merged:
    """Every checkpoint once, parents pointing at the one that stands. With ``copies`` one that another strand has too,
    by namespace and id, stands for it."""
    if len(strands) == 1 and not strands[0].known:
        return Merged(strands[0].refs, strands[0].parents, strands[0].missing)
    originals: dict[tuple[str, str], tuple[Strand, Ref]] = {}
    kept: list[tuple[Ref, Ref | None]] = []
    for strand in strands:
        newest = next((ref for ref in reversed(strand.refs) if not ref.ns), None)
        for at, ref in enumerate(strand.refs):
            first, original = originals.setdefault((ref.ns, ref.id), (strand, ref))
            if original is ref or not copies:
                kept.append((ref, strand.parent(at) or _caller(strand, ref)))
            elif ref == newest or _differ(strand.known.get(ref), first.known.get(original)):
                kept.append((ref, original))
    kept.sort(key=_age(strands))
    stands = {key: ref for key, (_, ref) in originals.items()} if copies else {}
    places = {ref: at for at, (ref, _) in enumerate(kept)}
    above = [
        parent if parent is None or parent in places else stands.get((parent.ns, parent.id), parent)
        for _, parent in kept
    ]
    parents = [-1 if parent is None else places.get(parent, -1) for parent in above]
    missing = {at: parent for at, parent in enumerate(above) if parent is not None and parents[at] < 0}
    return Merged([ref for ref, _ in kept], parents, missing)


def _caller(strand: Strand, ref: Ref) -> Ref | None:
    header = strand.known.get(ref)
    return None if header is None else enclosing(header)


def _differ(copy: Header | None, original: Header | None) -> bool:
    """Whether a copy was edited under the id of what it is a copy of; only the last of a line can have been."""
    return copy is not None and original is not None and copy.created != original.created


def _age(strands: Sequence[Strand]) -> Callable[[tuple[Ref, Ref | None]], tuple[bool, float | str]]:
    """Rows of one thread with equal or unknown times keep their order. Ids that tell the time sort by it as text."""
    if not all(strand.is_whole for strand in strands):
        return lambda row: (False, row[0].id)
    created = {ref: header.created for strand in strands for ref, header in strand.known.items()}

    def age(row: tuple[Ref, Ref | None]) -> tuple[bool, float | str]:
        made = created[row[0]]
        return made is None, 0.0 if made is None else made.timestamp()

    return age


def drawn_under(family: Merged, headers: Mapping[Ref, Header]) -> tuple[Sequence[int], frozenset[int]]:
    """What each checkpoint is drawn under, as `Merged.parents`: its parent, or what called the subgraph whose call it
    begins; and which ones are drawn under another namespace than their own."""
    refs, parents = family.refs, family.parents
    if not of_subgraphs(refs):
        return parents, frozenset()
    # A caller that a fork copied stands under its original's address.
    stands = {(ref.ns, ref.id): at for at, ref in enumerate(refs)}

    def caller_of(at: int) -> int:
        noted = enclosing(headers[refs[at]]) if refs[at].ns else None
        if noted is None:
            return -1
        called_by = family.place(noted)
        return stands.get((noted.ns, noted.id), -1) if called_by is None else called_by

    above = list(parents)
    for at, ref in enumerate(refs):
        if ref.ns:
            parent, caller = parents[at], caller_of(at)
            # The next call of a subgraph that keeps its state has the last row of the call before as its parent.
            goes_on = parent >= 0 and refs[parent].ns == ref.ns and caller_of(parent) in (caller, -1)
            if not goes_on and caller >= 0:
                above[at] = caller
    return above, frozenset(at for at, parent in enumerate(above) if parent >= 0 and refs[parent].ns != refs[at].ns)
