"""The answers of ``llm_call`` nodes: templates, scripts and seeded choices that need no network, or a user's function.

Owns what each provider answers, the same input giving the same answer; calling user code is `nodes`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Final

from stores.effects import EffectClass
from stores.model import Value
from tt_debug.definition.prompts import MissingName, fill
from tt_debug.definition.workflow import ModelNode
from tt_debug.engine.context import Context
from tt_debug.engine.retry import FatalError

_EFFECT: Final = "llm"

CallProvider = Callable[[str, str, Mapping[str, Value], Context], Value]
"""(reference, prompt, state, ctx) → the answer of a user's own provider."""


def answer(node: ModelNode, state: Mapping[str, Value], ctx: Context, call: CallProvider) -> Value:
    """What the model says, or said before to the same prompt. Raises FatalError when it cannot be known; ``call`` may
    raise what user code raises."""
    prompt = _prompt(node, state)
    if node.provider == "recorded":
        return ctx.ledger.played(_EFFECT, prompt)
    # A function of the user's sees the whole state, so another state is another request.
    seen = {"state": _digest(state)} if ":" in node.provider else {}
    request = {"provider": node.provider, "prompt": prompt, **seen}
    return ctx.effect(
        _EFFECT, lambda _key: _answer(node, prompt, state, ctx, call), request, cls=EffectClass.REPEATABLE
    )  # fmt: skip


def _answer(node: ModelNode, prompt: str, state: Mapping[str, Value], ctx: Context, call: CallProvider) -> Value:
    match node.provider:
        case "template":
            return prompt
        case "scripted":
            return _scripted(node, ctx.visit)
        case "seeded":
            return node.choices[_number(node, prompt, ctx.visit) % len(node.choices)]
        case reference:
            return call(reference, prompt, state, ctx)


def _prompt(node: ModelNode, state: Mapping[str, Value]) -> str:
    if node.prompt is None:
        return f"{node.id}({', '.join(state)}) #{_digest(state)[:8]}"
    try:
        return fill(node.prompt, state)
    except MissingName as error:
        raise FatalError(f"the prompt of {node.id} cannot be filled: {error}") from error


def _scripted(node: ModelNode, visit: int) -> Value:
    if visit > len(node.script):
        raise FatalError(f"the script of {node.id} has {len(node.script)} answers and this is visit {visit}")
    return node.script[visit - 1]


def _number(node: ModelNode, prompt: str, visit: int) -> int:
    return int(_digest([node.seed, node.id, prompt, visit]), 16)


def _digest(value: Value) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
