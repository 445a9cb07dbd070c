"""Two texts as one, by words: what both have, what is gone, what has come."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

Piece = tuple[Literal["equal", "remove", "add"], str]

_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_ALIKE: Final = 0.4  # of the longer text's characters: with less in common two texts read better one after the other


def word_diff(old: str, new: str) -> list[Piece]:
    """The pieces of both texts in order. Joined again they give both exactly.

    Texts that have little in common come out as one removal and one addition.
    """
    from tt_debug.alignment import common_run  # brings orjson: 14 ms

    left, right = _WORDS.findall(old), _WORDS.findall(new)
    start = next((at for at, (x, y) in enumerate(zip(left, right, strict=False)) if x != y), min(len(left), len(right)))
    room = min(len(left), len(right)) - start
    backwards = zip(reversed(left), reversed(right), strict=False)
    end = min(room, next((at for at, (x, y) in enumerate(backwards) if x != y), room))
    numbers: dict[str, int] = {}
    middle = [
        [numbers.setdefault(word, len(numbers)) for word in words[start : len(words) - end]] for words in (left, right)
    ]
    kept = common_run(*middle) or []
    found: list[Piece] = [("equal", "".join(left[:start]))]
    x = y = start
    for next_x, next_y in [*((i + start, j + start) for i, j in kept), (len(left) - end, len(right) - end)]:
        found += [("remove", "".join(left[x:next_x])), ("add", "".join(right[y:next_y]))]
        found.append(("equal", "".join(left[next_x : next_x + 1])))
        x, y = next_x + 1, next_y + 1
    found[-1] = ("equal", "".join(left[len(left) - end :]))
    pieces = _joined(found)
    return pieces if _alike(pieces, old, new) else _joined([("remove", old), ("add", new)])


def reads_as_one(pieces: list[Piece]) -> bool:
    """Whether the pieces show one text that was changed, rather than one text after another."""
    return any(op == "equal" for op, _ in pieces)


def _alike(pieces: list[Piece], old: str, new: str) -> bool:
    shared = sum(len(text.strip()) for op, text in pieces if op == "equal")
    return shared >= _ALIKE * max(len(old), len(new))


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbours of one kind as one, empty ones left out."""
    found: list[Piece] = []
    for op, text in pieces:
        if found and text and found[-1][0] == op:
            found[-1] = (op, found[-1][1] + text)
        elif text:
            found.append((op, text))
    return found
