"""What a hint quotes is what a shell hands over."""

from __future__ import annotations

import subprocess

import pytest

from tt_debug.shell import argument, word

NAMES = (
    "trip",
    'it\'s "q"',
    "two\nlines",
    "\u202eabc",
    "\x1b[31mred\x07",
    "日本語 🦌",
    "$HOME `id` %s",
    "*",
    "a\\b",
    "",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_reads_back_what_was_quoted(name: str) -> None:
    quoted = word(name)
    assert quoted.isprintable()
    heard = subprocess.run(["bash", "-c", f"printf %s {quoted}"], capture_output=True, check=True).stdout
    assert heard.decode() == name


def test_a_name_that_begins_with_a_dash_is_no_option() -> None:
    assert argument("-x@1") == "-- -x@1"
    assert argument("x") == "x"
