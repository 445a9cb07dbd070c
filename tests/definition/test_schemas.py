"""Schemas of strangers: what they refer to is not fetched, what cannot be applied is said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tt_debug.definition.schemas import BadSchema, dangling, schema_fault


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that serves a schema, and the paths it was asked for."""
    paths: list[str] = []

    class Serves(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "integer"}')

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Serves) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", paths
        server.shutdown()
        thread.join()


def test_a_reference_is_never_fetched(asked: tuple[str, list[str]]) -> None:
    address, paths = asked
    with pytest.raises(BadSchema, match="which is not in it"):
        schema_fault({"$ref": f"{address}/schema.json"}, "text")
    assert paths == []


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"$ref": "#/nowhere"}, "refers to '/nowhere', which is not in it"),
        ({"$ref": "file:///etc/hostname"}, "which is not in it"),
        ({"pattern": "("}, "'\\(' is not a 'regex'"),
        ({"$ref": "#"}, "refers to itself without end"),
        ({"type": 5}, "is not a JSON Schema"),
    ],
)
def test_a_schema_that_cannot_be_applied_says_why(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(BadSchema, match=says):
        schema_fault(schema, "text")


def test_the_place_of_a_fault_is_named() -> None:
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert schema_fault(schema, {"n": "x"}) == "n: 'x' is not of type 'integer'"
    assert schema_fault(schema, {}) == "'n' is a required property"
    assert schema_fault(schema, {"n": 1}) is None


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, []),
        ({"prefixItems": [{"$ref": "#/$defs/b"}], "$defs": {"a": {"$ref": "http://x/y"}}}, ["#/$defs/b", "http://x/y"]),
        ({"$ref": "http://x/a", "$defs": {"a": {"$id": "http://x/a"}}}, []),
        ({"properties": {"$ref": {"type": "string"}}}, []),
    ],
)
def test_what_a_schema_refers_to_and_does_not_hold(schema: dict[str, Any], found: list[str]) -> None:
    assert sorted(dangling(schema)) == found
