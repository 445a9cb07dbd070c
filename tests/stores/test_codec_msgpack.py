"""The msgpack codec: byte for byte, nothing built, nothing run; and the splicing of maps."""

from __future__ import annotations

import contextlib
import math
import sys

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.codec import msgpack, splice
from stores.codec.msgpack import Decoder, encode
from stores.errors import Corrupt, Invalid
from stores.model import MISSING, Opaque, Partial, Tagged

NON_STR_KEYS = ormsgpack.OPT_NON_STR_KEYS
KEYS = st.text() | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.none()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    max_leaves=25,
)


def ext(code: int, payload: object) -> ormsgpack.Ext:
    return ormsgpack.Ext(code, payload if isinstance(payload, bytes) else pack(payload))


def pack(value: object) -> bytes:
    return ormsgpack.packb(value, option=NON_STR_KEYS)


@given(VALUES)
def test_what_was_stored_is_written_back_byte_for_byte(value: object) -> None:
    raw = pack(value)
    assert encode(Decoder().decode(raw)) == raw


MESSAGE = ["langchain_core.messages.ai", "AIMessage", {"content": "hi", "id": "m1"}, "model_validate_json"]


def test_a_class_becomes_a_tagged_value_and_is_not_imported() -> None:
    before = set(sys.modules)
    message = Decoder().decode(pack([ext(5, MESSAGE)]))[0]
    assert message == Tagged(
        "langchain_core.messages.ai.AIMessage", MESSAGE[2], pack(MESSAGE), (5, *MESSAGE[:2], MESSAGE[3])
    )
    assert not {name for name in set(sys.modules) - before if name.startswith("langchain")}


def test_an_edited_payload_keeps_its_class() -> None:
    message = Decoder().decode(pack(ext(5, MESSAGE)))
    edited = message.with_value({**message.value, "content": "bye"})
    assert encode(edited) == pack(ext(5, [*MESSAGE[:2], {"content": "bye", "id": "m1"}, MESSAGE[3]]))
    assert Decoder().decode(encode(edited)).value["content"] == "bye"


def test_equal_payloads_are_the_same_object_within_a_decoder() -> None:
    decoder = Decoder()
    first, second = decoder.decode(pack([ext(5, MESSAGE)])), decoder.decode(pack({"m": ext(5, MESSAGE)}))
    assert first[0] is second["m"]
    assert Decoder(budget=0).decode(pack([ext(5, MESSAGE)] * 2)) == first * 2


def numbered(number: int) -> ormsgpack.Ext:
    return ext(5, [*MESSAGE[:2], {"content": f"{number:04}"}, MESSAGE[3]])


@given(st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=2, max_size=6))
def test_equal_payloads_are_the_same_object_wherever_they_stand_in_the_next_text(texts: list[list[int]]) -> None:
    decoder = Decoder()
    known: dict[int, Tagged] = {}
    for numbers in texts:
        found = decoder.decode(pack([numbered(number) for number in numbers]))
        assert found == Decoder().decode(pack([numbered(number) for number in numbers]))
        assert all(known.setdefault(number, value) is value for number, value in zip(numbers, found, strict=True))


def test_payloads_of_another_code_are_other_values_at_the_same_place() -> None:
    decoder = Decoder()
    first, second = decoder.decode(pack(ext(42, b"x"))), decoder.decode(pack(ext(43, b"x")))
    assert (first.kind, second.kind) == ("msgpack extension 42", "msgpack extension 43")


def test_what_is_no_longer_asked_for_is_forgotten_and_what_is_stays() -> None:
    size = len(pack(numbered(0)))
    decoder = Decoder(budget=20 * size)
    rare, often = decoder.decode(pack(numbered(0))), decoder.decode(pack([numbered(1)]))[0]
    for number in range(2, 60):
        assert decoder.decode(pack([numbered(number), numbered(1)]))[1] is often
    assert decoder.decode(pack(numbered(0))) is not rare


