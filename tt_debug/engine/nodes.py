"""Calling a node: finding the user's function, giving it the state, and checking that its result can be stored.

Runs in the child process only. Owns the border to user code; what happens to a failure is the runner's.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from stores.codec import json as codec
from stores.effects import digest
from stores.errors import Invalid
from stores.model import Value
from stores.paths import format_path
from tt_debug.binaries import Binaries
from tt_debug.definition.code import code_of
from tt_debug.definition.schemas import BadSchema, schema_fault
from tt_debug.definition.workflow import HumanNode, ModelNode, Node, Workflow
from tt_debug.engine import providers
from tt_debug.engine.calling import Function, awaited, call
from tt_debug.engine.context import DELETE, Context
from tt_debug.engine.plan import merge
from tt_debug.engine.retry import FatalError


def look_beside(folder: str | None) -> None:
    """Let the workflow's folder serve imports first, and the working directory last."""
    if folder is not None and folder not in sys.path:
        sys.path.insert(0, folder)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What a node gave (a deleted key as null), and the state with it merged in, as JSON."""

    output: dict[str, Value]
    state: bytes


def call_node(
    workflow: Workflow, node: Node, state: bytes, ctx: Context, binaries: Binaries | None = None
) -> NodeResult:
    """Run the node on its own copy of ``state``, in which its binary values are bytes.

    Raises FatalError for a result that cannot be stored, and whatever the user's code raises.
    """
    binaries = binaries or Binaries()
    before = codec.loads_own(state)
    given = binaries.handed(state)
    try:
        with _limit(node.timeout_s, node.id), _in_this_process():
            result = binaries.taken(_result(node, given, before, ctx))
        merged = merge(before, result, DELETE)
        text = codec.dumps(merged)
    except Invalid as error:
        raise FatalError(f"the result of {node.id} cannot be saved: {error}") from error
    _check_schema(workflow, merged, node)
    return NodeResult({key: None if value is DELETE else value for key, value in result.items()}, text)


def _result(node: Node, state: dict[str, Value], before: dict[str, Value], ctx: Context) -> dict[str, Value]:
    """What the node gives; one that is marked ``cache`` gives again what the same code gave for the same state."""
    if not node.cache or isinstance(node, HumanNode):
        return _checked(node, _raw_result(node, state, ctx))

    def run() -> Value:
        result = _checked(node, _raw_result(node, state, ctx))
        kept = {key: value for key, value in result.items() if value is not DELETE}
        return {"set": kept, "delete": [key for key in result if key not in kept]}

    code = f"{code_of(node)} {node.model_dump_json()}"
    found = ctx.ledger.kept({"code": hashlib.sha256(code.encode()).hexdigest(), "state": digest(before)}, run)
    return {**found["set"], **dict.fromkeys(found["delete"], DELETE)}


def _raw_result(node: Node, state: dict[str, Value], ctx: Context) -> Value:
    if isinstance(node, HumanNode):
        raise TypeError(f"{node.id} is a human task: it is asked, not called")
    if isinstance(node, ModelNode):
        return {node.output_key: providers.answer(node, state, ctx, _call_provider)}
    return awaited(call(find(node.run), (state, ctx), 1))


def _call_provider(reference: str, prompt: str, state: Mapping[str, Value], ctx: Context) -> Value:
    return awaited(call(find(reference), (prompt, state, ctx), 1))


def _checked(node: Node, raw: Value) -> dict[str, Value]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise FatalError(f"{node.id} returned {type(raw).__name__}; a node returns a mapping to merge, or None")
    return {key: _plain(value, key, 1) for key, value in raw.items()}


def _plain(value: Value, key: Value, depth: int) -> Value:
    """Tuples as lists, subclasses of dict and list as what they are; everything else is the codec's to judge.

    Raises Invalid, naming ``key``, for a value nested deeper than the codec writes, as one that holds itself is.
    """
    if depth > codec.MAX_DEPTH:
        raise Invalid(f"cannot store {format_path((key,))} as JSON: nested deeper than {codec.MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {name: _plain(item, key, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, key, depth + 1) for item in value]
    return value


def _check_schema(workflow: Workflow, state: Mapping[str, Value], node: Node) -> None:
    try:
        fault = None if workflow.state_schema is None else schema_fault(workflow.state_schema, state)
    except BadSchema as error:
        raise FatalError(f"the state after {node.id} cannot be checked: the state_schema {error}") from error
    if fault is not None:
        raise FatalError(f"the state after {node.id} breaks the state_schema: {fault}")


def find(reference: str) -> Function:
    """The function that ``module:function`` names. Raises FatalError when there is none."""
    name, _, attribute = reference.partition(":")
    try:
        target: Any = importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        raise FatalError(f"{reference}: there is no module {missing!r} beside the workflow or on the path") from error
    _refuse_namesake(name.split(".")[0], sys.path[0])
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise FatalError(f"{reference}: {name} has no {part!r}")
        target = getattr(target, part)
    if not callable(target):
        raise FatalError(f"{reference} is a {type(target).__name__}, not a function")
    return target  # type: ignore[no-any-return]


@lru_cache
def _refuse_namesake(top: str, folder: str) -> None:
    """A file beside the workflow that bears the name of a module already in use would silently not be taken."""
    beside = [path for path in (Path(folder, f"{top}.py"), Path(folder, top, "__init__.py")) if path.exists()]
    origin = getattr(sys.modules[top], "__file__", None)
    if beside and (origin is None or Path(origin).resolve() != beside[0].resolve()):
        raise FatalError(f"{beside[0].name} beside the workflow is hidden by {origin or top}: rename it")


def _limit(seconds: float | None, name: str) -> AbstractContextManager[None]:
    """Raise TimeoutError in a node when it runs longer than that."""
    return nullcontext() if seconds is None else _limited(seconds, name)


@contextmanager
def _limited(seconds: float, name: str) -> Iterator[None]:
    def expired(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"{name} ran longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _in_this_process() -> Iterator[None]:
    """End a copy of this process (`os.fork`) where it comes back from user code: the run is not its to go on with."""
    owner, code = os.getpid(), 0
    try:
        yield
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    except BaseException:
        code = 1
        raise
    finally:
        if os.getpid() != owner:
            os._exit(code)
