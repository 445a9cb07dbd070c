"""A question asked of the whole history, off the event loop, its answers told in batches while it goes on.

Owns what is asked and how it is said; the screen shows it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from stores.errors import Corrupt
from stores.model import Path, Ref
from stores.paths import format_path
from tt_debug.blame import Stop
from tt_debug.finding import Hit
from tt_debug.searching import Found, Search
from tt_debug.session import questions
from tt_debug.session.questions import How, Scope, Stopped
from tt_debug.session.turns import HumanTurn, turns
from tt_debug.tui.watch import Watch

if TYPE_CHECKING:
    from tt_debug.session.session import Session

MOST: Final = 5_000
"""Answers shown; who has so many asks something narrower."""

Answer = Stop | Hit | Found | HumanTurn


@dataclass(frozen=True, slots=True)
class Question:
    """``kind``: "who" wrote ``path`` on the line to ``ref``; "when" the expression ``words`` held there, or in every
    thread; "text": where ``words`` stand, in the thread of ``ref`` or in all; "turns": the line's human messages."""

    kind: Literal["who", "when", "text", "turns"]
    ref: Ref | None = None
    path: Path = ()
    words: str = ""
    how: How = "every"

    @property
    def takes_words(self) -> bool:
        """Whether a person says what is asked."""
        return self.kind in ("when", "text")

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        if self.kind == "who":
            return f"who wrote {format_path(self.path)}"
        if self.kind == "turns":
            return "what was said to it"
        where = f"on the line of {self.ref.thread}" if self.ref is not None else "in every thread"
        if self.kind == "when":
            return f"when {self.words}  {where}"
        return f"“{self.words}”  {f'in {self.ref.thread}' if self.ref is not None else where}"

    def command(self, url: str) -> str:
        """The command line that asks the same."""
        thread = [f"{self.ref.thread}@{self.ref.id}"] if self.ref is not None else []
        if self.kind == "who":
            return shlex.join(["tt-debug", "history", url, *thread, format_path(self.path)])
        if self.kind == "turns":
            return shlex.join(["tt-debug", "turns", url, *thread])
        if self.kind == "when":
            way = [] if self.how == "every" else [f"--{self.how}"]
            return shlex.join(["tt-debug", "find", url, *thread, self.words, *way])
        return shlex.join(["tt-debug", "grep", url, self.words, *(["--thread", self.ref.thread] if self.ref else [])])

    def about(self, words: str) -> Question:
        """The same question about other words."""
        return replace(self, words=words)


@dataclass(frozen=True, slots=True)
class Part:
    """How it stands: all answers so far, how many checkpoints were asked, of how many (None: not known), what could
    not be asked, and whether this is the end; ``stopped`` when there may be more all the same."""

    answers: tuple[Answer, ...]
    asked: int
    of: int | None
    gaps: tuple[str, ...] = ()
    ended: bool = False
    stopped: bool = False


def ask(
    session: Session, question: Question, watch: Watch, tell: Callable[[Part], None], give_way: Callable[[], None]
) -> Part:
    """Ask it to its end, or until ``watch`` is stopped; ``tell`` is given what there is from time to time.

    Raises UsageError for an expression that is none, StoreError when the store fails as a whole.
    """
    found: list[Answer] = []
    gaps: dict[str, int] = {}
    asked, total = 0, None

    def part(*, ended: bool = False, stopped: bool = False) -> Part:
        return Part(tuple(found), asked, total, _told(gaps), ended, stopped)

    def on_progress(_: int, of: int | None) -> bool:
        nonlocal asked, total
        give_way()
        asked, total = asked + 1, of
        return watch.goes_on(asked, lambda: None, lambda _: tell(part()))

    answers, unanswered = _answers(session, question, on_progress)
    try:
        for answer in answers:
            if isinstance(answer, Corrupt):
                gaps[str(answer)] = 1
            elif len(found) < MOST:
                found.append(answer)
            else:
                return part(ended=True, stopped=True)
    except Stopped:
        gaps.update(unanswered)
        return part(ended=True, stopped=True)
    gaps.update(unanswered)
    return part(ended=True)


def _answers(
    session: Session, question: Question, on_progress: questions.OnProgress
) -> tuple[Iterator[Answer | Corrupt], Mapping[str, int]]:
    """The answers as they come, and the reasons, with how often, why some checkpoints gave none."""
    if question.kind == "who":
        assert question.ref is not None
        return questions.history(session, question.ref, question.path, on_progress), {}
    if question.kind == "turns":
        assert question.ref is not None
        return turns(session, question.ref, on_progress), {}
    if question.kind == "when":
        scope = Scope(question.ref)
        finding = questions.find(session, question.words, scope, question.how, on_progress)
        return finding.hits, finding.tally.unanswered
    scope = Scope(question.ref, every_branch=True) if question.ref is not None else Scope()
    return questions.grep(session, Search(question.words), scope, on_progress), {}


def _told(gaps: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(f"{reason} ({times} times)" if times > 1 else reason for reason, times in gaps.items())
