"""Whose effects the runs of a LangGraph thread have."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from stores import open_store
from tests.stores.handmade import Row, handmade, uuid
from tt_debug.session.graph_scopes import business_id_of
from tt_debug.session.journal import Journal
from tt_debug.session.session import Session


def scopes(path: Path, *threads: str) -> list[str]:
    with closing(open_store(str(path))) as store:
        return [business_id_of(store, Journal(store.info.store_id), thread) for thread in threads]


def line(first: int) -> list[Row]:
    ids = [uuid(first + n, n) for n in range(3)]
    return [Row(at, ids[n - 1] if n else None, step=n) for n, at in enumerate(ids)]


def test_a_fork_shares_the_effects_of_its_original_unless_it_was_to_have_its_own(tmp_path: Path) -> None:
    path = handmade(tmp_path / "lg.sqlite", line(1))
    with closing(Session.open(str(path))) as session:
        base = session.open_thread("t").head
        session.fork(base, "plain")
        session.fork(base, "own", fresh_effects=True)
    original, plain, own = scopes(path, "t", "plain", "own")
    assert plain == original
    assert own != original


def test_a_file_begun_anew_at_the_same_place_shares_no_effect_with_the_one_before(tmp_path: Path) -> None:
    path = handmade(tmp_path / "lg.sqlite", line(1))
    before = scopes(path, "t")
    path.unlink()
    handmade(path, line(100))
    assert scopes(path, "t") != before
