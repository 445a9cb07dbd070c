"""What a thread's rows may have built when LangGraph reads them. In the user's interpreter: stdlib only, Python 3.9.

LangGraph's serializer imports the module that a value names and calls what it names there (langgraph-checkpoint 2.x …
4.x, serde/jsonplus.py); agreed to is the user's graph, and nothing else. Owns which names pass and the refusal of the
others; refuses to decode anything itself, to import for a row, and to touch what is written.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import sys
import threading
import types
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from .graph_target import Refused

PICKLE = "pickle"
_FROM_TEXT = "fromisoformat"
SAFE = frozenset(
    f"{module}.{name}"
    for module, names in {
        # SAFE_MSGPACK_TYPES and SAFE_MSGPACK_METHODS of langgraph-checkpoint 4.3, serde/_msgpack.py: its strict mode.
        "datetime": f"datetime date time timedelta timezone datetime.{_FROM_TEXT}",
        "uuid": "UUID",
        "decimal": "Decimal",
        "builtins": "set frozenset",
        "collections": "deque",
        "ipaddress": "IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network",
        "pathlib": "Path PosixPath WindowsPath",
        "pathlib._local": "Path PosixPath WindowsPath",
        "zoneinfo": "ZoneInfo",
        "re": "compile",
        "langchain_core.messages.base": "BaseMessage BaseMessageChunk",
        "langchain_core.messages.human": "HumanMessage HumanMessageChunk",
        "langchain_core.messages.ai": "AIMessage AIMessageChunk",
        "langchain_core.messages.system": "SystemMessage SystemMessageChunk",
        "langchain_core.messages.chat": "ChatMessage ChatMessageChunk",
        "langchain_core.messages.tool": "ToolMessage ToolMessageChunk",
        "langchain_core.messages.function": "FunctionMessage FunctionMessageChunk",
        "langchain_core.messages.modifier": "RemoveMessage",
        "langchain_core.documents.base": "Document",
        "langgraph.types": "Send TimeoutPolicy Interrupt Command StateSnapshot PregelTask Overwrite",
        "langgraph.store.base": "Item GetOp",
        "langgraph.constants": "Send Interrupt",  # where they were before langgraph.types
    }.items()
    for name in names.split()
)
# What `_msgpack_default` of serde/jsonplus.py writes values of: by their base, or by a method that they have.
_BASES: tuple[type, ...] = (
    *(enum.Enum, pathlib.PurePath, uuid.UUID, decimal.Decimal, set, frozenset, deque, ZoneInfo, BaseException),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.timezone),
    *(ipaddress.IPv4Address, ipaddress.IPv4Network, ipaddress.IPv6Address, ipaddress.IPv6Network),
)
_METHODS = ("model_dump", "get_secret_value", "dict", "_asdict")

_CALLS = range(6)  # the extension codes whose payload is a module, a name, arguments and maybe a method
_BY_METHOD = 3
_NAMELESS = "a value without the name of its class"
_PROBE = b"\xc7\x06\x00\x93\xa1?\xa1?\xc0"  # extension 0 of ["?", "?", null]


def is_value(found: Any) -> bool:
    """Whether it is a class, and one of values that LangGraph's serializer writes: none that does something."""
    if not isinstance(found, type):
        return False
    marked = any(callable(getattr(found, name, None)) for name in _METHODS)
    return marked or dataclasses.is_dataclass(found) or issubclass(found, _BASES)


def is_held(module: str, name: str) -> bool:
    """Whether an imported module has a class of values under a name, or nothing: then nothing is built, as ever."""
    if module not in sys.modules:
        return False
    names = getattr(sys.modules[module], "__dict__", {})
    if name in names:
        return is_value(names[name])
    if module == "__main__":  # a script's own classes: the driver stands where the script stood
        return is_value(getattr(sys.modules[module], name, enum.Enum))
    # A lazy module imports what it is asked for, and every module has methods.
    lazy = type(sys.modules[module]) is not types.ModuleType or "__getattr__" in names
    return not lazy and not hasattr(types.ModuleType, name)


