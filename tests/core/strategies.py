"""Values of every kind a state may hold, for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from stores.model import MISSING, Opaque, Partial, Tagged, Value

CLASSES = st.sampled_from(["langchain_core.messages.ai.AIMessage", "decimal.Decimal", "app.Rec"])
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.sampled_from([0.0, -0.0, 1.0, 2.0, float("nan"), float("inf"), float("-inf")]),
    st.floats(),
    st.sampled_from(["", "1", "a", "b", "a.b", "a/b~c", "a']['b", "x [y]", "京都", "\ud83d", "\x1b[2J"]),
    st.text(max_size=5),
)
KEYS = st.one_of(
    st.sampled_from(["a", "b", "id", "content", "it's", "a.b", "", "$type", "1", "a]"]),
    st.text(max_size=3),
)
NAMES = KEYS.filter(lambda key: not key.startswith("$"))
ODD_KEYS = st.one_of(KEYS, st.integers(-1, 2), st.booleans(), st.none(), st.sampled_from([1.0, b"k", (1, "a")]))
OPAQUE = st.builds(Opaque, st.sampled_from(["pickle", "bytes"]), st.binary(max_size=2))


def _wider(parts: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(
        st.lists(parts, max_size=6),
        st.dictionaries(KEYS, parts, max_size=4),
        st.dictionaries(ODD_KEYS, parts, max_size=3),
        st.builds(Tagged, CLASSES, parts, st.one_of(st.none(), st.binary(max_size=1).map(lambda b: b + b"?"))).map(
            lambda tagged: Tagged(tagged.type_name, tagged.value)
        ),
        st.builds(Partial, st.one_of(st.just(MISSING), parts), st.lists(parts, max_size=2).map(tuple)),
        st.lists(st.fixed_dictionaries({"id": st.integers(0, 5), "content": parts}), max_size=6),
    )


def json_values() -> st.SearchStrategy[Value]:
    """What JSON can say, NaN and infinities aside."""
    atoms = st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, -0.0, 1.0, 2.5]), st.text(max_size=3)
    )
    return st.recursive(
        atoms,
        lambda parts: st.one_of(st.lists(parts, max_size=6), st.dictionaries(NAMES, parts, max_size=4)),
        max_leaves=20,
    )


def values() -> st.SearchStrategy[Value]:
    """Any value of a state."""
    return st.recursive(st.one_of(ATOMS, OPAQUE), _wider, max_leaves=20)


@st.composite
def edited(draw: st.DrawFn, fresh: st.SearchStrategy[Value] | None = None) -> tuple[Value, Value]:
    """A value, and another that mostly shares its parts: what a step does to a state."""
    fresh = fresh if fresh is not None else values()
    old = draw(fresh)
    new = old
    for _ in range(draw(st.integers(0, 3))):
        new = _edit(draw, new, fresh)
    return old, new


def _edit(draw: st.DrawFn, value: Value, fresh: st.SearchStrategy[Value]) -> Value:
    if isinstance(value, Tagged):
        return Tagged(value.type_name, _edit(draw, value.value, fresh))
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(list(value)))
        return {**value, key: _edit(draw, value[key], fresh)}
    if isinstance(value, list) and value:
        return _edit_list(draw, list(value), fresh)
    return draw(fresh)


def _edit_list(draw: st.DrawFn, items: list[Value], fresh: st.SearchStrategy[Value]) -> list[Value]:
    at, to = draw(st.integers(0, len(items) - 1)), draw(st.integers(0, len(items) - 1))
    what = draw(st.sampled_from(["insert", "remove", "move", "edit", "shuffle"]))
    if what == "insert":
        items.insert(at, draw(fresh))
    elif what == "remove":
        del items[at]
    elif what == "move":
        items.insert(to, items.pop(at))
    elif what == "edit":
        items[at] = _edit(draw, items[at], fresh)
    else:
        items = draw(st.permutations(items))
    return items
