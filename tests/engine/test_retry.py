"""Which failures are tried again, and when."""

from __future__ import annotations

import urllib.error
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from tt_debug.definition.workflow import Retry
from tt_debug.engine.retry import FatalError, RetryableError, classify, wait_before_next


class StatusError(Exception):
    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"HTTP {status}")
        self.response = SimpleNamespace(status_code=status, headers=headers)


class RequestsTimeout(OSError):
    pass


RequestsTimeout.__name__, RequestsTimeout.__module__ = "Timeout", "requests.exceptions"


class Strange(Exception):
    pass


def http(code: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError("http://x", code, "no", Message(), None)


@pytest.mark.parametrize(
    "error",
    [
        RetryableError("x"),
        TimeoutError(),
        ConnectionError(),
        ConnectionResetError(),
        BrokenPipeError(),
        *(StatusError(code) for code in (408, 409, 425, 429, 500, 502, 503, 504, 599)),
        http(503),
        urllib.error.URLError(ConnectionRefusedError()),
        RequestsTimeout(),
    ],
)
def test_retryable(error: Exception) -> None:
    assert classify(error).retryable


@pytest.mark.parametrize(
    "error",
    [
        FatalError("x"),
        ValueError(),
        TypeError(),
        PermissionError(),
        KeyError("x"),
        UnicodeDecodeError("utf-8", b"", 0, 1, ""),
        OSError("disk"),
        Strange(),
        SystemExit(1),
        KeyboardInterrupt(),
        *(StatusError(code) for code in (400, 401, 403, 404, 410, 422)),
        http(404),
        urllib.error.URLError("no such host"),
    ],
)
def test_fatal(error: BaseException) -> None:
    failure = classify(error)
    assert not failure.retryable
    assert wait_before_next(Retry(max=3), 1, failure) is None


def test_a_failure_is_told_in_one_line() -> None:
    assert classify(ValueError("bad")).error == "ValueError: bad"
    assert classify(ValueError()).error == "ValueError"
    assert classify(Strange("x")).error_class == f"{__name__}.Strange"


def test_exponential_waits_are_1_2_4_up_to_the_cap() -> None:
    failure = classify(TimeoutError())
    waits = [wait_before_next(Retry(max=9), failed, failure) for failed in range(1, 8)]
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    waits = [wait_before_next(Retry(max=9, first=0.5, cap=60), failed, failure) for failed in range(1, 9)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 60]


def test_fixed_waits_and_the_last_attempt() -> None:
    policy = Retry(max=3, backoff="fixed", first=5, cap=30)
    failure = classify(ConnectionError())
    assert [wait_before_next(policy, failed, failure) for failed in (1, 2, 3)] == [5, 5, None]
    assert wait_before_next(Retry(max=1), 1, failure) is None


def test_retry_after_is_waited_for() -> None:
    policy = Retry(max=3)
    assert wait_before_next(policy, 1, classify(StatusError(429, **{"Retry-After": "17"}))) == 17
    assert wait_before_next(policy, 1, classify(RetryableError("x", retry_after=0.2))) == 1
    assert wait_before_next(policy, 1, classify(StatusError(503, **{"Retry-After": "999999"}))) == 3600
    assert wait_before_next(policy, 1, classify(StatusError(503, **{"Retry-After": "soon"}))) == 1
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    after = classify(StatusError(503, **{"Retry-After": date})).retry_after
    assert after is not None
    assert 90 < after <= 100
