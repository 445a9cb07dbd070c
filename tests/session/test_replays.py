"""Replays from the record: nothing is called, nothing in the store changes, what differs is told where it starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores import create_native
from stores.conformance import folder_as_it_is
from stores.effects import EffectUse
from stores.errors import ReadOnly
from stores.model import Change
from tt_debug.engine.events import Event
from tt_debug.errors import UsageError
from tt_debug.session.executor import PlacedUse
from tt_debug.session.importing import import_into
from tt_debug.session.plans import RunRequest, RunResult
from tt_debug.session.session import Session

NODES = """
from pathlib import Path

def called(name):
    def call(key):
        with open(Path(__file__).parent / "world.txt", "a") as file:
            file.write(name + "\\n")
        return len(name)
    return call

def look(state, ctx):
    ctx.log(ctx.now())
    return {"seen": ctx.effect("look", called("look"), {"q": state["q"]}, cls="repeatable"), "id": ctx.uuid()}

def parts(state, ctx):
    one = ctx.substep("one", lambda: ctx.effect("ask", called("one"), 1, cls="idempotent"))
    two = ctx.substep("two", lambda: ctx.effect("ask", called("two"), 2, cls="idempotent"))
    if ctx.attempt == 1:
        raise TimeoutError("once")
    return {"parts": [one, two]}

def send(state, ctx):
    ctx.tx("CREATE TABLE IF NOT EXISTS sent (n INTEGER)")
    ctx.tx("INSERT INTO sent VALUES (?)", [1])
    return {"mail": ctx.effect("mail", called("mail"), state["parts"])}
