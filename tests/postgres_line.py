"""A network line to a PostgreSQL server that a test can cut: what goes over it is passed on until it says otherwise."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from psycopg.conninfo import conninfo_to_dict

from tests.postgres import at


def everything(line: Line, said: bytes, client: socket.socket) -> bytes | None:
    """What an uncut line does: pass it on."""
    return said


@dataclass
class Line:
    """``url`` leads through it. ``watch`` sees what goes to the server, and may `cut` it, or answer the client itself.

    ``deaf``: the next answer of the server is lost, with its connection.
    """

    url: str
    target: str = field(repr=False)
    watch: Callable[[Line, bytes, socket.socket], bytes | None] = everything
    deaf: bool = False
    ends: list[socket.socket] = field(default_factory=list)

    def cut(self) -> None:
        """Every connection over it breaks."""
        ends, self.ends = self.ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def line(database: str) -> Iterator[Line]:
    """A line to the server of a database."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        url = at(database, host="127.0.0.1", port=str(port), sslmode="disable", gssencmode="disable")
        made = Line(url, database)
        threading.Thread(target=_accept, args=(made, listening), daemon=True).start()
        try:
            yield made
        finally:
            made.cut()


def _accept(made: Line, listening: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listening.accept()
            server = to_server(made.target)
            made.ends += [client, server]
            threading.Thread(target=_there, args=(made, client, server), daemon=True).start()
            threading.Thread(target=_back, args=(made, server, client), daemon=True).start()


def to_server(target: str) -> socket.socket:
    """A connection to the server of a database."""
    parts = conninfo_to_dict(target)
    host, port = str(parts["host"]), parts.get("port") or 5432
    if host.startswith("/"):
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server
    return socket.create_connection((host, int(port)))


def _there(made: Line, client: socket.socket, server: socket.socket) -> None:
    with client, contextlib.suppress(OSError):
        while said := client.recv(65536):
            passed = made.watch(made, said, client)
            if passed is None:
                return
            server.sendall(passed)
        server.shutdown(socket.SHUT_WR)


def _back(made: Line, server: socket.socket, client: socket.socket) -> None:
    with server, contextlib.suppress(OSError):
        while said := server.recv(65536):
            if made.deaf:
                made.deaf = False
                made.cut()
                return
            client.sendall(said)
        client.shutdown(socket.SHUT_RDWR)
