"""What ``tt-debug --help`` says. A text and not click's, so that asking for help imports no command line parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tt_debug.cli import commands

WORDS: Final = ("-h", "--help")

_ABOUT: Final = """\
Usage: tt-debug [STORE] [--graph G | --workflow FILE] [--read-only] [--ascii]
       tt-debug COMMAND STORE …

  A time-travel debugger for agent checkpoints.

  A first word that is no command is a STORE: it opens in the interface.
  Without any word the stores of this folder are offered.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.
"""
_WORDS_OF_COMMANDS: Final = """\
  STORE   a file, sqlite:///FILE, or any table by its columns:
          sqlite:///app.db?table=T&thread=C&id=C&parent=C&state=C
  REF     THREAD[@SELECTOR]: @head, @~2 (two before the head), @15 (a step),
          @failed, an id or its beginning; id: and step: force a kind
  PATH    plan.steps[2]["odd.key"], or /plan/steps/2
  exits   0 ok  1 the run failed  2 usage  3 not found or unreadable
          4 conflict  5 waiting, paused or held  6 needs --yes  7 read-only
          10 differences  130 interrupted
"""


def lines() -> Iterator[str]:
    """In at most 80 columns."""
    yield from _ABOUT.splitlines()
    for title, section in commands.SECTIONS.items():
        yield ""
        yield f"{title}:"
        width = max(map(len, section))
        yield from (f"  {name:<{width}}  {place.help}" for name, place in section.items())
    yield ""
    yield from _WORDS_OF_COMMANDS.splitlines()
