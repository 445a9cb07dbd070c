"""What this terminal, this installation and the user's own files are good for: the first part of ``doctor``."""

from __future__ import annotations

import locale
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from stores.places import state_folder
from stores.postgres_address import named_by
from tt_debug import __version__, config
from tt_debug.cli.findings import Finding
from tt_debug.errors import UsageError

LIBRARIES: Final = (
    *("textual", "click", "orjson", "ormsgpack", "networkx", "deepdiff", "sqlite-utils", "pydantic", "zstandard"),
    "tree-sitter",
)
OPTIONAL: Final[Mapping[str, str]] = {
    **dict.fromkeys(("langgraph", "langgraph-checkpoint-sqlite"), "--python names an environment that has it"),
    "psycopg": "only PostgreSQL needs it: pip install 'tt-debug[postgres]'",
}
# Name → (first release that is known to fail, why).
FAILING: Final[Mapping[str, tuple[tuple[int, ...], str]]] = {
    "textual": ((9,), "the interface is made for 8"),
    "tree-sitter": ((0, 26), "from 0.26 on it crashes the interpreter where JSON is edited"),
}
SMALLEST: Final = (60, 12)
# The release that mends the WAL-reset bug: two connections, one writing while the other checkpoints, could lose pages.
WAL_MENDED: Final = (3, 51, 3)
KNOWN_SETTINGS: Final = frozenset({"redact"})


def terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    """What the UI would meet."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        size = shutil.get_terminal_size()
        small = size.columns < SMALLEST[0] or size.lines < SMALLEST[1]
        advice = f"the interface needs {SMALLEST[0]}×{SMALLEST[1]}" if small else ""
        yield Finding("terminal", "warn" if small else "ok", f"{size.columns}×{size.lines}", advice)
    else:
        yield Finding("terminal", "warn", "none", "the interface cannot open here; every command works")
    yield _colours(environ)
    encoding = locale.getpreferredencoding(False)
    if encoding.lower().replace("-", "") == "utf8":
        yield Finding("text", "ok", "UTF-8")
    else:
        yield Finding("text", "warn", encoding, "set LANG to a UTF-8 locale, or lines and CJK look broken")
    yield _clipboard(environ)
    yield _editor(environ)


def _colours(environ: Mapping[str, str]) -> Finding:
    if environ.get("NO_COLOR"):
        return Finding("colours", "ok", "none, as NO_COLOR is set")
    term = environ.get("TERM", "")
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return Finding("colours", "ok", "16 million")
    if term in ("", "dumb"):
        return Finding("colours", "warn", f"unknown, as TERM is {term or 'not set'}", "set TERM, e.g. xterm-256color")
    count = "256" if "256" in term else "16"
    if environ.get("TERM_PROGRAM") == "Apple_Terminal":
        return Finding("colours", "ok", f"{count} ({term})", "Terminal.app can do no more before macOS 26")
    return Finding("colours", "ok", f"{count} ({term})", "COLORTERM=truecolor where your terminal can do more")


def _clipboard(environ: Mapping[str, str]) -> Finding:
    by_hand = "copy with the terminal's own selection (Shift)"
    if "TMUX" in environ:
        return Finding("clipboard", "ok", "OSC 52 through tmux", "tmux passes it on with: set -g set-clipboard on")
    if "STY" in environ:
        return Finding("clipboard", "warn", "GNU screen drops OSC 52", by_hand)
    if environ.get("TERM_PROGRAM") == "Apple_Terminal":
        return Finding("clipboard", "warn", "Terminal.app does not know OSC 52", by_hand)
    if "VTE_VERSION" in environ:
        return Finding("clipboard", "warn", "terminals on VTE (GNOME, Xfce) do not know OSC 52", by_hand)
    return Finding("clipboard", "ok", "OSC 52", "some terminals must be told to allow it")


def _editor(environ: Mapping[str, str]) -> Finding:
    chosen = environ.get("VISUAL") or environ.get("EDITOR")
    if not chosen:
        return Finding("editor", "ok", "none chosen", "VISUAL or EDITOR names the one that edits large values")
    try:
        program = shlex.split(chosen)[0]
    except (ValueError, IndexError):
        program = chosen
    if shutil.which(program) is None:
        return Finding("editor", "warn", f"{chosen} is not there", "set VISUAL or EDITOR to a program on the path")
    return Finding("editor", "ok", chosen)


def installation() -> Iterator[Finding]:
    """Python, SQLite and the libraries."""
    import sqlite3  # deferred, as the help imports this module: 10 ms

    yield Finding("tt-debug", "ok", __version__)
    yield Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")
    old = sqlite3.sqlite_version_info < WAL_MENDED
    yield Finding(
        "sqlite",
        "warn" if old else "ok",
        sqlite3.sqlite_version,
        "before 3.51.3 two writers could reset a WAL under each other and corrupt the file; tt-debug holds a lock of "
        "its own around each of its writes, so several of it are safe; other writers of that file need the newer SQLite"
        if old
        else "",
    )
    other = next((name for name in ("pysqlite3", "pysqlite3-binary") if _version(name)), None)
    if other is not None:
        yield Finding("sqlite", "bad", f"{other} is a second SQLite library", "it breaks file locks: uninstall it")
    for name in LIBRARIES:
        yield _library(name, _version(name))
    for name, remedy in OPTIONAL.items():
        version = _version(name)
        advice = "" if version else f"not needed to look at files; {remedy}"
        yield Finding("library", "ok", f"{name} {version or 'is not installed'}", advice)


def _library(name: str, version: str | None) -> Finding:
    if version is None:
        return Finding("library", "bad", f"{name} is missing", "install tt-debug again")
    first, why = FAILING.get(name, ((), ""))
    if first and _numbers(version) >= first:
        return Finding("library", "bad", f"{name} {version}: {why}", "install tt-debug again")
    return Finding("library", "ok", f"{name} {version}")


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts[: next((at for at, p in enumerate(parts) if not p.isdigit()), len(parts))])


def _version(name: str) -> str | None:
    from importlib import metadata  # 18 ms

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def configured(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The stores that the environment names; their passwords are not shown."""
    from stores.urls import mask_password

    if url := environ.get("TT_DEBUG_STORE"):
        yield Finding("store", "ok", f"TT_DEBUG_STORE names {mask_password(url)}", "`tt-debug` alone offers it")
    if place := named_by(environ):
        yield Finding("store", "ok", f"the PG* variables name {place}", "it opens as postgresql://")


def own_files() -> Iterator[Finding]:
    """The user's settings, and where we keep what is ours."""
    file = config.config_file()
    try:
        found = config.settings()
        config.hiding()
    except UsageError as error:
        yield Finding("settings", "bad", str(error), error.hint)
    else:
        unknown = sorted(set(found) - KNOWN_SETTINGS)
        if unknown:
            yield Finding("settings", "warn", f"{file} has {', '.join(unknown)}, which nothing reads")
        else:
            yield Finding("settings", "ok", str(file) if file.exists() else f"none ({file} is not there)")
    yield _state(state_folder())
    log = state_folder() / "crash.log"
    if log.exists():
        when = datetime.fromtimestamp(log.stat().st_mtime, UTC)
        yield Finding("faults", "warn", f"{log}, last written {when:%Y-%m-%d %H:%M} UTC", "a report of it would help")


def _state(folder: Path) -> Finding:
    standing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(standing, os.W_OK):
        advice = "lineage of forks and answers cannot be kept: set TT_DEBUG_HOME to a folder of yours"
        return Finding("state", "bad", f"{folder} cannot be written", advice)
    return Finding("state", "ok", str(folder))
