"""The screening of many résumés, killed at random again and again: each is scored once, and nothing is done twice."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.runs import Run, RunStatus
from tests.crash.forks import KILLED, forked
from tests.crash.scenes import place
from tt_debug.definition.load import load_workflow
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here
from tt_debug.session.session import Session

__all__ = ["place"]

pytestmark = pytest.mark.crash

NODES = """
import os
from pathlib import Path

def score(state, ctx):
    def send(key):
        with open(Path(__file__).parent / "scores.txt", "a") as file:
            file.write(f"{key} {state['name']}\\n")
            file.flush()
            os.fsync(file.fileno())
        return len(state["skills"])
    return {"score": ctx.effect("score", send, {"name": state["name"]}, cls="idempotent")}
"""
FLOW = {
    "workflow_id": "resume_screening_v1",
    "version": "1.2.0",
    "nodes": [
        {"id": "parse_resume", "type": "llm_call", "prompt": "{name}: {text}", "output": "parsed",
         "retry": {"max": 3, "backoff": "exponential"}, "next": "extract_skills"},
        {"id": "extract_skills", "type": "llm_call", "prompt": "skills of {parsed}", "output": "skills",
         "retry": {"max": 3, "backoff": "exponential"}, "next": "score_candidate"},
        {"id": "score_candidate", "type": "python", "run": "resume_nodes:score", "retry": {"max": 2},
         "next": "human_review"},
        {"id": "human_review", "type": "human_task", "prompt": "{name} has {score}", "next": None},
    ],
}  # fmt: skip
NAMES = (
    "sqlite.begun", "sqlite.written", "sqlite.committed", "native.claimed", "native.effect-entered",
    "native.effect-begun", "native.effect-ended", "native.run-created", "run.effect-begun", "run.effect-called",
    "run.effect-ended", "run.node-returned", "run.step-before-commit", "run.step-committed", "run.suspended",
)  # fmt: skip


def screen_all(folder: Path, count: int) -> None:
    """What a batch does, however often it was broken off: what is not there is started, what stopped goes on."""
    workflow = load_workflow(folder / "flow.json")
    for number in range(count):
        thread = f"résumé {number:03}"
        with closing(NativeStore(folder / "store.sqlite", read_only=False)) as store:
            known = store.runs(thread)
            if not known:
                ref = Ref(thread, "", new_id(-1))
                given = {"name": f"n{number}", "text": "x" * number}
                first = NewCheckpoint(ref, None, given, "input", step=-1, next=(workflow.start,))
                known = (store.create_run(Run(f"run {number}", thread, workflow.hash), first),)
        if known[0].status not in (RunStatus.WAITING, RunStatus.COMPLETED):
            run_here(WorkflowJob(str(folder / "store.sqlite"), known[0].run_id), StopFlag(), lambda _event: None)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("count", "kills"), [(12, 10), pytest.param(100, 10, marks=pytest.mark.soak)])
def test_each_resume_is_scored_once_however_often_the_batch_is_killed(place: Path, count: int, kills: int) -> None:
    (place / "resume_nodes.py").write_text(NODES)
    (place / "flow.json").write_text(json.dumps(FLOW))
    create_native(place / "store.sqlite")
    with closing(NativeStore(place / "store.sqlite", read_only=False)) as store:
        store.put_definition(load_workflow(place / "flow.json").definition())
    chance, killed = random.Random(count), 0
    while True:
        env = {}
        if killed < kills:  # somewhere in the next part of the batch, so that every kill meets one that is at work
            at = f"{chance.choice(NAMES)}#{chance.randint(1, max(count // kills, 1))}"
            points = place / f"points {killed}"
            env = {"TT_DEBUG_POINTS": str(points), "TT_DEBUG_KILL_AT": at}
        code = forked(lambda: screen_all(place, count), env)
        if code != KILLED:
            assert code == 0
            break
        killed += 1
    assert killed == kills
    check(place, count)


def check(place: Path, count: int) -> None:
    received = Counter(line.split()[0] for line in (place / "scores.txt").read_text().splitlines())
    session = Session.open(str(place / "store.sqlite"), read_only=True)
    scored = [placed.use.effect for placed in session.executor.effects() if placed.use.effect.slot.name == "score"]
    done = {effect.key: effect for effect in scored}
    assert {effect.status for effect in done.values()} == {"done"}
    assert len(done) == len(received) == count
    assert Counter(effect.thread for effect in done.values()).most_common(1)[0][1] == 1
    assert session.executor.duplicates() == ()
    infos = session.threads()
    assert {info.status for info in infos} == {"waiting"}
    assert len(infos) == count
    states = [session.load(info.head).state for info in infos if info.head is not None]
    assert all(state["score"] == len(state["skills"]) for state in states)
    assert [info.step for info in infos] == [3] * count
    session.close()
