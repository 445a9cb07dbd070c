"""Secrets: which names are, what is shown instead, that nothing of them is left and nothing else is touched."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.model import Opaque, Partial, Tagged
from tt_debug.config import hiding, settings
from tt_debug.errors import UsageError
from tt_debug.redaction import NOTHING, Hidden, Redaction, chosen
from tt_debug.text import one_line
from tt_debug.values import from_json, to_json

USUAL = Redaction()


@pytest.mark.parametrize(
    "key",
    [
        *("password", "userPassword", "db.password", "APIKey", "apikey", "OPENAI_API_KEY", "x-api-key", "Set-Cookie"),
        *("accessToken", "Authorization", "card", "cardNumber", "client_secret", "secrets", "PRIVATE KEY", "cvv"),
    ],
)
def test_the_usual_names_in_every_spelling(key: str) -> None:
    assert USUAL.names(key)


@pytest.mark.parametrize(
    "key",
    ["total_tokens", "max_tokens", "token_count", "author", "tokenizer", "passport", "monkey", "scorecard", "", 7],
)
def test_names_that_only_look_alike(key: object) -> None:
    assert not USUAL.names(key)


def test_what_is_hidden_and_what_stays() -> None:
    state = {
        "password": "hunter2",
        "card": {"number": 4111, "valid": True, "note": None, "name": ""},
        "cookies": ["a=1", ["b=2"]],
        "token": b"raw",
        "headers": [{"name": "Authorization", "value": "Bearer x"}, {"name": "Accept", "value": "*/*"}],
        "user": {"name": "ada", "apiKey": Opaque("bytes", b"k")},
        "usage": {"total_tokens": 5},
    }
    before = copy.deepcopy(state)
    assert USUAL.hide(state) == {
        "password": Hidden("text"),
        "card": {"number": Hidden("number"), "valid": True, "note": None, "name": ""},
        "cookies": [Hidden("text"), [Hidden("text")]],
        "token": Hidden("bytes"),
        "headers": [{"name": "Authorization", "value": Hidden("text")}, {"name": "Accept", "value": "*/*"}],
        "user": {"name": "ada", "apiKey": Hidden("bytes")},
        "usage": {"total_tokens": 5},
    }
    assert state == before


def test_a_secret_inside_a_class_takes_its_bytes_along() -> None:
    secret = Tagged("pydantic.types.SecretStr", "hunter2", b"\x00hunter2")
    user = Tagged("app.User", {"name": "ada", "password": "hunter2"}, b"...hunter2")
    hidden = USUAL.hide({"a": secret, "b": user, "c": Partial({"token": "t"}, ({"token": "u"}, 1))})
    assert hidden["a"] == Tagged("pydantic.types.SecretStr", Hidden("text"), None)
    assert hidden["b"] == Tagged("app.User", {"name": "ada", "password": Hidden("text")}, None)
    assert hidden["c"] == Partial({"token": Hidden("text")}, ({"token": Hidden("text")}, 1))
    assert one_line(hidden["b"]) == 'app.User({name: "ada", password: ●●●●})'
    assert USUAL.at({"a": secret}, ("a",)) is False
    assert USUAL.at({"b": user}, ("b", "password"))
    assert USUAL.at({"headers": [{"name": "Cookie", "value": "x"}]}, ("headers", 0, "value"))
    assert not USUAL.at({"headers": [{"name": "Accept", "value": "x"}]}, ("headers", 0, "value"))


keys = st.sampled_from(["password", "a", "b", "apiKey", "list"])
leaves = st.sampled_from(["hunter2", 4111111111, 1.5, None, True, ""])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))


@given(st.dictionaries(keys, values, max_size=4))
def test_what_holds_no_secret_is_the_same_object_and_nothing_secret_is_left(state: dict[str, object]) -> None:
    hidden = USUAL.hide(state)
    assert NOTHING.hide(state) is state
    assert (hidden is state) == (not secrets(state, False))
    assert not secrets(hidden, False)
    assert USUAL.hide(hidden) is hidden


def secrets(value: object, secret: bool) -> list[object]:
    """What of a value must not be shown."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in secrets(item, secret or USUAL.names(key))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in secrets(item, secret)]
    return [value] if secret and not (value in (None, "") or isinstance(value, bool | Hidden)) else []


def test_json_in_a_text_is_hidden_as_a_whole() -> None:
    """As models give the arguments of a tool."""
    call = {"name": "login", "arguments": '{"user": "ada", "password": "hunter2"}'}
    assert USUAL.hide(call) == {"name": "login", "arguments": Hidden("text")}
    harmless = {"a": '{"user": "ada", "password": null}', "b": "{not json, password", "c": "[]", "d": '{"usage": 1}'}
    assert USUAL.hide(harmless) is harmless
    nested = [json.dumps({"deeper": json.dumps([{"api_key": "k"}])})]
    assert USUAL.hide(nested) == [Hidden("text")]


def test_json_says_that_something_is_hidden_and_cannot_be_read_back() -> None:
    hidden = USUAL.hide({"password": "hunter2"})
    assert json.dumps(to_json(hidden)) == '{"password": {"$redacted": "text"}}'
    with pytest.raises(UsageError, match="hidden"):
        from_json(to_json(hidden), {"password": "hunter2"})
    looks_alike = {"$redacted": "text"}
    assert from_json(to_json(looks_alike)) == looks_alike


def test_a_deep_value_is_no_deep_call() -> None:
    deep: object = "hunter2"
    for _ in range(50_000):
        deep = [deep]
    hidden = USUAL.hide({"password": deep})["password"]
    while isinstance(hidden, list):
        (hidden,) = hidden
    assert hidden == Hidden("text")


def test_names_are_added_and_taken_out() -> None:
    words = ["national-id", "-card", "*_dsn"]
    own = Redaction(chosen(words))
    assert [own.names(key) for key in ("nationalId", "card", "pg_DSN", "password")] == [True, False, True, True]
    assert Redaction(chosen(["off", "plan"])).names("plan")
    assert not Redaction(chosen(["off", "plan"])).names("password")
    assert Redaction(chosen(["off"])).hide({"password": 1}) == {"password": 1}


def test_the_file_and_then_the_environment_decide(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    assert settings(file) == {}
    file.write_text('redact = ["national_id", "-card"]')
    own = hiding({"TT_DEBUG_REDACT": "card, -token"}, file)
    assert [own.names(key) for key in ("national_id", "card", "token", "password")] == [True, True, False, True]
    file.write_text("redact = false")
    assert hiding({}, file).hide({"password": "x"}) == {"password": "x"}
    assert hiding({"TT_DEBUG_REDACT": "password"}, file).names("password")


@pytest.mark.parametrize("text", ["redact = 7", "redact = [1]", "redact = [", "\xff"])
def test_a_file_that_is_wrong_says_which(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"config\.toml"):
        hiding({}, file)