class Guard:
    """The serializer of one run's thread: it builds what is `SAFE`, imported values, and what is ``trusted`` by name.

    There is one a process: the driver's. Elsewhere in the user's code LangGraph's serializer is as it was.
    """

    def __init__(self, trusted: Sequence[str]) -> None:
        """Raises Refused for a release whose reading cannot be guarded."""
        self._trusted = frozenset(trusted)
        self._here = threading.local()  # .met: what was met in the text that this thread is reading
        self._surveyed: dict[str, None] | None = None
        self._install()
        sys.addaudithook(self._audit)

    def over(self, saver: Any) -> Any:
        """The saver, reading through this guard, and so whatever LangGraph's strict mode makes of it."""
        if hasattr(saver, "with_allowlist"):
            bare = copy.copy(saver)
            saver.with_allowlist = lambda extra: self.over(copy.copy(bare.with_allowlist(extra)))
        saver.serde = _Guarded(saver.serde, self)
        if hasattr(saver, "jsonplus_serde"):  # metadata, before langgraph-checkpoint-sqlite 3.0
            saver.jsonplus_serde = _Guarded(saver.jsonplus_serde, self)
        return saver

    def survey(self, read: Callable[[], Any], where: str) -> None:
        """Read what ``where`` says, and refuse with everything in it that may not be built."""
        names: dict[str, None] = {}
        self._surveyed = names
        try:
            with contextlib.suppress(_Untrusted):
                read()
        finally:
            self._surveyed = None
            if names:
                raise _Untrusted(list(names), f"{where} holds ")

    def reading(self, kind: str, read: Callable[[], Any]) -> Any:
        """What ``read`` gives. Raises Refused where it met something that may not be built."""
        pickled = kind.partition("+")[0] == PICKLE
        if pickled and PICKLE not in self._trusted:
            self._note([PICKLE])
            raise _Untrusted([PICKLE])
        met: list[str] = []
        outer, self._here.met = getattr(self._here, "met", None), met
        try:
            return read()
        except NotImplementedError:
            if not pickled:
                raise
            hint = "compile it with a saver whose serializer has pickle_fallback=True"
            raise Refused("usage", "this graph's own serializer reads no pickles", hint) from None
        finally:
            self._here.met = outer
            if met and not self._note(met):
                raise _Untrusted(met)

    def _note(self, names: Sequence[str]) -> bool:
        """Whether a survey goes on and has them."""
        if self._surveyed is None:
            return False
        self._surveyed.update(dict.fromkeys(names))
        return True

    # --- what is looked at on its way

    def _install(self) -> None:
        """Put ourselves before each place where the serializer builds something."""
        from langgraph.checkpoint.serde import jsonplus

        for library in ("ormsgpack", "msgpack"):
            if library in vars(jsonplus):
                setattr(jsonplus, library, _Unpacking(vars(jsonplus)[library], self._before))
        serializer: Any = jsonplus.JsonPlusSerializer
        revive = serializer._reviver
        serializer._reviver = lambda serde, value: self._revived(value, lambda: revive(serde, value))
        with contextlib.suppress(_Untrusted, NotImplementedError):
            self.reading("msgpack", lambda: serializer().loads_typed(("msgpack", _PROBE)))
            text = "this release of langgraph-checkpoint reads values in a way that is not known here"
            raise Refused("missing", text, "take another release of it")

    def _before(self, hook: Any, code: int, data: bytes, shallow: Callable[[bytes], Any]) -> Any:
        """One msgpack extension: built by ``hook``, or nothing."""
        met = getattr(self._here, "met", None)
        if met is None or code not in _CALLS:
            return hook(code, data)
        try:
            payload = shallow(data)
        except ValueError:  # the hook cannot read it either
            return hook(code, data)
        name = payload[:2] + payload[3:4] * (code == _BY_METHOD) if isinstance(payload, list) else []
        if self._passes(name, met):
            return hook(code, data)
        return None

    def _revived(self, value: Any, revive: Callable[[], Any]) -> Any:
        """One JSON object: built by ``revive``, or nothing."""
        met = getattr(self._here, "met", None)
        if met is None or value.get("type") != "constructor" or value.get("lc") not in (1, 2):
            return revive()
        path, methods = value.get("id"), value.get("method")
        if not isinstance(path, list) or not all(type(part) is str for part in path):
            path = []
        if value["lc"] == 1 and _in_core(path):
            return revive()
        name = [".".join(path[:-1]), *path[-1:]]
        called = methods if isinstance(methods, list) else [methods]
        names = [[*name, method] for method in called if method not in (None, "construct", "model_construct")]
        return revive() if all(self._passes(each, met) for each in (name, *names)) else None

    def _passes(self, name: Sequence[Any], met: list[str]) -> bool:
        # A part that is itself to be built could come out as any text.
        if len(name) < 2 or not all(type(part) is str for part in name):
            met.append(_NAMELESS)
            return False
        dotted = ".".join(name)
        if dotted in SAFE or dotted in self._trusted:
            return True
        if is_held(name[0], name[1]) and (len(name) == 2 or _from_text(*name)):
            return True
        met.append(dotted)
        return False

    def _audit(self, event: str, arguments: Any) -> None:
        """A serializer of the user's own that reads pickles is stopped too."""
        if event == "pickle.find_class" and PICKLE not in self._trusted:
            met = getattr(self._here, "met", None)
            if met is not None:
                met.append(PICKLE)
                raise _Untrusted(met)


