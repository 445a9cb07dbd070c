"""What a shell proposes behind the name of a store: threads, checkpoints, open questions.

Owns the proposals and bash's way of asking for them; silent about every error, and it loads no state.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

from stores.errors import StoreError
from tt_debug.cli.front import Front, Wanted
from tt_debug.errors import DebuggerError
from tt_debug.text import safe_text

if TYPE_CHECKING:
    from tt_debug.session.session import Session

MOST: Final = 200
SHORTEST_ID: Final = 4
Found = Iterator[tuple[str, str]]


class StoreName(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases of click only
    """A store: a file's name, as far as a shell can complete it."""

    name = "STORE"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell."""
        return [CompletionItem(incomplete, type="file")]


class InStore(click.ParamType):  # type: ignore[type-arg]
    """A name of something in the store that stands before it on the line."""

    def __init__(self, name: str, find: Callable[[Session, str], Found]) -> None:
        self.name = name
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those that begin so, each with a word about it."""
        front, store = ctx.find_object(Front), ctx.params.get("store")
        # What cannot be shown was cut within a character.
        if front is None or not store or safe_text(incomplete) != incomplete:
            return []
        try:
            with front.session(Wanted(store, read_only=True)) as session:
                # A name that a shell or a terminal would take for something else is not proposed.
                found = (pair for pair in self._find(session, incomplete) if safe_text(pair[0]) == pair[0])
                return [CompletionItem(value, help=said) for value, said in islice(found, MOST)]
        except (StoreError, DebuggerError):
            return []


def threads(session: Session, start: str) -> Found:
    """Threads, newest write first."""
    for info in session.threads(text=start):
        if info.thread.startswith(start):
            yield info.thread, safe_text(" ".join(filter(None, (info.last_node, info.status))))


def refs(session: Session, start: str) -> Found:
    """Threads; behind a thread's ``@`` its checkpoints."""
    thread, at, selector = start.rpartition("@")
    if not at or not any(name == thread for name, _ in threads(session, thread)):
        yield from threads(session, start)
        return
    view = session.open_thread(thread)
    line = [view.headers[ref] for ref in reversed(view.line())]
    words = [("head", line[0].status)] if line else []
    words += [("failed", "the last that failed")] if any(header.status == "failed" for header in line) else []
    words += [
        (str(header.step), ", ".join(header.nodes) or header.source) for header in line if header.step is not None
    ]
    words += [(mark.name, mark.note or "bookmark") for mark in session.marks.all(thread)]
    if len(selector) >= SHORTEST_ID:
        words += [(ref.id, ", ".join(header.nodes) or header.source) for ref, header in view.headers.items()]
    for word, said in dict(words).items():
        if word.startswith(selector):
            yield f"{thread}@{word}", safe_text(said)


def questions(session: Session, start: str) -> Found:
    """Open questions by their ids, oldest first."""
    for asked in session.approvals():
        if asked.id.startswith(start):
            yield asked.id, safe_text(f"{asked.node} of {asked.thread}")


THREAD: Final = InStore("THREAD", threads)
REF: Final = InStore("REF", refs)
QUESTION: Final = InStore("ID", questions)

_BASH: Final = """\
%(complete_func)s() {
    local type value
    # The whole line, as bash parts THREAD@STEP into three words.
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_LINE="$COMP_LINE" COMP_POINT=$COMP_POINT COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1")
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
_OPEN_QUOTE: Final = re.compile(r"""^(?:[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*(['"])""")
_SPECIAL: Final = re.compile(r"([^\w@%+=:,./~-])")


class Bash(BashComplete):
    """Completion for bash that knows a REF for one word, and quotes what needs it."""

    name = "bash"
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is typed, and that."""
        if "COMP_LINE" not in os.environ:
            return super().get_completion_args()  # a shell that was told another way earlier
        line = _typed_line()
        words = split_arg_string(line)
        incomplete = words.pop() if words and not line[-1:].isspace() else ""
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """What bash is to put behind the last of its word breaks; an ``@`` among them it counts to the word."""
        value = str(item.value)
        if item.type != "plain":
            return f"{item.type},{value}"
        line = _typed_line()
        if _OPEN_QUOTE.match(line):
            return f"plain,{value}"
        _, incomplete = self.get_completion_args()
        marks = [mark for mark in os.environ.get("COMP_WORDBREAKS", "") if not mark.isspace()]
        start = max((incomplete.rfind(mark) + (mark != "@") for mark in marks), default=0)
        return "plain," + _SPECIAL.sub(r"\\\1", value[max(start, 0) :])


def _typed_line() -> str:
    """What stands before the cursor; bash counts it in characters."""
    line = os.environ.get("COMP_LINE", "")
    return line[: int(os.environ.get("COMP_POINT", len(line)))]


def prepare() -> None:
    """Answer bash in our own way."""
    add_completion_class(Bash)
