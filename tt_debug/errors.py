"""Errors of the debugger itself. Those of a store are `stores.errors.StoreError`s and pass through unchanged.

Both kinds carry ``hint``; the front ends show what, where and hint, and map the class to an exit code.
"""

from __future__ import annotations


class DebuggerError(Exception):
    """Base of what the session and the engine raise on purpose. ``hint`` is the next step, one sentence, or empty."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(DebuggerError):
    """What was typed cannot be understood: a bad PATH, JSON, expression or option (exit 2)."""


class DefinitionError(UsageError):
    """A workflow definition with problems; ``problems`` holds every one of them with its place in the file."""

    def __init__(self, message: str, problems: tuple[str, ...], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class RefNotFound(DebuggerError):
    """A REF that names nothing in this store (exit 3)."""


class NotAHead(DebuggerError):
    """Resuming somewhere else than at a head that can go on; the hint is the fork command (exit 4)."""


class WaitingForAnswer(DebuggerError):
    """The thread asks a person something; the hint says how to answer (exit 5). ``approval`` is the question's id."""

    def __init__(self, message: str, approval: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.approval = approval


class DefinitionChanged(DebuggerError):
    """The workflow differs from the one the thread was started with; ``differences`` names the nodes (exit 4)."""

    def __init__(self, message: str, differences: tuple[str, ...], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.differences = differences


class GraphChanged(DefinitionChanged):
    """A LangGraph graph is not what it was when it last ran the thread; it may run all the same, once agreed to."""


class Untrusted(DebuggerError):
    """Stored bytes name what LangGraph would import or call and the user's graph has not imported (exit 4).

    ``names`` are as in the bytes, "pickle" for pickled ones.
    """

    def __init__(self, message: str, names: tuple[str, ...], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.names = names


class ChildFailed(DebuggerError):
    """The child process of a run could not start or broke its protocol; the message has its last words (exit 1)."""