class _Untrusted(Refused):
    """Names in stored bytes that stand for nothing the graph has imported."""

    def __init__(self, names: Sequence[str], where: str = "it was to read ") -> None:
        known = tuple(dict.fromkeys(names))
        text = f"{where}{', '.join(known)}, and nothing is built but values whose class the graph has imported"
        named = tuple(name for name in known if name != _NAMELESS)
        asked = "".join(f"--trust {name} " for name in named)
        hint = f"import its class where the graph is{f'; or {asked}lets it through' if asked else ''}"
        super().__init__("untrusted", text, hint, named)


class _Guarded:
    """A serializer that reads under guard, and writes as it did."""

    def __init__(self, inner: Any, guard: Guard) -> None:
        self.inner, self._guard = inner, guard

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def dumps_typed(self, value: Any) -> Any:
        return self.inner.dumps_typed(value)

    def loads_typed(self, data: Any) -> Any:
        return self._guard.reading(data[0], lambda: self.inner.loads_typed(data))

    def loads(self, data: bytes) -> Any:
        return self._guard.reading("json", lambda: self.inner.loads(data))


class _Unpacking:
    """The msgpack library as LangGraph's serializer sees it."""

    def __init__(self, library: Any, before: Callable[..., Any]) -> None:
        self._library, self._before = library, before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def unpackb(self, data: bytes, ext_hook: Any, **how: Any) -> Any:
        def shallow(payload: bytes) -> Any:
            return self._library.unpackb(payload, ext_hook=lambda code, inner: None, **how)

        def hook(code: int, payload: bytes) -> Any:
            return self._before(ext_hook, code, payload, shallow)

        return self._library.unpackb(data, ext_hook=hook, **how)


def _from_text(module: str, name: str, method: str) -> bool:
    """Whether it is how a subclass of datetime is read."""
    found = vars(sys.modules[module]).get(name)
    return method == _FROM_TEXT and isinstance(found, type) and issubclass(found, datetime.date)


def _in_core(path: Sequence[str]) -> bool:
    """Whether LangChain reads this name as one of its core package, where nothing has effects."""
    from langchain_core.load.load import ALL_SERIALIZABLE_MAPPINGS

    return tuple(ALL_SERIALIZABLE_MAPPINGS.get(tuple(path), path))[:1] == ("langchain_core",)
