"""Where the runs on a store's threads are kept: in the store itself, or in a file of ours for one that is not ours.

Owns opening that file, once there is one; refuses to make it. What is in it is `stores.native.elsewhere`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from stores.places import runs_path
from stores.protocol import RunStore, Store

if TYPE_CHECKING:
    from stores.native.elsewhere import RunsElsewhere


class Records:
    """The records of one open store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Asked once: to compare a store with so long a protocol takes a quarter of a millisecond.
        self.own = store if isinstance(store, RunStore) else None
        """The store itself, where it keeps runs."""
        self._elsewhere: RunsElsewhere | None = None
        self._opening = threading.Lock()

    @property
    def found(self) -> RunStore | None:
        """Wherever runs of ours on its threads are kept; None where there has been none."""
        if self.own is not None:
            return self.own
        with self._opening:
            if self._elsewhere is None:
                self._elsewhere = _opened(self._store)
            return self._elsewhere

    @property
    def is_there(self) -> bool:
        """Whether there are any, without opening them."""
        opened = self.own is not None or self._elsewhere is not None
        return opened or runs_path(self._store.info.store_id).exists()

    def close(self) -> None:
        """Idempotent."""
        with self._opening:
            if self._elsewhere is not None:
                self._elsewhere.close()


@contextmanager
def elsewhere(store: Store) -> Iterator[RunsElsewhere | None]:
    """The records of a store that is not ours, for a while; None where there are none."""
    found = None if isinstance(store, RunStore) else _opened(store)
    if found is None:
        yield None
        return
    with closing(found):
        yield found


def _opened(store: Store) -> RunsElsewhere | None:
    path = runs_path(store.info.store_id)
    if not path.exists():
        return None
    from stores.native.elsewhere import RunsElsewhere  # 30 ms, and most stores were only ever looked at

    return RunsElsewhere(path, read_only=store.info.read_only)
