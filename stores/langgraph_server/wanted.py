"""How values have to be sent to a LangGraph server to become a state exactly: plainly, or past a reducer.

Owns the comparison of what was asked for with what became of it; refuses to send anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from stores.errors import Invalid, Unsupported
from stores.langgraph_server import snapshots
from stores.langgraph_server.connection import State
from stores.model import MISSING, Value

# langgraph/_internal/_constants.py OVERWRITE: a channel with a reducer takes what stands under this key as it is.
_OVERWRITE: Final = "__overwrite__"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The state that a new checkpoint is to have, and the nodes that are to run next."""

    state: Mapping[str, Value]
    next: tuple[str, ...]

    def settle(self, names: Iterable[str], put: Callable[[dict[str, Value]], State], as_node: str | None) -> Value:
        """The values of the channels ``names`` in the form by which ``put`` makes what is wanted.

        ``put`` sends them and gives what the server then shows. Raises Invalid, with the path, where the graph makes
        something else of them, and Unsupported where other nodes would run next.
        """
        passed: set[str] = set()
        sent = {name: self.state[name] for name in names}
        while True:
            after = put(sent)
            wrong = self._differing(sent, after)
            if not wrong:
                self._check_next(after, as_node)
                return sent
            if passed.issuperset(wrong) or not sent.keys() >= set(wrong):
                raise self._unlike(next(name for name in wrong if name in passed or name not in sent), after)
            passed.update(wrong)
            sent = {name: {_OVERWRITE: self.state[name]} if name in passed else sent[name] for name in sent}

    def _differing(self, sent: Mapping[str, Value], after: State) -> list[str]:
        """The channels that became something else, those sent first."""
        held = snapshots.values(after)
        names = dict.fromkeys([*sent, *self.state, *held])
        return [name for name in names if not same(self.state.get(name, MISSING), held.get(name, MISSING))]

    def _unlike(self, name: str, after: State) -> Invalid:
        if name not in snapshots.values(after):
            return Invalid(f"{name}: the graph on the server has no such channel, or shows it to nobody")
        return Invalid(
            f"{name}: the graph on the server makes something else of the new value (its reducer decides)",
            hint="Change another value, or fork where a node writes this one.",
        )

    def _check_next(self, after: State, as_node: str | None) -> None:
        found = tuple(after.get("next") or ())
        if sorted(self.next) != sorted(found):
            raise Unsupported(
                f"an update as {as_node or 'the last writer'} would go on with {', '.join(found) or 'nothing'} "
                f"instead of {', '.join(self.next) or 'nothing'}",
                hint="Fork at the step before, or at one that a single node wrote.",
            )


def same(one: Value, other: Value) -> bool:
    """As JSON: 1 and 1.0 are two values, the order of keys is none."""
    if one is MISSING or other is MISSING:
        return one is other
    try:
        return orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(other, option=orjson.OPT_SORT_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return False  # no JSON at all: refused with its path where it is stored
