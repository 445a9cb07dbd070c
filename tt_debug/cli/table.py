"""The README's table of commands, made from the commands themselves: ``python -m tt_debug.cli.table README.md``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tt_debug.cli import commands
from tt_debug.cli.output import Output

BEGIN, END = "<!-- commands:begin -->", "<!-- commands:end -->"
# Every command on a store has these; the README says so once.
COMMON = frozenset({"--json", "--read-only", "--yes"})


def command_table() -> str:
    """A Markdown table, a section at a time."""
    lines = []
    for title, section in commands.SECTIONS.items():
        lines += ["", f"| {title} | |", "|---|---|"]
        for name in section:
            command = commands.load(name)
            assert command is not None
            lines.append(f"| `{_usage(name, command)}` | {command.get_short_help_str(100)} |")
    return "\n".join(lines[1:])


def with_table(readme: str) -> str:
    """The text with the part between the two marks replaced. Raises ValueError when a mark is missing."""
    start, end = readme.index(BEGIN) + len(BEGIN), readme.index(END)
    return f"{readme[:start]}\n{command_table()}\n{readme[end:]}"


def _usage(name: str, command: click.Command) -> str:
    arguments = [param.human_readable_name for param in command.params if isinstance(param, click.Argument)]
    options = [_option(param) for param in command.params if isinstance(param, click.Option) and not param.hidden]
    return " ".join([name, *arguments, *(text for text in options if text)])


def _option(option: click.Option) -> str:
    word = option.opts[0]
    if word in COMMON:
        return ""
    value = "" if option.is_flag else f" {option.metavar}"
    return f"[{word}{value}]{'…' if option.multiple else ''}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_table(file.read_text(encoding="utf-8")), encoding="utf-8")
    Output(as_json=False).text([f"{file}: the table of commands is true now"])
