"""The interface in a browser, for this machine alone.

Owns who may come in: whoever holds the address with its key, which is new each time, and no page of another site. Each
tab is a process of its own.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web
from textual_serve.server import Server

HOST: Final = "127.0.0.1"
"""The only address that is listened on: there is no login."""
_PATIENCE: Final = 5.0  # seconds for the processes of tabs to end
_COOKIE: Final = "tt-debug-key"
# The page asks a server elsewhere for a font, which would tell it that somebody is debugging.
_FONT: Final = re.compile(r"<link[^>]*fonts\.googleapis\.com[^>]*>", re.DOTALL)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebServer(Server):
    """Serves one command line of ours on this machine until SIGINT or SIGTERM."""

    def __init__(self, words: list[str], port: int, tell: Callable[[str], None]) -> None:
        """``words`` come after ``tt-debug``; ``tell`` is given the address to open, once it can be opened."""
        command = shlex.join([sys.executable, "-P", "-m", "tt_debug", *words])
        super().__init__(command, host=HOST, port=port, title="tt-debug")
        self._key = secrets.token_urlsafe(16)
        self._tell = tell
        self._tabs: set[asyncio.Task[Any]] = set()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"{self.public_url}/?key={self._key}"

    def serve(self, debug: bool = False) -> None:
        """Until a signal comes. Raises OSError when the port cannot be had."""
        self.debug = debug
        # What aiohttp would print when it listens is our moment to say where.
        web.run_app(self._make_app(), host=self.host, port=self.port, print=lambda *_: self._tell(self.address))

    async def on_startup(self, app: web.Application) -> None:
        """Nothing to say yet."""

    async def on_shutdown(self, app: web.Application) -> None:
        """End every tab's process: left alone they would go on for as long as a browser keeps its page open."""
        for tab in self._tabs:
            tab.cancel()
        if self._tabs:
            await asyncio.wait(self._tabs, timeout=_PATIENCE)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """One tab, for as long as it is open."""
        tab = asyncio.current_task()
        assert tab is not None
        self._tabs.add(tab)
        try:
            return await super().handle_websocket(request)
        finally:
            self._tabs.discard(tab)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @property
    def _guard(self) -> Any:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._check(request)
            if request.query.get("key"):
                # The key leaves the address bar at once, and stays in a cookie that scripts cannot read.
                entered = web.HTTPFound("/")
                entered.set_cookie(_COOKIE, self._key, httponly=True, samesite="Strict")
                raise entered
            response = await handler(request)
            if isinstance(response, web.Response) and response.content_type == "text/html" and response.text:
                response.text = _FONT.sub("", response.text)
            return response

        return guard

    def _check(self, request: web.Request) -> None:
        """Raises HTTPForbidden for another name of this machine, a page of another site, and a wrong key."""
        ours = f"{HOST}:{self.port}"
        origin = request.headers.get("Origin")
        given = request.query.get("key") or request.cookies.get(_COOKIE, "")
        if request.host != ours or origin not in (None, f"http://{ours}"):
            raise web.HTTPForbidden(text="tt-debug serves this machine's own pages only")
        if not secrets.compare_digest(given.encode(), self._key.encode()):
            raise web.HTTPForbidden(text="open the address that tt-debug serve printed, with its key")
