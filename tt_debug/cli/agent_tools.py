"""What an agent may ask a store through MCP: the looking commands as functions of plain values, in small portions.

Owns how much is answered at once; there is no function here that can write or run anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from stores.errors import Corrupt
from stores.model import MISSING
from stores.paths import settle_path
from tt_debug.cli import comparing, records
from tt_debug.cli.asking import found_record, hit_record, stop_record
from tt_debug.cli.options import path_of
from tt_debug.errors import RefNotFound
from tt_debug.redaction import Redaction
from tt_debug.searching import Search
from tt_debug.session import questions
from tt_debug.session.hiding import hidden_changes
from tt_debug.session.questions import How, Scope
from tt_debug.session.records import Pen, form_of, log_record, show_record
from tt_debug.session.session import Session
from tt_debug.text import counted, one_line

MOST: Final = 50
"""Items of an answer unless more are asked for: they go into a model's context."""
LONGEST: Final = 20_000
"""Characters of a state that are answered whole; of a larger one each value is cut to a line."""

Answer = dict[str, Any]


class AgentTools:
    """The tools of one store. Raises StoreError and DebuggerError, whose text says what to do instead."""

    def __init__(self, session: Session, hiding: Redaction) -> None:
        self._session = session
        self._hiding = hiding
        self._form = form_of(session.info.kind, hiding)

    def all(self) -> tuple[Callable[..., Answer], ...]:
        """Every tool; its name and docstring are what the agent is told."""
        return (self.threads, self.log, self.show, self.diff, self.history, self.find, self.grep)

    def threads(self, filter: str = "", status: str | None = None, limit: int = MOST) -> Answer:
        """List the threads (runs of an agent) in the store, newest write first. `filter` is a part of the name."""
        found = self._session.threads(text=filter, status=status, limit=limit + 1)
        return _portion((records.thread_record(info) for info in found), limit)

    def log(self, thread: str, limit: int = MOST) -> Answer:
        """List a thread's checkpoints, one per step, newest first: step, node, status. `thread` may be any REF."""
        end = self._session.resolve(thread)
        view = self._session.open_thread(end.thread)
        newest = view.line(end, newest=max(0, limit) + 1)
        return _portion((log_record(view.headers[ref]) for ref in reversed(newest)), limit)

    def show(self, ref: str, path: str = "") -> Answer:
        """One checkpoint: its state, tasks and log. REF is THREAD@SELECTOR: a step number, head, ~2 (two before the
        head), failed, or an id. `path` narrows it to one value: plan.steps[2]."""
        where = path_of(path)
        at = self._session.resolve(ref)
        checkpoint = self._session.load(at)
        if not where:
            whole = show_record(checkpoint, self._session.steps(at), self._form)
            return whole if len(str(whole)) <= LONGEST else self._cut(whole)
        value = comparing.value_at(checkpoint.state, where)
        if value is MISSING:
            raise RefNotFound(f"the state of {ref} has no {path}", hint="show without a path lists its keys")
        pen = Pen(self._form)
        secret = self._hiding.at(checkpoint.state, settle_path(checkpoint.state, where))
        return pen.mark({**log_record(checkpoint.header), "path": path, "value": pen.json(value, secret=secret)})

    def _cut(self, record: Answer) -> Answer:
        state = {key: one_line(value, 200) for key, value in record["state"].items()}
        return {**record, "state": state, "tasks": [], "steps": [], "cut": "values are cut: ask for one by its path"}

    def diff(self, ref: str, other: str | None = None, path: str = "") -> Answer:
        """What a step changed: from its parent to REF, or from REF to `other`, in any threads."""
        pair = comparing.pair_of(self._session, ref, other)
        changes = comparing.changes_between(self._session, pair, path_of(path))
        changes = hidden_changes(changes, comparing.states(self._session, pair, ()), self._hiding)
        return _portion((records.change_record(change) for change in changes), MOST * 4)

    def history(self, thread: str, path: str, limit: int = MOST) -> Answer:
        """Who wrote a value: every change of what lies at `path` on the thread's line, newest first, with the node."""
        ref = self._session.resolve(thread)
        stops = questions.history(self._session, ref, path_of(path))
        return _portion((stop_record(self._session, stop, self._form) for stop in stops), limit)

    def find(self, expression: str, thread: str | None = None, how: How = "every", limit: int = MOST) -> Answer:
        """When a JMESPath condition held, e.g. plan.status == 'final'. `how`: every, first, last, changes, bisect (the
        last three need a thread). Without a thread every thread is asked."""
        scope = Scope(self._session.resolve(thread)) if thread else Scope()
        finding, secret = questions.find(self._session, expression, scope, how), self._hiding.asks(expression)
        answer = _portion((hit_record(hit, self._form, secret) for hit in finding.hits), limit)
        unanswered = [f"{counted(times, 'checkpoint')}: {why}" for why, times in finding.tally.unanswered.items()]
        return {**answer, "asked": finding.tally.asked, "could_not_answer": unanswered}

    def grep(self, text: str, thread: str | None = None, limit: int = MOST) -> Answer:
        """Where a text stands: in values, keys, errors, questions, metadata; told at the step where it came in."""
        scope = Scope(self._session.resolve(thread), every_branch=True) if thread else Scope()
        unread: list[str] = []

        def hits() -> Iterator[Answer]:
            for found in questions.grep(self._session, Search(text), scope):
                if isinstance(found, Corrupt):
                    unread.append(str(found))
                else:
                    yield found_record(found, self._hiding)

        return {**_portion(hits(), limit), "not_searched": unread}


def _portion(items: Iterable[Answer], limit: int) -> Answer:
    """At most ``limit`` items, and whether there are more."""
    source = iter(items)
    found = list(islice(source, max(0, limit)))
    return {"items": found, "more": next(source, None) is not None}
