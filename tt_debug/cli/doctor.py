"""``doctor``: what this installation, this terminal and, when one is named, this store are good for."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import click

from stores.errors import StoreError
from tt_debug import __version__
from tt_debug.cli.completing import StoreName
from tt_debug.cli.exits import ExitCode, code_of, masked
from tt_debug.cli.front import Front, Wanted
from tt_debug.cli.options import Target, gathered, looking_options
from tt_debug.cli.output import Output

LIBRARIES = ("textual", "click", "orjson", "ormsgpack", "networkx", "deepdiff", "sqlite-utils", "pydantic", "zstandard")
OPTIONAL = ("langgraph", "langgraph-checkpoint-sqlite")
SMALLEST = (60, 12)
# The release that mends the WAL-reset bug: two connections, one writing while the other checkpoints, could lose pages.
WAL_MENDED = (3, 51, 3)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. ``level``: "ok", "warn" (something is less good), "bad" (something will not work)."""

    part: str
    level: Literal["ok", "warn", "bad"]
    what: str
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions(Target):
    """With or without a store."""

    store: str | None  # type: ignore[assignment]


@click.command(
    epilog="Completion of commands in your shell: "
    'eval "$(_TT_DEBUG_COMPLETE=bash_source tt-debug)"; zsh_source and fish_source likewise.'
)
@click.argument("store", metavar="[STORE]", required=False, type=StoreName())
@looking_options
@gathered(DoctorOptions)
def doctor(front: Front, options: DoctorOptions) -> ExitCode:
    """Check the terminal, the installation and a store."""
    output, code = Output(options.as_json), ExitCode.OK
    found = [*terminal(os.environ), *installation()]
    if options.store is not None:
        try:
            found += store(front, options.store)
        except StoreError as error:
            found.append(Finding("store", "bad", masked(str(error)), error.hint))
            code = code_of(error)
    if output.as_json:
        output.document("doctor", [_record(finding) for finding in found])
    else:
        output.text(line for finding in found for line in _lines(finding))
    return code


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


def _colours(environ: Mapping[str, str]) -> Finding:
    if environ.get("NO_COLOR"):
        return Finding("colours", "ok", "none, as NO_COLOR is set")
    term = environ.get("TERM", "")
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return Finding("colours", "ok", "16 million")
    if term in ("", "dumb"):
        return Finding("colours", "warn", f"unknown, as TERM is {term or 'not set'}", "set TERM, e.g. xterm-256color")
    count = "256" if "256" in term else "16"
    return Finding("colours", "ok", f"{count} ({term})", "COLORTERM=truecolor where your terminal can do more")


def _clipboard(environ: Mapping[str, str]) -> Finding:
    if "TMUX" in environ:
        return Finding("clipboard", "ok", "OSC 52 through tmux", "tmux passes it on with: set -g set-clipboard on")
    if "STY" in environ:
        return Finding("clipboard", "warn", "GNU screen drops OSC 52", "copy with the terminal's own selection (Shift)")
    return Finding("clipboard", "ok", "OSC 52", "some terminals must be told to allow it")


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
    for name in LIBRARIES:
        version = _version(name)
        if version is None:
            yield Finding("library", "bad", f"{name} is missing", "install tt-debug again")
        else:
            yield Finding("library", "ok", f"{name} {version}")
    for name in OPTIONAL:
        version = _version(name)
        yield Finding("library", "ok", f"{name} {version or 'is not installed'}", "" if version else _unneeded(name))


def _unneeded(name: str) -> str:
    return f"not needed to look; --python names an environment that has {name}"


def _version(name: str) -> str | None:
    from importlib import metadata  # 18 ms

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def store(front: Front, url: str) -> Iterator[Finding]:
    """What a store is and what may be done with it. Raises StoreError when it cannot be read."""
    with front.session(Wanted(url, read_only=True)) as session:
        info = session.info
        yield Finding("store", "ok", f"{info.kind} {info.url}")
        threads = session.threads()
        checkpoints = sum(thread.checkpoints for thread in threads)
        yield Finding("threads", "ok", f"{len(threads)} with {checkpoints} checkpoints")
        able = ", ".join(sorted(info.capabilities)) or "nothing but looking"
        yield Finding("abilities", "ok", able)
        for notice in info.notices:
            yield Finding("notice", "warn", notice)
    if info.path is not None:
        yield _rights(info.path)


def _rights(path: str) -> Finding:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.access(path, os.W_OK):
        return Finding("rights", "warn", "the file may only be read", "looking works; fork, edit and run do not")
    if not os.access(folder, os.W_OK):
        return Finding("rights", "warn", "the folder may only be read", "looking works; SQLite cannot write there")
    return Finding("rights", "ok", "read and write")


def _record(finding: Finding) -> dict[str, str]:
    return {"part": finding.part, "level": finding.level, "what": finding.what, "advice": finding.advice}


def _lines(finding: Finding) -> Iterator[str]:
    mark = {"ok": "✓", "warn": "!", "bad": "×"}[finding.level]
    yield f"{mark} {finding.part:<10} {finding.what}"
    if finding.advice:
        yield f"{'':<13}{finding.advice}"
