"""A LangGraph server for the tests: what a real one answered, on tapes, served by a server of the standard library.

With TT_DEBUG_TEST_LANGGRAPH_SERVER=http://127.0.0.1:2024 the same tests run against that server, where `langgraph dev
--no-browser` of `langgraph-cli[inmem]` serves tests/data/langgraph_server/app and holds no threads yet. With
TT_DEBUG_RECORD=1 as well, the tapes are written anew.
"""

from __future__ import annotations

import json
import lzma
import os
import threading
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

TAPES = Path(__file__).parent / "data" / "langgraph_server"
REAL = os.environ.get("TT_DEBUG_TEST_LANGGRAPH_SERVER", "")
RECORDS = bool(os.environ.get("TT_DEBUG_RECORD"))
_KEPT_HEADERS = ("content-type", "content-location")


class Answer(NamedTuple):
    """What goes back: a status, some headers, a body. ``age`` counts the writes that were answered before."""

    status: int
    headers: dict[str, str]
    body: str
    age: int = 0


HANGS_UP = Answer(0, {}, "")
"""The connection is closed without an answer."""
Respond = Callable[[str, str, str, dict[str, str]], Answer]
"""Method, path, body and headers of a request."""


def said(value: Any, status: int = 200) -> Answer:
    """A value as a server says it."""
    return Answer(status, {"content-type": "application/json"}, json.dumps(value))


@contextmanager
def serving(respond: Respond) -> Iterator[str]:
    """An HTTP server that answers so, at the URL given."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two wait for each other

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            found = respond(self.command, self.path, body, {k.lower(): v for k, v in self.headers.items()})
            if found == HANGS_UP:
                self.close_connection = True
                return
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            data = found.body.encode()
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing into the tests' output."""

    for method in ("GET", "POST", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(slots=True)
class Tape:
    """Requests and what was answered.

    The same request twice has two answers, and the last one for ever after, until a later write changed it: an
    interface may look more often, or less, than when the tape was made.
    """

    answers: dict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    age: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def replay(self, method: str, path: str, body: str, _: dict[str, str]) -> Answer:
        """What the real server answered."""
        with self._lock:
            self.asked.append((method, path))
            kept = self.answers.get(_key(method, path, body))
            if not kept:
                return said({"detail": f"not on the tape: {method} {path} {body}"}, 418)
            newest = max((one.age for one in kept if one.age <= self.age), default=0)
            while kept[0].age < newest:
                kept.pop(0)
            self.age += _writes(method, path)
            return kept.pop(0) if len(kept) > 1 and kept[1].age <= self.age else kept[0]

    def record(self, method: str, path: str, body: str, headers: dict[str, str]) -> Answer:
        """Ask the real server, and keep what it answers."""
        wanted = {name: value for name, value in headers.items() if name in ("content-type", "accept")}
        request = urllib.request.Request(REAL + path, body.encode() or None, wanted, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                found = _answer(response.status, response)
        except urllib.error.HTTPError as error:
            found = _answer(error.code, error)
        with self._lock:
            self.asked.append((method, path))
            self.answers[_key(method, path, body)].append(found._replace(age=self.age))
            self.age += _writes(method, path)
        return found

    def save(self, path: Path) -> None:
        """Write it."""
        path.write_bytes(lzma.compress(json.dumps(self.answers, ensure_ascii=False).encode()))

    @classmethod
    def of(cls, path: Path) -> Tape:
        """Read it."""
        kept = json.loads(lzma.decompress(path.read_bytes()))
        return cls({key: [Answer(*one) for one in answers] for key, answers in kept.items()})


def _key(method: str, path: str, body: str) -> str:
    return f"{method} {path} {json.dumps(json.loads(body), sort_keys=True) if body else ''}"


def _writes(method: str, path: str) -> bool:
    return method != "GET" and path.rpartition("/")[2] not in ("search", "count", "history", "checkpoint")


def _answer(status: int, response: Any) -> Answer:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return Answer(status, headers, response.read().decode())


@dataclass(frozen=True, slots=True)
class Server:
    """A server under test. ``url`` is what a store is opened by; ``asked`` are the requests that came since."""

    http: str
    tape: Tape

    @property
    def url(self) -> str:
        """As a person would type it."""
        return f"langgraph+{self.http}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the application itself does on its server."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.http + path, data, {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read() or b"null")

    def thread(self, graph: str = "", state: Any = None, meta: Any = None) -> str:
        """A new thread, run with ``graph`` where there is one, as far as that goes."""
        name: str = self.ask("POST", "/threads", {"metadata": meta or {}})["thread_id"]
        if graph:
            self.ask("POST", f"/threads/{name}/runs/wait", {"assistant_id": graph, "input": state})
        return name


@contextmanager
def server_of(name: str) -> Iterator[Server]:
    """The server for the test of that name."""
    path = TAPES / f"{name}.json.xz"
    tape = Tape() if REAL else Tape.of(path)
    with serving(tape.record if REAL else tape.replay) as url:
        yield Server(url, tape)
    if REAL and RECORDS:
        tape.save(path)
