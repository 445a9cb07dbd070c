"""How a run calls ``stream`` of the user's graph, and what is refused before. In the user's interpreter: stdlib only,
Python 3.9.

Owns the config on the thread alone, where it stops and what goes in. Refuses to call anything.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from .graph_fingerprint import differences, fingerprint
from .graph_standing import Standing
from .graph_target import Refused


def run_config(job: Mapping[str, Any]) -> dict[str, Any]:
    """The config on the thread alone, not on a checkpoint: with an id LangGraph runs again what has finished."""
    asked = {key: value for key, value in job["config"].items() if key != "context"}
    own = {key: value for key, value in (asked.get("configurable") or {}).items() if not key.startswith("checkpoint_")}
    return {**asked, "configurable": {**own, "thread_id": job["thread"]}}


def told_to(graph: Any, listener: Any) -> Any:
    """The callbacks of a call: the graph's own, which a call's would replace, and the listener."""
    own: Any = (getattr(graph, "config", None) or {}).get("callbacks")
    if hasattr(own, "add_handler"):
        own = own.copy()
        own.add_handler(listener, inherit=True)
        return own
    return [*(own or ()), listener]


def arguments(job: Mapping[str, Any], graph: Any) -> dict[str, Any]:
    """How ``stream`` is called: every step is stored before the next one starts."""
    context = job["config"].get("context")
    offered = inspect.signature(graph.stream).parameters
    given: dict[str, Any] = {"config": run_config(job), "stream_mode": "debug"}
    if context is not None and "context" not in offered:
        raise Refused("usage", "this release of LangGraph has no context", "langgraph 0.6 brought it")
    if context is not None:
        given["context"] = context
    if "durability" in offered:
        given["durability"] = "sync"
    if job["single_step"]:
        given["interrupt_after"] = "*"
    if job["until"] is not None:
        own = graph.interrupt_before_nodes
        given["interrupt_before"] = own if own == "*" else [*own, job["until"]]
    return given


def answer(job: Mapping[str, Any], before: Standing) -> Any:
    """What goes in: nothing, or answers by the id of their question. Refuses an answer that nobody asked for."""
    answers = dict(job["answers"])
    ids = [question["approval"] for question in before.questions]
    if not answers and not job["has_answer"]:
        return None
    from langgraph.types import Command, Interrupt  # not there yet in the first releases of 0.2

    if job["has_answer"]:
        if len(ids) > 1:
            raise Refused("usage", f"{len(ids)} questions are open: {', '.join(ids)}", "answer each by its id")
        if not ids and len(before.next) != 1:
            raise Refused("usage", "there is an answer, and no question is open")
        if not ids:  # a copied checkpoint has the node that asks, and not yet its question
            return Command(resume=job["answer"])
        answers[ids[0]] = job["answer"]
    unknown = [identity for identity in answers if identity not in ids]
    if unknown:
        raise Refused("usage", f"no open question has the id {', '.join(unknown)}", f"open: {', '.join(ids) or 'none'}")
    by_id = hasattr(Interrupt, "interrupt_id") and all(re.fullmatch("[0-9a-f]{32}", identity) for identity in answers)
    # Before langgraph 0.6 an answer by id is forgotten when its task asks again.
    if len(ids) == 1 and not (by_id and hasattr(Interrupt, "id")):
        return Command(resume=answers[ids[0]])
    if by_id:
        return Command(resume=answers)
    raise Refused("usage", f"{len(ids)} questions are open, and this release of LangGraph answers only one")


def nothing_to_run(job: Mapping[str, Any], before: Standing) -> bool:
    """Whether the thread stands already where the run would end."""
    answered = job["answers"] or job["has_answer"]
    # With every task finished nothing is next, but their results are still to be applied.
    ended = not before.next and not before.finished
    return ended or job["until"] in before.next or (before.asking and not answered)


def checked(graph: Any, job: Mapping[str, Any], before: Standing) -> None:
    """Refuse what LangGraph would do silently or never, and what nobody has agreed to."""
    if job["head"] not in (None, before.head):
        text = f"thread {job['thread']!r} has moved on since this was planned, to checkpoint {before.head}"
        raise Refused("conflict", text, "look at it again: its application went on with it")
    if before.lost:
        lost = ", ".join(before.lost)
        text = f"{lost} would run next, and this graph has no such node: LangGraph would end the thread silently"
        raise Refused("changed", text, "use the version of the graph that wrote the thread", tuple(before.lost))
    if job["until"] is not None and job["until"] not in graph.nodes:
        nodes = ", ".join(node for node in graph.nodes if not node.startswith("__"))
        raise Refused("usage", f"this graph has no node {job['until']!r}", f"it has: {nodes}")
    changed = differences(job["known"], fingerprint(graph)) if job["known"] is not None else []
    if changed:
        text = f"{job['graph']} has changed since it last ran thread {job['thread']!r}"
        raise Refused("graph", text, "agree to the change, or run the graph as it was", tuple(changed))
