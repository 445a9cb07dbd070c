"""What a state refers to on the web: asked for only when that is wanted, in bounded time; a fault holds the run."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.engine.flows import bench
from tt_debug import remote
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.engine.worker import WorkflowJob, run_workflow
from tt_debug.references import fault, references
from tt_debug.session.plans import RunPlan, RunRequest
from tt_debug.tui.screens.replaying import OTHER_WAYS, other_ways

PAGE = b"a page on the web"
DIGEST = hashlib.sha256(PAGE).hexdigest()


class Pages(BaseHTTPRequestHandler):
    """/page is there, /headless too but not for HEAD, /moved leads to it, /gone is not."""

    def do_HEAD(self) -> None:
        self.answer(405 if self.path == "/headless" else 200)

    def do_GET(self) -> None:
        self.answer(200)

    def answer(self, code: int) -> None:
        self.server.asked.append(f"{self.command} {self.path}")  # type: ignore[attr-defined]
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/page")
            self.end_headers()
            return
        self.send_response(404 if self.path == "/gone" else code)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def asked() -> list[str]:
    """The requests that came to the server."""
    return []


@pytest.fixture
def server(asked: list[str]) -> Iterator[str]:
    """Its address."""
    pages = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    pages.asked = asked  # type: ignore[attr-defined]
    thread = threading.Thread(target=pages.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{pages.server_port}"
    pages.shutdown()
    thread.join()
    pages.server_close()


@pytest.mark.parametrize(
    ("page", "digest", "wrong", "requests"),
    [
        ("/page", None, None, ["HEAD"]),
        ("/page", DIGEST, None, ["HEAD", "GET"]),
        ("/page", "0" * 64, "is not what it was", ["HEAD", "GET"]),
        ("/headless", None, None, ["HEAD", "GET"]),
        ("/moved", DIGEST, None, None),
        ("/gone", DIGEST, "is gone: the server says 404", ["HEAD"]),
    ],
)
def test_a_server_is_asked_for_what_it_has(
    server: str, asked: list[str], page: str, digest: str | None, wrong: str | None, requests: list[str] | None | None
) -> None:
    state = {"pages": [{"$ref": f"{server}{page}", "sha256": digest}]}
    assert fault(state, None, web=False) is None
    assert asked == []
    found = fault(state, None, web=True)
    assert (found is None) if wrong is None else (wrong in str(found) and f"{server}{page}" in str(found))
    assert requests is None or [line.split()[0] for line in asked] == requests


def test_what_is_large_is_not_fetched(server: str, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_FETCHED", 4)
    assert remote.web_fault(f"{server}/page", "0" * 64) is None
    assert asked == ["HEAD /page"]
    assert remote.web_fault(f"{server}/headless", "0" * 64) is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/page", "http://[bad/", "https://127.0.0.1:1/"])
def test_a_server_that_cannot_be_reached_is_told(url: str) -> None:
    assert "cannot be reached" in str(fault({"a": {"$ref": url}}, None, web=True))


def test_other_words_are_no_references() -> None:
    state = {"a": {"$ref": "#/definitions/x"}, "b": {"$ref": 7}, "c": "http://nowhere", "d": {"$ref": "ftp://x/y"}}
    assert list(references(state)) == []


@pytest.mark.parametrize(("check", "status"), [(False, "done"), (True, "held")])
def test_a_run_is_held_before_anything_of_it_runs_only_where_it_was_to_be_checked(
    tmp_path: Path, server: str, asked: list[str], check: bool, status: str
) -> None:
    (tmp_path / "web_nodes.py").write_text("def a(state): return {'ran': True}\n")
    on = bench(tmp_path, [{"id": "a", "type": "python", "run": "web_nodes:a", "next": None}])
    on.start({"page": {"$ref": f"{server}/gone"}})
    job: Any = WorkflowJob(on.store.info.path or "", "run-t", check_refs=check)
    assert run_workflow(job, on.events.append).status == status
    assert asked == (["HEAD /gone"] if check else [])
    assert ("ran" in on.store.load(on.store.head("t")).state) is not check
    assert [f"{server}/gone" in str(case.prompt) for case in on.store.cases()] == [True] * check


def test_a_plan_tells_what_is_on_the_web_and_how_to_have_it_looked_at() -> None:
    request = RunRequest("resume")
    plan = RunPlan("resume t", request, "workflow", "t", None, 1, ("a",), "the end", on_web=2)
    assert any("2 things on the web: not looked at (--check-refs)" in line for line in plan.lines())
    assert [choice.value for choice in other_ways(plan, read_only=False)] == ["check-refs"]
    asking = replace(plan, request=replace(request, **OTHER_WAYS["check-refs"]))
    assert any("looked at before anything runs" in line for line in asking.lines())
    assert other_ways(asking, read_only=False) == ()
    assert other_ways(replace(plan, on_web=0), read_only=False) == ()


def test_the_command_line_asks_for_it(tmp_path: Path, server: str, asked: list[str]) -> None:
    (tmp_path / "web_nodes.py").write_text("def a(state): return {'ran': True}\n")
    on = bench(tmp_path, [{"id": "a", "type": "python", "run": "web_nodes:a", "next": None}])
    on.start({"page": {"$ref": f"{server}/gone"}})
    on.store.claim("run-t", "me", 1)
    on.store.finish("run-t", 1, "paused")
    words = ["resume", str(tmp_path / "store.sqlite"), "t", "--yes"]
    assert main([*words, "--check-refs"], Front(lambda screen: 0)) == 5
    assert asked == ["HEAD /gone"]
