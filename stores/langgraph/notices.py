"""Sentences about a store as a whole that both databases need.

Owns their words; refuses to look for what they tell of: `stores.langgraph.sqlite_survey`, `…postgres_survey`.
"""

from __future__ import annotations

from typing import Final

from stores.codec.aes import KEY_VARIABLE, Seal

_IN_THE_CLEAR: Final = "the names of threads, nodes and channels, and all metadata, lie in the store in clear text"


def sealed_notice(seal: Seal | None, key_problem: str | None, *, told: bool) -> str:
    """Of encrypted values. ``key_problem`` is why a key fails, ``told`` that metadata tells what nodes wrote."""
    clear = f"{_IN_THE_CLEAR}{', and there also what nodes wrote' if told else ''}."
    if seal is not None:
        return f"Values are encrypted, and shown by the key in {KEY_VARIABLE}; {clear}"
    if key_problem:
        return f"Values are encrypted, and stay closed: {key_problem}; {clear}"
    return f"Values are encrypted: set {KEY_VARIABLE} to read them; {clear}"


def checkpoints(count: int, one: str, many: str) -> str:
    """So many checkpoints, and the verb that goes with them."""
    return f"1 checkpoint {one}" if count == 1 else f"{count} checkpoints {many}"
