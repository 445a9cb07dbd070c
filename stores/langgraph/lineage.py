"""Which threads are copies of others, told by their rows alone: ids are unique by their time and random part.

Owns that reasoning; how threads and ids are found is each database's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from stores.model import Ref


def copies_among(families: Iterable[Sequence[str]], roots: Callable[[str], Iterable[str]]) -> dict[str, Ref]:
    """Thread → the newest root checkpoint that it has in common with a thread that was stored before it.

    ``families`` are threads that begin with the same checkpoint, in the order in which they were stored; ``roots``
    gives a thread's root checkpoints, newest first.
    """
    found: dict[str, Ref] = {}
    for family in families:
        first_in: dict[str, str] = {}
        for thread in family if len(family) > 1 else ():
            own = []
            for id in roots(thread):
                if id in first_in:  # what lies before it is the other's too
                    found[thread] = Ref(first_in[id], "", id)
                    break
                own.append(id)
            first_in |= dict.fromkeys(own, thread)
    return found
