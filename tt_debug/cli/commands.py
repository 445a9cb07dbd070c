"""Which commands there are, in which order and groups, and where each is found. Imports none of them."""

from __future__ import annotations

import importlib
import keyword

import click

SECTIONS: dict[str, dict[str, str]] = {
    "Look": {
        "threads": "looking",
        "log": "looking",
        "show": "looking",
        "diff": "looking",
        "history": "asking",
        "find": "asking",
        "grep": "asking",
        "tail": "tailing",
        "mark": "marking",
        "marks": "marking",
        "pick": "picking",
        "runs": "inbox",
        "effects": "effects",
        "approvals": "inbox",
        "inbox": "deciding",
    },
    "Write": {
        "fork": "writing",
        "edit": "writing",
        "answer": "inbox",
        "approve": "inbox",
        "reject": "inbox",
        "resolve": "deciding",
    },
    "Run": {
        "run": "running",
        "resume": "running",
        "replay": "running",
        "pause": "inbox",
        "cancel": "inbox",
        "break": "breaking",
        "retry": "deciding",
        "recover": "recovering",
        "worker": "recovering",
    },
    "Store": {
        "export": "moving",
        "import": "moving",
        "serve": "serving",
        "protect": "deciding",
        "stats": "figuring",
        "mcp": "serving",
        "doctor": "doctor",
        "demo": "trying",
    },
}


def names() -> list[str]:
    """Every command, in the order of the help."""
    return [name for section in SECTIONS.values() for name in section]


def load(name: str) -> click.Command | None:
    """The command of that name, its module imported now; None where there is none."""
    for section in SECTIONS.values():
        if name in section:
            attribute = f"{name}_" if keyword.iskeyword(name) else name
            command = getattr(importlib.import_module(f"tt_debug.cli.{section[name]}"), attribute)
            if not isinstance(command, click.Command):
                raise TypeError(f"{name} in tt_debug.cli.{section[name]} is not a command")
            return command
    return None
