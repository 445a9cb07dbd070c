"""The measuring itself: no time is judged here."""

from __future__ import annotations

import hashlib
import sqlite3
import statistics
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from stores.registry import open_store
from tests.bench import data, native_data, postgres_data
from tests.bench.cases import cases
from tests.bench.growth import curves
from tests.bench.harness import Amount, Case, Figure, Result, Work, measure, median
from tests.bench.soak import walk
from tests.bench.works import asking


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_BENCH_DATA", str(tmp_path))
    return tmp_path


def counting(by: int) -> Callable[[], object]:
    """Something to do."""
    return lambda: sum(range(by))


def test_each_side_does_its_rounds_in_a_process_of_its_own() -> None:
    work = Work("tests.bench.test_bench:counting", {"by": 10})
    result = measure(Case("count", "counting", work, work, work, {"ours/floor": 0}, rounds=3))
    assert set(result.figures) == {"ours", "peer", "floor"}
    assert all(len(figure.rounds) == 3 and figure.value > 0 for figure in result.figures.values())
    assert result.missed


def weighing(by: int) -> Callable[[], object]:
    """Something that measures itself."""
    return lambda: Amount(by, "bytes")


def test_a_round_may_measure_itself() -> None:
    sides = [Work("tests.bench.test_bench:weighing", {"by": by}) for by in (3, 6)]
    result = measure(Case("weigh", "weighing", *sides, rounds=1))
    assert {name: (figure.value, figure.unit) for name, figure in result.figures.items()} == {
        "ours": (3, "bytes"),
        "peer": (6, "bytes"),
    }
    assert result.ratios == {"peer/ours": 2}


@pytest.mark.parametrize(("seconds", "least"), [(0.0, 1), (0.001, 2)])
def test_quick_work_is_done_again_and_its_median_counts(seconds: float, least: int) -> None:
    done: list[int] = []

    def work() -> Amount:
        done.append(len(done))
        return Amount(done[-1], "times")

    amount = median(work, seconds)
    assert len(done) >= least
    assert amount == Amount(statistics.median(done), "times")


def test_a_side_that_fails_is_no_figure() -> None:
    with pytest.raises(RuntimeError, match="ended in the middle"):
        measure(Case("none", "nothing of the name", Work("tests.bench.test_bench:missing")))


def test_ratios_are_told_against_their_targets() -> None:
    figures = {name: Figure(seconds, (seconds,), 0) for name, seconds in (("ours", 2), ("peer", 8), ("floor", 1))}
    work = Work("no:matter")
    met = Result(Case("x", "x", work, targets={"ours/floor": 2, "peer/ours": 4, "peak": 0}), figures)
    assert met.ratios == {"ours/floor": 2, "peer/ours": 4}
    assert met.missed == []
    missed = Result(Case("x", "x", work, targets={"ours/floor": 1.5, "peer/ours": 5}), figures)
    assert missed.missed == ["ours/floor 2, wanted ≤ 1.5", "peer/ours 4, wanted ≥ 5"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel tells what a process holds")
def test_a_walk_tells_how_far_it_came_and_what_it_holds(folder: Path) -> None:
    told = list(walk(data.talk(5), 0.05, 0))
    assert [looked for _, looked, _ in told] == sorted(looked for _, looked, _ in told)
    assert told[-1][1] > 0
    assert all(memory > 1 for *_, memory in told)


def test_growth_is_drawn_of_what_was_measured_at_several_lengths() -> None:
    def record(metric: str, seconds: float) -> dict[str, object]:
        return {"metric": metric, "figures": {"ours": {"value": seconds, "unit": "s"}}}

    found = curves([record("graph-10k", 2), record("graph-1k", 1), record("open-1k", 1), record("diff-append", 1)])
    assert found == {"graph": {"ours": [(1_000, 1), (10_000, 2)]}}


def test_the_data_is_the_same_for_everybody_and_stock_langgraph_reads_it(folder: Path) -> None:
    path = data.linear(60)
    once = hashlib.sha256(path.read_bytes()).digest()
    path.unlink()
    assert hashlib.sha256(data.linear(60).read_bytes()).digest() == once
    with closing(sqlite3.connect(path, check_same_thread=False)) as db:
        listed = list(SqliteSaver(db).list({"configurable": {"thread_id": "agent"}}))
    assert len(listed) == 60
    assert listed[0].checkpoint["channel_values"]["count"] == 59
    assert listed[0].metadata["step"] == 58 - 1


def test_our_store_sees_its_shapes(folder: Path) -> None:
    store = open_store(str(data.linear(110)))
    headers = store.headers("agent").items
    children = [header.parent for header in headers if header.parent]
    assert len(headers) == 110
    assert len(children) - len(set(children)) == 2  # a side branch every 50
    store.close()
    store = open_store(str(data.crowd(5, 3)))
    assert [info.checkpoints for info in store.threads().items] == [3] * 5
    store.close()
    store = open_store(str(data.chat(4)))
    newest = store.load(store.head("chat"))
    assert [len(message["content"]) for message in newest.state["messages"]] == [1000] * 4
    store.close()


def test_questions_of_native_data_answer(folder: Path) -> None:
    where = {"path": str(native_data.linear(30)), "thread": native_data.THREAD}
    assert asking.native_floor(**where)() == 30 * 4
    assert [len(asking.history_ours(**where, key=key)()) for key in ("nothing", "phase", "count")] == [0, 2, 30]
    assert len(asking.find_ours(**where, expression="count > `26`")()) == 3
    assert len(asking.grep_ours(**where, text="review")()) == 1


def test_every_case_names_works_that_are_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import import_module

    for name in ("linear", "chat", "talk"):
        monkeypatch.setattr(data, name, lambda count: folder / "none")
    monkeypatch.setattr(data, "crowd", lambda threads, each: folder / "none")
    monkeypatch.setattr(native_data, "linear", lambda count: folder / "none")
    monkeypatch.setattr(postgres_data, "linear", lambda count: "postgresql:///none")
    assert not any(case.peer for case in cases(1_000_000) if case.id in ("graph-1M", "graph-again-1M"))
    assert {case.rounds for case in cases(1_000_000) if case.id.startswith("history-native-count-")} == {1, 3}
    found = list(cases(1_000))
    assert len({case.id for case in found}) == len(found) > 8
    for case in found:
        for work in filter(None, (case.ours, case.peer, case.floor)):
            module, _, name = work.setup.partition(":")
            assert callable(getattr(import_module(module), name))