"""
FLOW: dict[str, Any] = {
    "workflow_id": "replayed",
    "version": "1",
    "nodes": [
        {"id": "look", "type": "python", "run": "replay_nodes:look", "next": "parts"},
        {"id": "parts", "type": "python", "run": "replay_nodes:parts", "next": "ask", "retry": {"max": 2, "first": 0}},
        {"id": "ask", "type": "human_task", "next": "say"},
        {"id": "say", "type": "llm_call", "prompt": "{q} {seen} {ask}", "next": "send"},
        {"id": "send", "type": "python", "run": "replay_nodes:send", "next": None},
    ],
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A finished thread with effects of every kind, a retry, substeps and an answer."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    store = tmp_path / "store"
    store.mkdir()
    (store / "replay_nodes.py").write_text(NODES)
    (store / "flow.json").write_text(json.dumps(FLOW))
    create_native(store / "r.db")
    opened = Session.open(str(store / "r.db"))
    run(opened, RunRequest("run", thread="t", input={"q": "x"}, workflow=store / "flow.json"))
    asked = opened.approvals("t")[0]
    opened.answer(asked.id, "yes", "ada")
    assert run(opened, RunRequest("resume", opened.resolve("t")))[0].status == "done"
    yield opened
    opened.close()


def run(session: Session, request: RunRequest) -> tuple[RunResult, list[Event]]:
    events: list[Event] = []
    return session.execute(session.plan(request), events.append), events


def world(session: Session) -> list[str]:
    return (folder(session) / "world.txt").read_text().splitlines()


def folder(session: Session) -> Path:
    assert session.info.path is not None
    return Path(session.info.path).parent


def forgetful(placed: PlacedUse) -> tuple[int | None, EffectUse]:
    """A use of an effect without what only its own store knows."""
    return placed.step, replace(placed.use, effect=replace(placed.use.effect, token=0, replays=0))


def nodes_of(events: list[Event]) -> list[str]:
    return [event.fields["node"] for event in events if event.kind == "step_finished"]


@pytest.mark.parametrize("mode", ["recorded", "verify", None])
def test_from_the_record_nothing_is_called_and_nothing_changes(session: Session, mode: Any) -> None:
    called = world(session)
    before = folder_as_it_is(folder(session))
    result, events = run(session, RunRequest("replay", session.resolve("t@-1"), mode=mode))
    assert (result.status, result.error, result.divergence) == ("done", None, None)
    assert nodes_of(events) == ["look", "parts", "say", "send"]
    assert "every step went as recorded" in result.notes
    assert world(session) == called
    assert [entry for entry in folder_as_it_is(folder(session)) if "pycache" not in str(entry)] == [
        entry for entry in before if "pycache" not in str(entry)
    ]


@pytest.mark.parametrize("mode", ["recorded", "verify"])
def test_a_store_that_is_open_for_reading_only_can_be_replayed_from_the_record(session: Session, mode: Any) -> None:
    looking = Session.open(session.info.url, read_only=True)
    result, events = run(looking, RunRequest("replay", looking.resolve("t@-1"), mode=mode))
    assert (result.status, nodes_of(events)) == ("done", ["look", "parts", "say", "send"])
    with pytest.raises(ReadOnly, match="replay writes"):
        looking.plan(RunRequest("replay", looking.resolve("t@-1"), mode="live"))
    looking.close()


def test_the_states_of_a_recorded_replay_are_kept_apart(session: Session, tmp_path: Path) -> None:
    result, _ = run(session, RunRequest("replay", session.resolve("t@0"), mode="recorded"))
    (scratch,) = (tmp_path / "home" / "state").glob("*-replays.sqlite")
    kept = Session.open(str(scratch), read_only=True)
    view = kept.open_thread(result.thread)
    assert kept.load(view.head).state == session.load(session.resolve("t")).state
    assert [view.headers[ref].nodes for ref in view.line()] == [("look",), ("parts",), ("ask",), ("say",), ("send",)]
    assert result.head == view.head
    again, _ = run(session, RunRequest("replay", session.resolve("t@0"), mode="recorded"))
    assert again.thread != result.thread
    kept.close()


@pytest.mark.parametrize(
    ("old", "new", "node", "what", "ran"),
    [
        ('{"q": state["q"]}', '{"q": state["q"] + "!"}', "look", "effects", []),
        ('"id": ctx.uuid()}', '"id": 7, "u": ctx.uuid()}', "look", "output", []),
        ('"one", lambda: ctx.effect("ask"', '"one", lambda: ctx.effect("begging"', "parts", "effects", ["look"]),
        ("[one, two]}", "[one]}", "parts", "output", ["look"]),
        ("ctx.log(ctx.now())", "pass", "look", "effects", []),
    ],
)  # fmt: skip
def test_a_verification_ends_at_the_first_divergence(
    session: Session, old: str, new: str, node: str, what: str, ran: list[str]
) -> None:
    called = world(session)
    code = folder(session) / "replay_nodes.py"
    code.write_text(code.read_text().replace(old, new))
    result, events = run(session, RunRequest("replay", session.resolve("t@-1"), mode="verify"))
    assert result.divergence is not None
    assert (result.divergence["node"], result.divergence["what"]) == (node, what)
    assert nodes_of(events) == ran
    assert world(session) == called


def test_a_recorded_replay_pauses_where_a_call_is_not_on_record(session: Session) -> None:
    code = folder(session) / "replay_nodes.py"
    code.write_text(code.read_text().replace('called("mail"), state["parts"])', 'called("mail"), "new")'))
    result, _ = run(session, RunRequest("replay", session.resolve("t@-1"), mode="recorded"))
    assert result.status == "paused"
    assert "mail of send is not on record with another request" in str(result.error)


def test_an_edit_on_the_line_is_taken_over(session: Session) -> None:
    fork = session.fork(session.resolve("t@0"), "u", (Change("change", ("q",), "x", "y"),))
    run(session, RunRequest("resume", fork.ref, on_conflict="new"))
    asked = session.approvals("u")[0]
    session.answer(asked.id, "no", "ada")
    run(session, RunRequest("resume", session.resolve("u")))
    called = world(session)
    result, events = run(session, RunRequest("replay", session.resolve("u@-1"), mode="verify"))
    assert (result.status, result.divergence) == ("done", None)
    assert nodes_of(events) == ["look", "parts", "say", "send"]
    assert world(session) == called


def test_a_live_replay_calls_everything_under_new_keys(session: Session) -> None:
    called = world(session)
    result, _ = run(session, RunRequest("replay", session.resolve("t@-1"), mode="live"))
    assert (result.status, result.thread) == ("waiting", "t-fork-1")
    assert world(session)[len(called) :] == ["look", "one", "two"]
    keys = {use.use.effect.key for use in session.executor.effects("t")}
    assert keys.isdisjoint({use.use.effect.key for use in session.executor.effects("t-fork-1")})


def test_a_live_replay_calls_only_what_it_is_allowed_to(session: Session) -> None:
    called = world(session)
    request = RunRequest("replay", session.resolve("t@-1"), mode="live", allow=("repeatable",))
    result, _ = run(session, request)
    assert result.status == "failed"
    assert "ask is idempotent; this run may call only repeatable" in str(result.error)
    assert world(session)[len(called) :] == ["look"]


def test_an_imported_thread_keeps_its_effects_and_its_parts(session: Session, tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(line) for line in session.export("t"))
    (tmp_path / "t.jsonl").write_text(lines)
    create_native(tmp_path / "store" / "other.db")
    import_into(str(tmp_path / "store" / "other.db"), tmp_path / "t.jsonl")
    other = Session.open(str(tmp_path / "store" / "other.db"))
    was, now = ([forgetful(use) for use in each.executor.effects("t")] for each in (session, other))
    assert now == was != []
    called = world(session)
    result, _ = run(other, RunRequest("replay", other.resolve("t@-1"), mode="verify"))
    assert (result.status, result.divergence) == ("done", None)
    fork = other.fork(other.resolve("t@0"), "u")
    run(other, RunRequest("resume", fork.ref))
    assert world(session) == called
    other.close()


def test_there_is_nothing_to_replay_after_the_end(session: Session) -> None:
    with pytest.raises(UsageError, match="nothing is on record after"):
        session.plan(RunRequest("replay", session.resolve("t"), mode="recorded"))
    plan = session.plan(RunRequest("replay", session.resolve("t@0")))
    assert plan.request.mode == "recorded"
    assert plan.title.startswith("Replay t from the record")
    live = replace(plan.request, mode="live")
    assert session.plan(live).recorded != ()
