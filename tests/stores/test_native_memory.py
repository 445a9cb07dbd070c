"""The native store without a file passes the contract of one that has a file, runs included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.conformance import (
    SAMPLE,
    EffectsConformance,
    RunStoreConformance,
    StoreConformance,
    WriterConformance,
)
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.memory import MemoryRunStore
from stores.protocol import RunStore
from stores.runs import Run
from tests.engine.flows import bench, python
from tt_debug.engine.ownership import claimed, is_alive
from tt_debug.engine.runner import Runner
from tt_debug.engine.surroundings import Clock, Orders, StopFlag, Surroundings


@pytest.fixture
def sample() -> Iterator[MemoryRunStore]:
    with closing(MemoryRunStore()) as store:
        for new in SAMPLE:
            store.append(new)
        yield store


@pytest.fixture
def frozen(sample: MemoryRunStore) -> Iterator[MemoryRunStore]:
    with closing(sample.frozen()) as store:
        yield store


class TestMemoryRuns(StoreConformance, WriterConformance, RunStoreConformance, EffectsConformance):
    pass


def test_a_workflow_runs_in_it(sample: MemoryRunStore, tmp_path: Path) -> None:
    workflow = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)]).workflow
    assert isinstance(sample, RunStore)
    sample.put_definition(workflow.definition())
    first = NewCheckpoint(Ref("t", "", new_id(-1)), None, {}, "input", step=-1, next=("a",))
    sample.create_run(Run("r", "t", workflow.hash), first)
    with claimed(sample, sample.run("r")) as mine:
        assert is_alive(sample, sample.run("r"))
        around = Surroundings(sample, lambda event: None, StopFlag(), Clock(sample.time()))
        assert Runner(mine, workflow, Orders(), around).go().status == "done"
    assert sample.load(sample.head("t")).state == {"trail": ["a1", "b1"]}
    assert [step.status for step in sample.steps("r")] == ["completed", "completed"]
