"""The headers of a family of threads, read when they are looked at.

Owns what is known of each checkpoint so far; how one is read is told by whoever opened the family.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from threading import RLock
from typing import Final, Protocol

from stores import ids
from stores.model import Header, Ref

AROUND: Final = 100
"""Read on either side of a checkpoint that is asked for: who wants one, wants its neighbours next."""
TOGETHER: Final = 2_000
"""Read at once by who wants them all."""

Read = Callable[[Sequence[Ref]], Sequence[Header]]
"""The headers at these addresses, in any order; those that are gone are left out."""


@dataclass(frozen=True, slots=True)
class Strand:
    """One thread, oldest first, as far as it was read: ``known`` are the headers that were.

    ``parents`` and ``missing`` are as in `stores.model.Addresses`.
    """

    refs: Sequence[Ref]
    parents: Sequence[int]
    missing: Mapping[int, Ref]
    known: Mapping[Ref, Header]

    @classmethod
    def of(cls, headers: Sequence[Header]) -> Strand:
        """One whose headers are all known."""
        known = {header.ref: header for header in headers}
        places = {ref: at for at, ref in enumerate(known)}
        above = [header.parent for header in known.values()]
        parents = [-1 if parent is None else places.get(parent, -1) for parent in above]
        missing = {at: ref for at, ref in enumerate(above) if ref is not None and parents[at] < 0}
        return cls(tuple(known), parents, missing, known)

    @property
    def is_whole(self) -> bool:
        """Whether every header is known."""
        return len(self.known) == len(self.refs)

    def parent(self, at: int) -> Ref | None:
        """The parent of the checkpoint at a place, whether or not it is there."""
        above = self.parents[at]
        return self.refs[above] if above >= 0 else self.missing.get(at)


class Placed(Protocol):
    """The checkpoints of a family in their order, and where each stands in it."""

    @property
    def refs(self) -> Sequence[Ref]: ...

    @property
    def tells_steps(self) -> bool: ...

    def place(self, ref: Ref) -> int | None: ...


class Headers(Mapping[Ref, Header]):
    """In the order of the family. One that is not known is read when it is asked for, with those around it.

    Thread-safe. ``finished`` says what there is to say of a header from its place in the family.
    """

    def __init__(
        self,
        family: Placed,
        known: Iterable[Header],
        finished: Callable[[Header], Header],
        read: Read | None = None,
    ) -> None:
        self._family = family
        self._finished = finished
        self._read = read
        self._lock = RLock()
        self._known = {header.ref: finished(header) for header in known if family.place(header.ref) is not None}

    @property
    def refs(self) -> Sequence[Ref]:
        """Of all of them."""
        return self._family.refs

    def __len__(self) -> int:
        return len(self._family.refs)

    def __iter__(self) -> Iterator[Ref]:
        return iter(self._family.refs)

    def __contains__(self, ref: object) -> bool:
        return isinstance(ref, Ref) and self._family.place(ref) is not None

    def __getitem__(self, ref: Ref) -> Header:
        found = self._known.get(ref)
        if found is None:
            at = self._family.place(ref)
            if at is None:
                raise KeyError(ref)
            self.learn(self._family.refs[max(0, at - AROUND) : at + AROUND])
            found = self._known[ref]
        return found

    def values(self) -> ValuesView[Header]:
        """All of them, read now."""
        self.learn(self._family.refs)
        return super().values()

    def items(self) -> ItemsView[Ref, Header]:
        """All of them, read now."""
        self.learn(self._family.refs)
        return super().items()

    def learn(self, refs: Iterable[Ref]) -> None:
        """Read those of these that are not known yet."""
        with self._lock:
            wanted = [ref for ref in refs if ref not in self._known]
            for start in range(0, len(wanted), TOGETHER):
                part = wanted[start : start + TOGETHER]
                self._known.update(zip(part, self._read_now(part), strict=True))

    def passing(self, refs: Sequence[Ref]) -> list[Header]:
        """Those at these addresses, without keeping what has to be read for it: of who goes over all of them once."""
        with self._lock:
            wanted = [ref for ref in refs if ref not in self._known]
            read = dict(zip(wanted, self._read_now(wanted), strict=True))
            return [self._known[ref] if ref in self._known else read[ref] for ref in refs]

    def _read_now(self, refs: Sequence[Ref]) -> Iterator[Header]:
        found = {header.ref: header for header in self._read(refs)} if self._read is not None and refs else {}
        finished = self._finished
        return (finished(found.get(ref) or _gone(ref)) for ref in refs)

    def known(self) -> list[Header]:
        """Those that were read."""
        with self._lock:
            return list(self._known.values())

    def recall(self, headers: Iterable[Header]) -> None:
        """Take these for read."""
        with self._lock:
            for header in headers:
                self._known.setdefault(header.ref, self._finished(header))

    def go_on_from(self, before: Headers, without: Iterable[Ref]) -> None:
        """Take for read what was read of a family that this one continues, but for these."""
        with before._lock:
            known = before._known.copy()
        for ref in without:
            known.pop(ref, None)
        with self._lock:
            known.update(self._known)
            self._known = known

    def knows(self, ref: Ref) -> bool:
        """Whether it was read."""
        return ref in self._known

    def glimpse(self, ref: Ref) -> Header:
        """What is known of it without reading anything."""
        found = self._known.get(ref)
        if found is None:
            found = self._finished(by_address(ref))
            if not self._family.tells_steps:
                found = replace(found, step=None)
        return found


class Seen(Mapping[Ref, Header]):
    """The same without reading: `Headers.glimpse` of each."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def __len__(self) -> int:
        return len(self._headers)

    def __iter__(self) -> Iterator[Ref]:
        return iter(self._headers)

    def __reversed__(self) -> Iterator[Ref]:
        return reversed(self._headers.refs)

    def __contains__(self, ref: object) -> bool:
        return ref in self._headers

    def __getitem__(self, ref: Ref) -> Header:
        if ref not in self._headers:
            raise KeyError(ref)
        return self._headers.glimpse(ref)


def by_address(ref: Ref) -> Header:
    """What an address alone tells, in a store whose ids have the time and the step in them."""
    return Header(ref, None, ids.step_of(ref.id), "", ids.time_of(ref.id), status="", read=False)


def _gone(ref: Ref) -> Header:
    return replace(by_address(ref), read=True, source="unknown", problem="it is no longer in the store")
