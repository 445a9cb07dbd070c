"""How a command ends: exit codes, and everything that is written to stderr.

The only writer to stderr. Refuses to know commands; errors are mapped by class, once, here.
"""

from __future__ import annotations

import contextlib
import re
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

import click

from stores import errors as store
from tt_debug import errors as debugger
from tt_debug.cells import safe_text

if TYPE_CHECKING:
    from pathlib import Path

URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*:/{1,2}[^\s'\"]+")


STORE = re.compile(r"\bSTORE\b")


class ExitCode(IntEnum):
    """What the caller's shell sees."""

    OK = 0
    RUN_FAILED = 1
    USAGE = 2
    NOT_FOUND = 3  # the store cannot be read, or the thing is not in it
    CONFLICT = 4  # the head moved, the target exists, the definition differs, not a head
    WAITING = 5  # waiting, paused or held
    NEEDS_YES = 6  # the plan was printed, nothing ran
    READ_ONLY = 7
    DIFFERENCES = 10
    BUG = 70  # EX_SOFTWARE of sysexits.h: a fault of ours, not one of the above
    INTERRUPTED = 130


class NeedsYes(debugger.DebuggerError):
    """Code would run, nobody can be asked, and ``--yes`` was not given."""


# The first class that fits decides, so a subclass stands before its base.
CODES: tuple[tuple[type[Exception], ExitCode], ...] = (
    (NeedsYes, ExitCode.NEEDS_YES),
    (click.ClickException, ExitCode.USAGE),
    (debugger.UsageError, ExitCode.USAGE),
    (store.Invalid, ExitCode.USAGE),
    (store.ReadOnly, ExitCode.READ_ONLY),
    (store.Conflict, ExitCode.CONFLICT),
    (store.Busy, ExitCode.CONFLICT),
    (debugger.NotAHead, ExitCode.CONFLICT),
    (debugger.DefinitionChanged, ExitCode.CONFLICT),
    (debugger.Untrusted, ExitCode.CONFLICT),
    (debugger.WaitingForAnswer, ExitCode.WAITING),
    (debugger.ChildFailed, ExitCode.RUN_FAILED),
    (debugger.DebuggerError, ExitCode.NOT_FOUND),
    (store.StoreError, ExitCode.NOT_FOUND),
)


def code_of(error: Exception) -> ExitCode:
    """The exit code for an error that was raised on purpose."""
    return next((code for kind, code in CODES if isinstance(error, kind)), ExitCode.BUG)


def ended(error: BaseException, store: str) -> ExitCode:
    """Say how a command line ended that an error ended; ``store`` is the one it names."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        narrate("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, Exception) and code_of(error) is not ExitCode.BUG:
        return report(error, store)
    return report_bug(error)


def report(error: Exception, store: str = "STORE") -> ExitCode:
    """Say what went wrong and what to do next; answers the exit code.

    Hints name a store as STORE, as they come from where its name is not known; ``store`` is put there.
    """
    from tt_debug.shell import word

    hint = STORE.sub(lambda _: word(masked(store)), _hint(error)) if store != "STORE" else _hint(error)
    _complain(what=_sentence(error), details=_details(error), hint=hint)
    return code_of(error)


def report_bug(error: BaseException) -> ExitCode:
    """Keep the traceback of an error nobody foresaw in our log file, and say where it is."""
    import traceback

    from stores.places import state_folder

    trace = "".join(traceback.format_exception(error))
    shown: tuple[str, ...] = ()
    path = state_folder() / "crash.log"
    try:
        _append(path, masked(trace))
        hint = f"this is a fault of tt-debug; its traceback is in {path}"
    except OSError as reason:
        hint = f"this is a fault of tt-debug; its traceback could not be kept: {reason}"
        shown = tuple(trace.splitlines())
    _complain(what=f"{type(error).__name__}: {error}", details=shown, hint=hint)
    return ExitCode.BUG


def narrate(*lines: str) -> None:
    """Lines for the person at the terminal, each one line whatever names stand in it."""
    write("".join(f"{safe_text(masked(line))}\n" for line in lines))


def ask(question: str) -> bool:
    """Yes or no from the terminal; no is the default. Ctrl-C and the end of input raise `click.Abort`."""
    return click.confirm(safe_text(masked(question)), default=False, err=True)


def masked(text: str) -> str:
    """``text`` with the password of every URL and connection string in it hidden."""
    if ":/" not in text and "password" not in text.lower():
        return text
    from stores.urls import mask_keywords, mask_password  # most messages hold no URL

    return mask_keywords(URL.sub(lambda found: mask_password(found.group()), text))


def write(text: str) -> None:
    """Write to stderr as it is. One that takes nothing (reader gone, disk full) is no error: nobody could be told."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _complain(what: str, details: tuple[str, ...], hint: str) -> None:
    lines = [f"tt-debug: error: {safe_text(masked(what))}", *(f"  {safe_text(masked(line))}" for line in details)]
    if hint:
        lines.append(f"hint: {safe_text(masked(hint))}")
    write("\n".join(lines) + "\n")


def _sentence(error: Exception) -> str:
    text = error.format_message() if isinstance(error, click.ClickException) else str(error)
    first = " ".join(text.split("\n"))
    return first[:-1] if first.endswith(".") and not first.endswith("..") else first


def _details(error: Exception) -> tuple[str, ...]:
    if isinstance(error, debugger.DefinitionChanged):
        return error.differences
    # Of a definition, or of a file of inputs.
    return tuple(getattr(error, "problems", ()))


def _hint(error: Exception) -> str:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.ctx.command_path} --help"
    return str(getattr(error, "hint", ""))


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
        log.write(safe_text(text, newlines=True))
