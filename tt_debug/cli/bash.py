"""Bash's way of asking for completions, where click's own does not know a REF for one word."""

from __future__ import annotations

import os
import re
from typing import Any, Final

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

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
