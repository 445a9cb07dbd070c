"""serve: the interface in a browser of this machine, behind a key, and nothing left running afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from pathlib import Path

import aiohttp
import psutil
import pytest

from tests import browser
from tests.browser import serving
from tests.builders import native_file
from tt_debug.cli.main import main


def client() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))


def test_who_may_come_in(tmp_path: Path) -> None:
    async def visit() -> None:
        async with serving(native_file(tmp_path / "s.db")) as (address, _), client() as http:
            root = address.partition("?")[0]
            port = root.rstrip("/").rpartition(":")[2]
            for url, headers in (
                (root, {}),
                (f"{root}?key=guess", {}),
                (address, {"Host": f"evil.example:{port}"}),
                (address, {"Origin": "http://evil.example"}),
                (f"{root}ws", {}),
                (f"{root}static/js/textual.js", {}),
            ):
                async with http.get(url, headers=headers) as refused:
                    assert refused.status == 403, url
            async with http.get(address) as page:
                assert page.status == 200
                assert "key=" not in str(page.url)
                assert "googleapis" not in await page.text()

    asyncio.run(visit())


def test_a_tab_shows_the_store_and_its_process_ends_with_the_server(tmp_path: Path) -> None:
    async def visit() -> None:
        async with serving(native_file(tmp_path / "s.db")) as (address, pid), client() as http:
            async with http.get(address) as page:
                root = str(page.url)
            async with http.ws_connect(f"{root}ws?width=100&height=30") as tab:
                shown = b""
                while b"READ-ONLY" not in shown or b"s.db" not in shown:
                    message = await tab.receive()
                    assert message.type == aiohttp.WSMsgType.BINARY, message
                    shown += message.data
                children = psutil.Process(pid).children(recursive=True)
                assert any("--read-only" in child.cmdline() for child in children)
                os.kill(pid, signal.SIGTERM)
                while not tab.closed:
                    await tab.receive()
            _, alive = await asyncio.to_thread(psutil.wait_procs, children)
            assert alive == []

    asyncio.run(visit())


@pytest.mark.skipif(browser.installed() is None, reason="no Chromium here")
def test_a_browser_draws_it(tmp_path: Path) -> None:
    async def visit() -> bytes:
        async with (
            serving(native_file(tmp_path / "s.db")) as (address, _),
            browser.opened(address, (1000, 700)) as page,
        ):
            await page.until("document.body.classList.contains('-first-byte')")
            return await page.picture()

    assert asyncio.run(visit()).startswith(b"\x89PNG")


def test_a_port_that_is_taken_and_a_store_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(("serve", str(native_file(tmp_path / "s.db")), "--port", port)) == 3
    assert "choose another --port" in capsys.readouterr().err
    assert main(("serve", str(tmp_path / "none.db"))) == 3
