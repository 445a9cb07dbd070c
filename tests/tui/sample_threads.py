"""What `TripHistory` holds: a long thread with forks, one that waits for an answer, one that failed, one in Chinese.

Owns their states; how a session keeps them is the session's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stores.model import Interrupt, Status, Tagged, Task, Value, Write

if TYPE_CHECKING:
    from tests.tui.trip_history import TripHistory


def message(kind: str, content: str, id: str, **fields: Any) -> Tagged:
    """A LangChain message as the codec gives it."""
    name = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage", "system": "SystemMessage"}[kind]
    value = {"content": content, "type": kind, "id": id, **fields}
    return Tagged(f"langchain_core.messages.{kind}.{name}", value)


def fill(session: TripHistory) -> None:
    """The sample threads."""
    _trip(session)
    _review(session)
    _broken(session)
    _cjk(session)


NODES = ("agent", "tools", "plan", "summarize")


def _trip(session: TripHistory) -> None:
    talk: list[Value] = [message("human", "Plan a trip to 京都 for 5 people 🙂", "m0")]
    plan: dict[str, Value] = {"title": "Kyoto", "steps": ["train", "hotel", "food"], "status": "draft"}
    usage: dict[str, Value] = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
    state: dict[str, Value] = {
        "messages": list(talk),
        "plan": plan,
        "usage": usage,
        "docs": [{"id": "d1", "score": 0.5}],
        "retry": False,
        "last_error": None,
        "embedding": [0.25] * 1536,
        "api_key": "sk-very-secret",
        "blob": b"".hex(),
    }
    session.add("trip-planner", state, source="input", next=("agent",))
    for step in range(25):
        node = NODES[step % len(NODES)]
        if node == "agent":
            calls = [{"name": "search", "args": {"q": "kyoto ryokan"}, "id": f"c{step}"}]
            text = "I will look up trains, hotels and opening hours, then propose a plan."
            talk = [*talk, message("ai", text, f"m{len(talk)}", tool_calls=calls)]
        elif node == "tools":
            talk = [*talk, message("tool", '{"results": [12, 80, 63], "ok": true}', f"m{len(talk)}")]
        elif node == "plan":
            plan = {**plan, "status": ("draft", "review", "final")[step % 3], "steps": [*plan["steps"], f"day {step}"]}
        else:
            talk = [*talk[:-1], replace(talk[-1], value={**talk[-1].value, "content": f"summary of step {step}"})]
        usage = {"input_tokens": 37 * step, "output_tokens": 11 * step, "cost_usd": round(0.0081 * step, 4)}
        state = {
            **state,
            "messages": list(talk),
            "plan": plan,
            "usage": usage,
            "docs": [{"id": "d1", "score": step / 7}],
        }
        following = (NODES[(step + 1) % len(NODES)],) if step < 24 else ()
        session.add("trip-planner", state, node=node, next=following, seconds=(0.174, 2.1, 4.8, 0.01, 31.0)[step % 5])
    _forks(session)


def _forks(session: TripHistory) -> None:
    head = session.heads["trip-planner"]
    refs = [ref for ref in session.checkpoints if ref.thread == "trip-planner"]
    base = session.checkpoints[refs[12]]
    cheaper = {**base.state, "plan": {**base.state["plan"], "steps": ["bus", "hostel"]}}
    session.add("ryokan", cheaper, parent=refs[12], source="fork", next=("agent",), seconds=3600)
    for step in range(3):
        session.add("ryokan", {**cheaper, "round": step}, node=NODES[step], next=("tools",) if step < 2 else ())
    session.add("cheap", cheaper, parent=refs[12], source="fork", next=("agent",), seconds=7200, status=Status.DONE)
    task = Task("task-9", "book_hotel", "", Status.FAILED, (), "HTTPError: 502 Bad Gateway from booking.example")
    session.add(
        "cheap", {**cheaper, "round": 1}, node="agent", next=("book_hotel",), status=Status.FAILED, tasks=(task,)
    )
    session.heads["trip-planner"] = head


def _review(session: TripHistory) -> None:
    session.add("review", {"amount": 10}, source="input", next=("draft",))
    session.add("review", {"amount": 96_000, "draft": "Book it?"}, node="draft", next=("ask",))
    asked = Interrupt("ask-1", {"question": "Approve ¥96,000?", "city": "京都"}, {"type": "object"})
    tasks = (Task("t-1", "ask", "", Status.WAITING, (Write("draft", "Book it?"),), None, (asked,)),)
    session.add("review", {"amount": 96_000}, node="check", next=("ask",), status=Status.WAITING, tasks=tasks)


def _broken(session: TripHistory) -> None:
    session.add("broken", {"n": 0}, source="input", next=("one",))
    session.add("broken", {"n": 1}, node="one", next=("deploy",))
    tasks = (Task("t-2", "deploy", "", Status.FAILED, (), "HTTPError: 502 [/red] \x1b]0;owned\x07"),)
    session.add("broken", {"n": 2}, node="two", next=("deploy",), status=Status.FAILED, tasks=tasks)


def _cjk(session: TripHistory) -> None:
    text = "第三章的主题是家庭 👨‍👩‍👧‍👦 和旅行 ❤️。"
    session.add("写作-计划", {"题目": "旅行", "章节": []}, source="input", next=("写作",))
    for number in range(3):
        session.add(
            "写作-计划", {"题目": "旅行", "章节": [text] * number}, node="写作", next=("写作",) if number < 2 else ()
        )
