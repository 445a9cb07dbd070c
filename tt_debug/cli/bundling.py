"""A thread as one file for a bug report: its graph, every state, what each step changed, and the versions.

Owns what is in it, and that it is whole or not there. Secrets are hidden as everywhere else.
"""

from __future__ import annotations

import os
import platform
import re
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stores.errors import Conflict, StoreError, Unreachable
from tt_debug import __version__
from tt_debug.cli import listing, tables
from tt_debug.cli.output import json_text
from tt_debug.diff_text import format_diff
from tt_debug.redaction import Redaction
from tt_debug.session.hiding import hidden_changes
from tt_debug.text import safe_text

if TYPE_CHECKING:
    from stores.model import Header
    from tt_debug.session.session import Session

_LIBRARIES: Final = ("langgraph", "langgraph-checkpoint", "ormsgpack", "orjson", "textual")
_MADE: Final = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same thread, whenever it is written
_ABOUT: Final = """\
One thread of an agent's checkpoints, written by `tt-debug export --bundle`.

log.txt       the graph, oldest first
graph.mmd     the same for Mermaid
thread.jsonl  every checkpoint with its state, as `tt-debug export` writes it
diffs/        what each step changed
versions.txt  what it was written with

Values kept under names of secrets are hidden{unless}.
"""


def write_bundle(session: Session, thread: str, target: Path, hiding: Redaction, *, revealed: bool) -> None:
    """Write it. Raises Conflict for a file that exists, Unreachable where it cannot be written."""
    if target.exists():
        raise Conflict(f"{target} exists", hint="choose another name")
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, text in _parts(session, thread, hiding, revealed):
                bundle.writestr(zipfile.ZipInfo(name, _MADE), text, zipfile.ZIP_DEFLATED)
        os.link(unfinished, target)  # unlike a rename, it never takes the place of a file that came meanwhile
    except FileExistsError as error:
        raise Conflict(f"{target} exists", hint="choose another name") from error
    except OSError as error:
        raise Unreachable(f"{target} cannot be written: {error.strerror}", hint="choose another place") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _parts(session: Session, thread: str, hiding: Redaction, revealed: bool) -> Iterator[tuple[str, str]]:
    from tt_debug.graph import CheckpointGraph
    from tt_debug.graph_formats import WRITERS

    view = session.open_thread(thread)
    yield "README.txt", _ABOUT.format(unless=", except that --reveal was given" if revealed else "")
    yield "versions.txt", _lines(_versions(session))
    rows = view.rows(unfolded=None)
    yield "log.txt", _lines(map(safe_text, tables.graph_lines(view, rows, range(len(rows)))))
    yield "graph.mmd", _lines(WRITERS["mermaid"](CheckpointGraph(view.headers.values())))
    yield "thread.jsonl", _lines(map(json_text, session.export(thread, hiding)))
    for number, header in enumerate(map(view.headers.__getitem__, listing.everything(view))):
        yield f"diffs/{number:04}-{_file_name(header)}.txt", _lines(map(safe_text, _diff(session, header, hiding)))


def _versions(session: Session) -> Iterator[str]:
    info = session.info
    yield f"tt-debug {__version__}, Python {platform.python_version()}, {platform.system()}"
    yield f"store: {info.kind}, {', '.join(sorted(info.capabilities))}"
    yield from info.notices
    for name in _LIBRARIES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name}: not installed here"


def _diff(session: Session, header: Header, hiding: Redaction) -> list[str]:
    """What the step changed; of one that cannot be read, why."""
    who = ", ".join(header.nodes) or header.source
    title = f"step {'?' if header.step is None else header.step}  {who}  {header.ref.thread}@{header.ref.id}"
    try:
        after = session.load(header.ref).state
        before = session.load(header.parent).state if header.parent is not None else {}
        changes = hidden_changes(session.diff(header.ref), (before, after), hiding)
    except StoreError as error:
        return [title, f"cannot be read: {error}"]
    return [title, *format_diff(changes, before, after)]


def _file_name(header: Header) -> str:
    return re.sub(r"[^\w-]+", "_", "-".join(header.nodes) or header.source)[:60]


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
