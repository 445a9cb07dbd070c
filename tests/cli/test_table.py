"""The README tells the truth about the commands."""

from __future__ import annotations

from pathlib import Path

from tt_debug.cli import commands
from tt_debug.cli.table import command_table, with_table

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_is_true() -> None:
    """``python -m tt_debug.cli.table README.md`` mends it."""
    text = README.read_text(encoding="utf-8")
    assert with_table(text) == text


def test_every_command_is_in_it() -> None:
    for name in commands.names():
        assert f"| `{name} " in command_table()


def test_every_option_with_a_value_names_it() -> None:
    assert " None]" not in command_table()
