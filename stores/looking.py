"""For adapters that only read: pages of a listing, and the refusal to write.

Owns what every such adapter would write again; an adapter needs none of it to be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn, TypeVar

from stores.errors import Unsupported
from stores.model import Change, NewCheckpoint, Page, Ref, StoreInfo

T = TypeVar("T")


def page(items: Sequence[T], after: str | None, limit: int) -> Page[T]:
    """The part of a listing that follows ``after``; the listing is given whole, newest first.

    ``after`` counts what is left from the old end, so that rows which are new at the top move nothing.
    Raises ValueError for a limit below 0.
    """
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")
    start = 0 if after is None else max(0, len(items) - int(after))
    end = start + limit
    return Page(tuple(items[start:end]), str(len(items) - end) if limit and end < len(items) else None)


class LookingOnly:
    """Base of an adapter that declares neither WRITE nor FORK: both are refused."""

    info: StoreInfo

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> NoReturn:
        """Raises Unsupported."""
        raise self._refusal()

    def fork(
        self,
        base: Ref,
        thread: str,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> NoReturn:
        """Raises Unsupported."""
        raise self._refusal()

    def _refusal(self) -> Unsupported:
        return Unsupported(
            f"{self.info.url} can be looked at, not written",
            hint="Export the thread and import it into a native store.",
        )
