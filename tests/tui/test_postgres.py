"""A PostgreSQL store in the interface: its connections may die and its server restart, and browsing goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stores import create_native, open_store
from stores.conformance import SAMPLE
from stores.model import Ref
from stores.protocol import Writer
from stores.registry import mask_password
from tests.postgres import SERVER, at, database, kill_ours, postgres_server, restart
from tests.tui.conftest import screen_text, settled, wait_for
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp

__all__ = ["database", "postgres_server"]

SECRET = "s3cr3t-word"


@pytest.fixture
def session(database: str) -> Iterator[Session]:
    """A session over the conformance sample, opened by a URL with a password."""
    create_native(database)
    store = open_store(database, read_only=False)
    assert isinstance(store, Writer)
    for new in SAMPLE:
        store.append(new)
    store.close()
    opened = Session.open(at(database, password=SECRET))
    yield opened
    opened.close()


def warned(app: TtDebugApp) -> list[str]:
    return [str(toast.message) for toast in app._notifications if "connection was lost" in str(toast.message)]


async def browse(session: Session, harm: Callable[[], object]) -> None:
    """Walk through a thread, with something done to the server on the way."""
    url = f"postgresql://me:{SECRET}@db/app"
    app = TtDebugApp([OpenStore(mask_password(url), "app", session, url)])
    assert SECRET not in repr(app.stores)
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot, app)
        screen: Any = app.show_thread(app.stores[0], "trip")

        def at_rest() -> bool:
            shown = screen.details is not None and screen.details.ref == screen.selected
            return shown and not app.loader.busy

        await wait_for(pilot, at_rest)
        assert warned(app) == []
        harm()
        for new in (SAMPLE[0], SAMPLE[3], SAMPLE[1]):
            screen.select_ref(Ref(*new.ref))
            await wait_for(pilot, lambda new=new: screen.selected == new.ref and at_rest())
            assert screen.details.state == new.state
        assert len(warned(app)) == 1
        assert not app.outages
        assert SECRET not in screen_text(app)
        await pilot.press("q")
        await settled(pilot, app)
        assert app.screen is not screen
        assert SECRET not in screen_text(app)


async def test_killed_connections_cost_one_notice(session: Session, database: str) -> None:
    await browse(session, lambda: kill_ours(database))


@pytest.mark.skipif(SERVER in os.environ, reason="the server is not ours to restart")
async def test_a_restarted_server_costs_one_notice(session: Session, postgres_server: str) -> None:
    await browse(session, lambda: restart(postgres_server))
