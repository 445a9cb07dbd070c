"""Changes that change nothing: a form that was saved as it was, a value set to what it is."""

from __future__ import annotations

import pytest

from stores.model import Change
from tt_debug.errors import UsageError
from tt_debug.session.session import Session


@pytest.mark.parametrize("store", ["native", "langgraph"])
def test_they_are_no_edit_and_a_fork_takes_them_for_none(store: str, request: pytest.FixtureRequest) -> None:
    session: Session = request.getfixturevalue(store)
    thread = "trip-planner" if store == "native" else "trip-kyoto"
    head = session.resolve(thread)
    nights = session.load(head).state["nights"]
    idle = (Change("change", ("nights",), nights, nights),)
    with pytest.raises(UsageError, match="without a change"):
        session.edit(head, idle)
    assert session.resolve(thread) == head
    there_and_back = (Change("add", ("log", 0), new="x"), Change("remove", ("log", 0), "x"))
    base = session.resolve(f"{thread}@15")
    fork = session.fork(base, "fork", idle if store == "native" else there_and_back)
    assert session.diff(fork.ref, base) == ()
    assert session.load(fork.ref).state == session.load(base).state
    if store == "langgraph":
        assert fork.ref.id == base.id  # a copy, with no row of its own on top
    if store == "langgraph":  # the workflow's schema wants an integer
        assert session.edit(fork.ref, (Change("change", ("nights",), nights, float(nights)),)).ref != fork.ref
