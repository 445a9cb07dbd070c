"""A transaction pooler in front of a PostgreSQL server, as pgbouncer is in its transaction mode.

Many clients share a few connections of the server; a client keeps one for a transaction, and the next transaction is
on the next connection: whatever a session would remember is not there any more, or is somebody else's.
"""

from __future__ import annotations

import contextlib
import queue
import select
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.postgres import at
from tests.postgres_line import to_server

_CONNECTIONS = 3
_IDLE = b"I"  # of ReadyForQuery: no transaction is open
_GOODBYE = b"X"


@dataclass
class Pooler:
    """``url`` leads through it. ``transactions`` counts those that were passed on."""

    url: str
    target: str = field(repr=False)
    transactions: int = 0
    free: queue.Queue[socket.socket] = field(default_factory=queue.Queue)
    greeting: bytes = b""
    opening: threading.Lock = field(default_factory=threading.Lock)


@contextlib.contextmanager
def pooler(database: str) -> Iterator[Pooler]:
    """A pooler to the server of a database."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        made = Pooler(at(database, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable"), database)
        threading.Thread(target=_accept, args=(made, listening), daemon=True).start()
        try:
            yield made
        finally:
            while not made.free.empty():
                made.free.get().close()


def _accept(made: Pooler, listening: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_serve, args=(made, client), daemon=True).start()


def _serve(made: Pooler, client: socket.socket) -> None:
    with client, contextlib.suppress(OSError):
        hello = client.recv(65536)
        if b"options" in hello:  # pgbouncer's words
            client.sendall(_refusal(b"unsupported startup parameter: options"))
            return
        with made.opening:
            while made.free.qsize() < _CONNECTIONS and not made.greeting:
                server = to_server(made.target)
                server.sendall(hello)
                made.free.put(server)
            if not made.greeting:
                made.greeting = _greetings(made)
        client.sendall(made.greeting)
        while said := client.recv(65536):
            if said.startswith(_GOODBYE):
                return
            _pass_on(made, client, said)


def _refusal(why: bytes) -> bytes:
    reason = b"SFATAL\0C08P01\0M" + why + b"\0\0"
    return b"E" + (len(reason) + 4).to_bytes(4, "big") + reason


def _greetings(made: Pooler) -> bytes:
    """What the servers said to the first client, which every later one is told too."""
    said = b""
    for _ in range(_CONNECTIONS):
        server, said = made.free.get(), b""
        while _status(said) is None:
            said += server.recv(65536)
        made.free.put(server)
    return said


def _pass_on(made: Pooler, client: socket.socket, said: bytes) -> None:
    """One transaction, on the next free connection."""
    server = made.free.get()
    server.sendall(said)
    answer = b""
    while _status(answer) != _IDLE:
        for ready in select.select([server, client], [], [])[0]:
            if ready is client:
                more = client.recv(65536)
                if not more or more.startswith(_GOODBYE):
                    server.close()  # with what was begun on it
                    return
                answer = b""
                server.sendall(more)
            else:
                said = server.recv(65536)
                answer += said
                client.sendall(said)
    made.transactions += 1
    made.free.put(server)


def _status(answer: bytes) -> bytes | None:
    """That of the ReadyForQuery that an answer ends with; None while there is more to come."""
    at = 0
    while at + 5 <= len(answer):
        end = at + 1 + int.from_bytes(answer[at + 1 : at + 5], "big")
        if end == len(answer) and answer[at : at + 1] == b"Z":
            return answer[end - 1 : end]
        at = end
    return None
