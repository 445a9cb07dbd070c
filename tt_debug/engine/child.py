"""One child process: how it is started, fed its job, listened to and stopped; and what it does at its own end.

The job goes in as JSON on stdin, events come back as JSON lines on a pipe of their own, and whatever user code
prints is captured beside them. Refuses to know what a job or an event means.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType
from typing import IO, TypeAlias

from stores.model import Value
from tt_debug.engine.events_pipe import open_events as open_events
from tt_debug.errors import ChildFailed

EVENTS_FD = "TT_DEBUG_EVENTS_FD"
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a run to stop: Ctrl-C, whoever ends processes, and a terminal that was closed."""

OnLine: TypeAlias = Callable[[dict[str, Value]], None]

_CHUNK = 65536
_LONGEST_LINE = 65536  # of printed output: a longer one arrives in pieces, so that memory stays bounded
_LAST_WORDS = 20
_EXIT_CHECK = 0.2  # seconds; only matters when a grandchild keeps the pipes open after the child is gone


@dataclass(frozen=True, slots=True)
class ChildExit:
    """How a child ended: its exit code (below 0: the signal that killed it) and the last lines it printed."""

    code: int
    last_words: str


def run_child(
    argv: Sequence[str],
    job: Mapping[str, Value],
    on_line: OnLine,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    keep: Sequence[socket.socket] = (),
) -> ChildExit:
    """Run ``argv`` to its end; every event is handed to ``on_line`` on this thread, in order.

    What the child prints arrives as ``{"event": "output", "stream": "stdout" | "stderr", "text": line, "at": time}``.
    ``env`` is its whole environment (ours when None); the sockets in ``keep`` are the child's alone from its start on,
    under the numbers they have here. On the main thread the first of `STOPPING` asks the child to stop after its step
    (SIGINT), the same again kills it and everything it started; an exception of ``on_line`` kills it too.
    Raises ChildFailed when it cannot be started, or writes something on the events pipe that is not a JSON object.
    """
    events_in, events_out = os.pipe()
    with open(events_in, "rb", buffering=0) as events, tempfile.TemporaryFile() as stdin:
        try:
            stdin.write(json.dumps(job).encode())
            stdin.seek(0)
            child = _spawn(argv, stdin, (events_out, *(each.fileno() for each in keep)), env, cwd)
        finally:
            os.close(events_out)
            for each in keep:
                each.close()
        try:
            with _forwarded_interrupts(child):
                return _listen(child, events, on_line)
        finally:
            _kill(child)
            child.wait()
            for stream in (child.stdout, child.stderr):
                if stream is not None:
                    stream.close()


def _spawn(
    argv: Sequence[str],
    stdin: IO[bytes],
    kept: Sequence[int],
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
) -> subprocess.Popen[bytes]:
    environment = {**(os.environ if env is None else env), EVENTS_FD: str(kept[0]), "PYTHONUNBUFFERED": "1"}
    try:
        return subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=kept,
            start_new_session=True,  # Ctrl-C in our terminal is ours to forward
            env=environment,
            cwd=cwd,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        where = cwd if isinstance(error, OSError) and cwd is not None and error.filename == str(cwd) else argv[0]
        raise ChildFailed(f"cannot start {where}: {reason}", hint="name a Python interpreter that exists") from error


@contextlib.contextmanager
def _forwarded_interrupts(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """On the main thread what stops us goes to the child: once as a request, then as a kill."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: set[int] = set()

    def forward(sent: int, _frame: FrameType | None) -> None:
        # Of a closed terminal both the kernel and the shell tell, and a supervisor may send one beside another.
        if sent in seen and sent != signal.SIGHUP:
            _kill(child)
        elif not seen and child.poll() is None:
            child.send_signal(signal.SIGINT)
        seen.add(sent)

    with handled(forward):
        yield


@contextlib.contextmanager
def handled(
    handler: Callable[[int, FrameType | None], None], signals: Sequence[signal.Signals] = STOPPING
) -> Iterator[None]:
    """Have the signals handled so in the block; one that is ignored, as nohup has it, stays ignored."""
    wanted = [each for each in signals if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, handler) for each in wanted}
    try:
        yield
    finally:
        for each, known in before.items():
            signal.signal(each, known)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and its process group, if it still runs."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


class _Lines:
    """Bytes that arrive in pieces, as whole lines."""

    def __init__(self, longest: int | None = None) -> None:
        self._rest = b""
        self._longest = longest

    def feed(self, data: bytes) -> Iterator[bytes]:
        *lines, rest = (self._rest + data).split(b"\n")
        yield from lines
        while self._longest is not None and len(rest) > self._longest:
            yield rest[: self._longest]
            rest = rest[self._longest :]
        self._rest = rest

    def end(self) -> Iterator[bytes]:
        if self._rest:
            yield self._rest
            self._rest = b""


class _Listener:
    """The three streams of a child, as events in order."""

    def __init__(self, on_line: OnLine) -> None:
        self.last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._on_line = on_line
        self._lines = {"stdout": _Lines(_LONGEST_LINE), "stderr": _Lines(_LONGEST_LINE), "events": _Lines()}

    def take(self, name: str, data: bytes) -> None:
        """A piece of one stream; an empty one is its end."""
        lines = self._lines[name]
        for line in lines.feed(data) if data else lines.end():
            if name == "events":
                self._event(line)
            else:
                self._output(name, line)

    def _output(self, name: str, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.last_words.append(text)
        self._on_line({"event": "output", "stream": name, "text": text, "at": datetime.now(UTC).isoformat()})

    def _event(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            shown = line[:200].decode("utf-8", "replace")
            raise ChildFailed(f"the child process broke its protocol; it wrote {shown!r} instead of an event")
        if event["event"] == "output":
            self.last_words.append(str(event.get("text", "")))
        self._on_line(event)


def _listen(child: subprocess.Popen[bytes], events: IO[bytes], on_line: OnLine) -> ChildExit:
    listener = _Listener(on_line)
    assert child.stdout is not None
    assert child.stderr is not None
    # Output before events: what was written before the line that says a node finished is shown before it.
    streams: dict[str, IO[bytes]] = {"stdout": child.stdout, "stderr": child.stderr, "events": events}
    with selectors.DefaultSelector() as selector:
        for name, stream in streams.items():
            selector.register(stream, selectors.EVENT_READ, name)
        while selector.get_map():
            ready = {str(key.data) for key, _ in selector.select(_EXIT_CHECK)}
            if not ready and child.poll() is not None:
                break
            for name in [name for name in streams if name in ready]:
                data = os.read(streams[name].fileno(), _CHUNK)
                listener.take(name, data)
                if not data:
                    selector.unregister(streams[name])
    return ChildExit(child.wait(), "\n".join(listener.last_words).strip())
