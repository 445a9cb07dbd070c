"""A deterministic, offline example of everything: a native store and one written by LangGraph.

Both files were written by running the workflows beside them (`tests/build_demo.py`) and are unpacked, not made, here.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import zstandard

from stores.places import state_folder

FILES = Path(__file__).parent / "files"
CODE = ("trip.yaml", "offer.yaml", "quote.yaml", "trip_nodes.py", "trip_graph.py")


@dataclass(frozen=True, slots=True)
class DemoFiles:
    """Where the example lies. ``graph`` is what ``--graph`` takes for the LangGraph file."""

    native: Path
    langgraph: Path
    graph: str


def default_folder() -> Path:
    """Where the example is put when no folder is named."""
    return state_folder() / "demo"


def prepare(folder: Path | None = None, reset: bool = False) -> DemoFiles:
    """Put the example into ``folder``; what is there already is kept, unless ``reset``. Raises OSError."""
    place = (folder or default_folder()).absolute()
    place.mkdir(parents=True, exist_ok=True)
    files = DemoFiles(place / "trip.db", place / "trip-langgraph.db", f"{place / 'trip_graph.py'}:graph")
    for name in CODE:
        if reset or not (place / name).exists():
            shutil.copyfile(FILES / name, place / name)
    if reset or not files.native.exists():
        _unpack("trip_native.sqlite.zst", files.native)
        _point_at_code(files.native, place)
    if reset or not files.langgraph.exists():
        _unpack("trip_langgraph.sqlite.zst", files.langgraph)
    return files


def _unpack(packed: str, target: Path) -> None:
    """A finished file or none: what stood there goes only when the new one is complete."""
    fresh = target.with_name(f".{target.name}.new")
    fresh.write_bytes(zstandard.ZstdDecompressor().decompress((FILES / packed).read_bytes()))
    for rest in ("-wal", "-shm"):
        Path(f"{target}{rest}").unlink(missing_ok=True)
    fresh.replace(target)


def _point_at_code(native: Path, place: Path) -> None:
    """The packed file names no folder: here is where its workflows' functions lie."""
    with closing(sqlite3.connect(native)) as db, db:
        for name in ("trip", "offer", "quote"):
            db.execute("UPDATE definitions SET origin = ? WHERE workflow_id = ?", (str(place / f"{name}.yaml"), name))
