"""A headless Chromium, where this machine has one: open a page, wait for it, take its picture.

Speaks the DevTools protocol over a websocket; owns the browser's process and profile.
"""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")


def installed() -> str | None:
    """The browser's program, None without one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **parameters: Any) -> Any:
        """One command of the protocol and its answer."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            answer = await self._socket.receive_json()
            if answer.get("id") == self._number:
                return answer["result"]

    async def until(self, condition: str) -> None:
        """Wait until an expression of JavaScript is true."""
        # What throws, because the page is not there yet, has no value.
        while not (await self.call("Runtime.evaluate", expression=f"!!({condition})"))["result"].get("value"):
            await asyncio.sleep(0.05)

    async def picture(self) -> bytes:
        """PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])

    async def still_picture(self) -> bytes:
        """PNG, once the page does not change any more."""
        alike, before = 0, b""
        while alike < 3:
            await asyncio.sleep(0.3)
            now = await self.picture()
            alike, before = (alike + 1 if now == before else 0), now
        return before


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def _address(server: asyncio.subprocess.Process) -> str | None:
    """What it printed; None when somebody else was given its port before it."""
    assert server.stderr is not None
    said = ""
    while (address := re.search(r"http://\S+", said)) is None:
        line = await server.stderr.readline()
        said += line.decode()
        if not line:
            await server.wait()
            assert "choose another --port" in said, said
            return None
    return address[0]


@asynccontextmanager
async def serving(path: Path, *words: str) -> AsyncIterator[tuple[str, int]]:
    """The address that a server printed, and its process."""
    command = [sys.executable, "-m", "tt_debug", "serve", str(path), *words, "--port"]
    address = None
    while address is None:
        server = await asyncio.create_subprocess_exec(*command, str(free_port()), stderr=asyncio.subprocess.PIPE)
        address = await _address(server)
    try:
        yield address, server.pid
    finally:
        if server.returncode is None:
            server.send_signal(signal.SIGTERM)
        await server.wait()


@asynccontextmanager
async def opened(url: str, size: tuple[int, int]) -> AsyncIterator[Page]:
    """A page of so many pixels on ``url``."""
    program = installed()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        words += ["--remote-debugging-port=0", f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        quiet = asyncio.subprocess.DEVNULL
        browser = await asyncio.create_subprocess_exec(program, *words, "about:blank", stdout=quiet, stderr=quiet)
        try:
            async with aiohttp.ClientSession() as session:
                address = await _first_tab(session, Path(profile) / "DevToolsActivePort")
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    page = Page(socket)
                    await page.call("Page.navigate", url=url)
                    yield page
        finally:
            browser.kill()
            await browser.wait()


async def _first_tab(session: aiohttp.ClientSession, port_file: Path) -> str:
    while not port_file.exists() or not port_file.read_text():
        await asyncio.sleep(0.05)
    port = port_file.read_text().split()[0]
    async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
        tabs = await answer.json()
    return next(str(tab["webSocketDebuggerUrl"]) for tab in tabs if tab["type"] == "page")