SPECIAL = {
    "an array": (ext(6, ["<f8", [2], "C", b"12345678"]), Opaque, "ndarray"),
    "an unknown extension": (ext(42, b"\x01\x02"), Opaque, "msgpack extension 42"),
    "an undecodable class": (ext(0, b"\xdd\xff\xff\xff\xff"), Opaque, "undecodable"),
    "a class of another shape": (ext(1, ["only", "two"]), Opaque, "undecodable"),
    "a class whose name is a number": (ext(1, ["module", 3, []]), Opaque, "undecodable"),
    "a snapshot": (ext(7, [1, 2]), Tagged, "delta snapshot"),
    "bytes": (b"\x00\xff", Opaque, "bytes"),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_has_no_plain_form_keeps_its_kind_and_bytes(name: str) -> None:
    packed, shape, kind = SPECIAL[name]
    raw = pack({"x": [packed], "text": "Łódź"})
    value = Decoder().decode(raw)["x"][0]
    assert type(value) is shape
    assert (value.kind if isinstance(value, Opaque) else value.type_name) == kind
    assert encode(Decoder().decode(raw)) == raw


def nested_extensions(levels: int) -> bytes:
    raw = pack(1)
    for _ in range(levels):
        raw = pack(ext(0, ["m", "C", ormsgpack.Ext(7, raw)]))
    return raw


HOSTILE = {
    "a list with no items": b"\xdd\xff\xff\xff\xff",
    "nothing": b"",
    "nesting": b"\x91" * 100_000 + b"\xc0",
    "bytes below nesting": b"\x91" * 1000 + b"\xc4\x01x",
    "a length beyond the end": b"\xc6\xff\xff\xff\xff",
    "the reserved byte": b"\xc1",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_corrupt(name: str) -> None:
    with pytest.raises(Corrupt, match="not msgpack"):
        Decoder().decode(HOSTILE[name])


def test_extensions_nested_without_end_stay_bytes_below_the_bound() -> None:
    raw = nested_extensions(3000)
    assert encode(Decoder().decode(raw)) == raw


REFUSED = {
    "a big integer": (2**64, "64 bits"),
    "half a surrogate": ("\ud800", "surrogate"),
    "a part": (Partial(MISSING, ()), "only in part"),
    "a pickle": (Opaque("pickle", b""), "pickle"),
    "a tuple": ((1,), "tuple"),
    "a set": ({1}, "set"),
    "a key": ({2**64: 1}, "64 bits"),
    "inside a class": (Tagged("m.C", [2**70], None, (1, "m", "C")), "64 bits"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_msgpack_cannot_hold_is_refused_with_its_path(name: str) -> None:
    value, reason = REFUSED[name]
    with pytest.raises(Invalid) as caught:
        encode({"fine": math.nan, "steps": [0, value]}, ("plan",))
    assert "plan.steps[1]" in str(caught.value)
    assert reason in str(caught.value)


def test_a_snapshot_of_a_whole_value_can_be_made() -> None:
    assert encode({"log": msgpack.delta_snapshot([1])}) == pack({"log": ext(7, [1])})


@given(st.dictionaries(st.text(), VALUES))
def test_a_map_is_taken_apart_and_put_together_unchanged(value: dict[str, object]) -> None:
    raw = pack(value)
    parts = splice.split_map(raw)
    assert [part.key for part in parts] == list(value)
    assert [part.raw for part in parts] == [pack(item) for item in value.values()]
    assert splice.join_map(parts) == raw


@pytest.mark.parametrize("count", [0, 15, 16, 70_000])
def test_maps_of_every_head_size(count: int) -> None:
    raw = pack({str(number): number for number in range(count)})
    assert splice.join_map(splice.split_map(raw)) == raw


def test_one_value_is_replaced_and_the_others_stay() -> None:
    odd = b"\x82\xd9\x01a\xcd\x00\x01\xa1b\xc0"  # a long head for a short key, two bytes for a small number
    parts = splice.split_map(odd)
    assert splice.join_map([parts[0], splice.entry("b", pack("new"))]) == odd[:7] + pack("b") + pack("new")


@pytest.mark.parametrize(
    "raw", [b"", b"\x91\x01", b"\x81\x01\x02", b"\x81\xa1a", b"\x80\x00", b"\x81\xa1a\xc1", b"\x81\xa1a\xa5b"]
)
def test_what_is_no_map_of_texts_is_corrupt(raw: bytes) -> None:
    with pytest.raises(Corrupt):
        splice.split_map(raw)


@given(st.binary())
def test_no_bytes_break_the_splitting_or_the_decoding(raw: bytes) -> None:
    for reader in (splice.split_map, Decoder().decode):
        with contextlib.suppress(Corrupt):
            reader(raw)
