"""Everything that can be done to runs, in any order, with crashes and takeovers anywhere: the store is as the model."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.crash.machine import COUNTED, Machine, RealMachine

pytestmark = pytest.mark.crash


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("machine", "examples", "steps"),
    [
        (Machine, 10, 30),
        (RealMachine, 4, 30),
        pytest.param(Machine, 400, 50, marks=pytest.mark.soak),
        pytest.param(RealMachine, 100, 50, marks=pytest.mark.soak),
    ],
)
def test_any_order_of_things_leaves_the_store_as_the_model(machine: type[Machine], examples: int, steps: int) -> None:
    bounded = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=examples < 100,
        database=None,
        phases=(Phase.generate,),  # what is met is told as it is: shrinking it takes minutes
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=bounded)
    print(f"{machine.__name__}: {examples} × {steps}: {dict(COUNTED)}")  # noqa: T201
    assert COUNTED["crashes"] > 0
