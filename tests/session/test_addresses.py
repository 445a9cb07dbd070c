"""Every way to name a checkpoint, and what is said when none fits."""

from __future__ import annotations

import pytest

from tt_debug.errors import RefNotFound
from tt_debug.session.session import Session


def _step(session: Session, text: str) -> int | None:
    return session.load(session.resolve(text)).header.step


def test_a_thread_alone_means_its_head(native: Session) -> None:
    assert _step(native, "trip-planner") == 21
    assert native.resolve("trip-planner@head") == native.resolve("trip-planner")


@pytest.mark.parametrize(
    ("text", "step"), [("@15", 15), ("@-1", -1), ("@0", 0), ("@~2", 19), ("@~0", 21), ("@step:15", 15)]
)
def test_steps_and_distances(native: Session, langgraph: Session, text: str, step: int) -> None:
    assert _step(native, f"trip-planner{text}") == step
    assert _step(langgraph, f"trip-kyoto{text}") == step


def test_ids_and_unique_beginnings(native: Session) -> None:
    ref = native.resolve("trip-planner@15")
    assert native.resolve(f"trip-planner@{ref.id}") == ref
    assert native.resolve(f"trip-planner@id:{ref.id}") == ref
    others = [other.id for other in native.open_thread("trip-planner").headers if other != ref]
    shortest = next(n for n in range(4, 37) if not any(other.startswith(ref.id[:n]) for other in others))
    assert native.resolve(f"trip-planner@{ref.id[:shortest]}") == ref


def test_a_beginning_that_fits_several_is_refused_with_some_of_them(native: Session) -> None:
    ids = [ref.id for ref in native.open_thread("trip-planner").headers]
    common = next(ids[0][:n] for n in range(8, 3, -1) if sum(other.startswith(ids[0][:n]) for other in ids) > 1)
    with pytest.raises(RefNotFound, match=r"fits \d+ checkpoints"):
        native.resolve(f"trip-planner@id:{common}")


def test_failed_is_the_row_that_holds_the_error_and_the_step_it_never_reached(native: Session) -> None:
    failed = native.resolve("quote-8@failed")
    header = native.load(failed).header
    assert header.status == "failed"
    assert header.step is not None
    assert native.resolve(f"quote-8@{header.step + 1}") == failed


def test_an_existing_thread_of_the_whole_name_wins_over_the_split(native: Session) -> None:
    fork = native.fork(native.resolve("trip-planner@15"), "trip-planner@3")
    assert native.resolve("trip-planner@3").thread == "trip-planner@3"
    assert native.resolve("trip-planner@3@head") == fork.ref
    assert _step(native, "trip-planner@step:3") == 3


def test_a_forks_line_reaches_back_into_the_thread_it_came_from(native: Session) -> None:
    assert native.resolve("旅-奈良 🦌-budget@3").thread == "旅-奈良 🦌"
    assert native.resolve("旅-奈良 🦌-budget@18").thread == "旅-奈良 🦌-budget"


@pytest.mark.parametrize(
    "text",
    ["nobody", "nobody@3", "trip-planner@99", "trip-planner@zzz", "trip-planner@~99", "trip-planner@mark:a", "@", ""],
)
def test_what_is_not_there_is_said(native: Session, text: str) -> None:
    with pytest.raises(RefNotFound) as caught:
        native.resolve(text)
    assert caught.value.hint
