"""Which failures are worth another attempt, and how long to wait before it.

Owns the classes of errors and the arithmetic; persisting attempts and waiting are the runner's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from tt_debug.engine.traces import LONGEST, message, storable

if TYPE_CHECKING:
    from tt_debug.definition.workflow import Retry

_RETRYABLE_HTTP: Final = frozenset({408, 409, 425, 429})
_LONGEST_REQUESTED: Final = 3600.0  # seconds; a server that asks for more is not waited for

# What common clients raise when the network fails; none of them derives from the builtin classes.
_NETWORK: Final = {
    "requests": ("Timeout", "ConnectionError"),
    "httpx": ("TimeoutException", "NetworkError"),
    "openai": ("APIConnectionError",),
    "anthropic": ("APIConnectionError",),
}


class RetryableError(Exception):
    """Raise it in a node: try again, as far as the node's ``retry`` allows. ``retry_after`` is in seconds."""

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class FatalError(Exception):
    """Raise it in a node: another attempt would fail too."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed. ``retry_after`` is the wait that the other side asked for, in seconds."""

    error: str
    error_class: str
    retryable: bool
    retry_after: float | None = None


def classify(error: BaseException) -> Failure:
    """Retryable are RetryableError, timeouts, connection errors, and HTTP 408, 409, 425, 429 and 5xx.

    Everything else is fatal, unknown exceptions too: what a second call would do to the world is not known.
    """
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    said = message(error)
    text = f"{kind.__name__}: {said}" if said else kind.__name__
    return Failure(storable(text, 2 * LONGEST), storable(name), _retryable(error), _retry_after(error))


def _retryable(error: BaseException) -> bool:
    if isinstance(error, RetryableError):
        return True
    if isinstance(error, FatalError):
        return False
    status = _http_status(error)
    if status is not None:
        return status in _RETRYABLE_HTTP or 500 <= status <= 599
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    reason = getattr(error, "reason", None)  # urllib.error.URLError wraps what happened
    if isinstance(error, OSError) and isinstance(reason, TimeoutError | ConnectionError):
        return True
    return any(parent.__name__ in _NETWORK.get(parent.__module__.split(".")[0], ()) for parent in type(error).__mro__)


def surely_not_done(error: BaseException) -> bool:
    """Whether a call that raised this was certainly not carried out; a timeout or a broken line says nothing."""
    if isinstance(error, RetryableError | FatalError | ConnectionRefusedError):
        return True
    status = _http_status(error)
    return status is not None and 400 <= status < 500 and status not in (408, 409)


def _http_status(error: BaseException) -> int | None:
    """The status as openai, anthropic, httpx, requests, aiohttp and urllib carry it."""
    response = getattr(error, "response", None)
    for owner, name in ((error, "status_code"), (response, "status_code"), (error, "status"), (error, "code")):
        value = getattr(owner, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
    return None


def _retry_after(error: BaseException) -> float | None:
    own = getattr(error, "retry_after", None)
    if isinstance(own, int | float):
        return _bounded(own)
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    read = getattr(headers, "get", None)
    asked = read("Retry-After") if callable(read) else None
    if not isinstance(asked, str):
        return None
    if asked.strip().isdigit():
        return _bounded(float(asked))
    try:
        moment = parsedate_to_datetime(asked)
    except ValueError:
        return None
    return _bounded((moment - datetime.now(moment.tzinfo)).total_seconds())


def _bounded(seconds: float) -> float:
    return min(max(0.0, seconds), _LONGEST_REQUESTED)


def wait_before_next(policy: Retry, failed: int, failure: Failure) -> float | None:
    """Seconds until the next attempt after ``failed`` ones, or None when there is none."""
    if not failure.retryable or failed >= policy.max:
        return None
    return max(_delay(policy, failed), failure.retry_after or 0.0)


def _delay(policy: Retry, failed: int) -> float:
    if policy.backoff == "fixed":
        return min(policy.first, policy.cap)
    from tenacity import RetryCallState, Retrying, wait_exponential  # 30 ms, and only a failing node needs it

    state = RetryCallState(Retrying(), None, (), {})
    state.attempt_number = failed
    return float(wait_exponential(multiplier=policy.first, exp_base=2, max=policy.cap)(state))
