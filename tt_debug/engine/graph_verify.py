"""The steps of a recorded line, run again in memory and compared. In the user's interpreter: stdlib only, Python 3.9.

Effects come from the record and nothing is called; the store is only read. What a node does beside ``tt_debug.effect``
it does for real. Refuses to answer questions: the line ends where it asked a person.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from .events_pipe import Tell, plain
from .graph_call import arguments, told_to
from .graph_effects import FatalError, Places, not_json
from .graph_guard import Guard
from .graph_owner import Halt
from .graph_saver import reading
from .graph_update import in_memory

_ABSENT = {"$absent": True}


class Recorded:
    """``tt_debug.effect`` from the record: what is not on it ends the replay. ``missed`` is what was asked for then."""

    def __init__(self, places: Places, known: Sequence[Mapping[str, Any]]) -> None:
        self._places, self._known = places, known
        self._counts: Counter[tuple[int, str]] = Counter()
        self.missed: dict[str, Any] | None = None

    def effect(self, name: str, fn: Any, request: Any = None, **how: Any) -> Any:
        """Its result; ``fn`` is not called."""
        there = self._places.here()
        if not_json(request):
            raise FatalError(f"the request of the effect {name} cannot be recorded: {not_json(request)}")
        self._counts[there.number, name] += 1
        slot = {"node": there.place, "visit": there.visit, "name": name, "call_no": self._counts[there.number, name]}
        same = [each for each in self._known if all(each[key] == slot[key] for key in slot)]
        for each in same:
            if each["request"] == request:
                return each["result"]
        recorded = {"name": name, "request": same[-1]["request"]} if same else None
        self.missed = {**slot, "recorded": recorded, "replayed": {"name": name, "request": request}}
        raise Halt(f"{name} of {there.place} is not on record")

    async def aeffect(self, name: str, fn: Any, request: Any = None, **how: Any) -> Any:
        """The same."""
        return self.effect(name, fn, request)


class Verification:
    """One line: what is run again, and the first thing that goes another way."""

    def __init__(self, job: Mapping[str, Any], tell: Tell, graph: Any, world: tuple[Places, Recorded]) -> None:
        self._job, self._tell, self._graph = job, tell, graph
        self._places, self._effects = world
        self._left = list(job["line"])
        self._head, self._diverged = job["base"], False

    def tell(self, kind: str, **fields: Any) -> None:
        at = datetime.now(timezone.utc).isoformat()  # noqa: UP017 - Python 3.9
        self._tell({"event": kind, "at": at, **fields})

    async def run(self) -> None:
        """Run the steps and compare each. Raises Refused."""
        job, guard = self._job, Guard(self._job["trust"])
        config = {"configurable": {"thread_id": job["thread"], "checkpoint_ns": ""}}
        error = None
        self.tell("run_started", workflow=job["graph"], version="", next=[], base=job["base"])
        with reading(self._graph, job["store"], guard) as recorded:
            async with in_memory({**job, "with_writes": False}, self._graph, config, guard) as twin:
                how = arguments({**job, "single_step": False, "until": None}, self._graph)
                how["config"]["callbacks"] = told_to(self._graph, self._places.listening())
                stream = twin.astream(None, **how)
                try:
                    async with _closing(stream):
                        async for chunk in stream:
                            if chunk["type"] == "checkpoint" and not self._take(chunk["payload"], recorded, config):
                                break
                except Halt:
                    self._missed()
                except BaseException as raised:  # noqa: BLE001 - the boundary to user code
                    error = f"{type(raised).__name__}: {raised}"
        self.tell("run_ended", status="failed" if error else "done", head=self._head, error=error)

    def _take(self, payload: Mapping[str, Any], recorded: Any, config: Mapping[str, Any]) -> bool:
        """One checkpoint of the replay, against the one on record. False where there is nothing more to compare."""
        if payload["config"]["configurable"]["checkpoint_id"] == self._job["base"]:
            return bool(self._left)
        if not self._left:
            return False
        self._head = self._left.pop(0)
        at = {"configurable": {**config["configurable"], "checkpoint_id": self._head}}
        was, serde = recorded.get_state(at), recorded.checkpointer.serde
        step = (was.metadata or {}).get("step")
        nodes = self._job["nodes"][self._head]
        for node in nodes:
            self.tell("step_finished", node=node, step=step, checkpoint=self._head, duration_ms=0, next=list(was.next))
        for key in sorted({*was.values, *payload["values"]}):
            old, new = was.values.get(key, _ABSENT), payload["values"].get(key, _ABSENT)
            if not _same(serde, old, new):
                return self._diverge(", ".join(nodes), step, f"state {key}", plain(old), plain(new))
        if sorted(was.next) != sorted(payload["next"]):
            return self._diverge(", ".join(nodes), step, "next", list(was.next), list(payload["next"]))
        return bool(self._left)

    def _missed(self) -> None:
        missed = self._effects.missed
        if missed is not None:
            self._diverge(missed["node"], None, "effects", missed["recorded"], missed["replayed"])

    def _diverge(self, node: str, step: Any, what: str, recorded: Any, replayed: Any) -> bool:
        self.tell("diverged", node=node, step=step, what=what, recorded=recorded, replayed=replayed)
        return False


@contextlib.asynccontextmanager
async def _closing(stream: Any) -> Any:
    try:
        yield
    finally:
        await stream.aclose()


def _same(serde: Any, old: Any, new: Any) -> bool:
    """As values, or as what the graph's own serializer would store of them."""
    with contextlib.suppress(Exception):  # user classes may compare as they like
        if bool(old == new):
            return True
    return bool(serde.dumps_typed(old) == serde.dumps_typed(new))
