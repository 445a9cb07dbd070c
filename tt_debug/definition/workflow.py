"""A workflow definition as values: nodes, edges, retry policies.

Owns the shapes and what a single field may hold. Reading files is `load`, checking the graph of the nodes is
`check`, deciding what runs next is `plan`. Importing it costs pydantic (57 ms): import it when a workflow is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from stores.model import Value
from stores.runs import Definition

REFERENCE = r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"
"""``module:function``, the only way a definition names code."""

PROVIDERS = ("template", "scripted", "recorded", "seeded")
"""The providers of ``llm_call`` that need no code of the user's."""


def _edges(value: Value) -> Value:
    """``next`` in its three written forms as a list of edges; anything else is refused in words."""
    if value is None or isinstance(value, str):
        return [{"to": value}]
    if isinstance(value, list) and value:
        return value
    raise ValueError("must be a node id, null, or a list of {when, to} with at least one entry")


def _version(value: Value) -> Value:
    if not isinstance(value, str):
        raise ValueError('must be quoted text ("1.20"): a bare 1.20 is a number and would become 1.2')
    return value


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Retry(_Model):
    """How often a node is attempted. ``max`` counts all attempts; ``first`` and ``cap`` are seconds."""

    max: int = Field(ge=1, le=100)
    backoff: Literal["exponential", "fixed"] = "exponential"
    first: float = Field(default=1.0, ge=0, le=60, allow_inf_nan=False)
    cap: float = Field(default=30.0, ge=0, le=60, allow_inf_nan=False)


class Edge(_Model):
    """One way out of a node; ``when`` is a JMESPath condition on the state, ``to`` None ends the run."""

    to: str | None
    when: str | None = None


class Chained(_Model):
    """A workflow to start when this one has ended."""

    run: str
    input: str | None = None


class Migration(_Model):
    """How a state of another version is brought to this one."""

    from_version: str = Field(alias="from")
    run: str = Field(pattern=REFERENCE)


class _Node(_Model):
    id: str = Field(min_length=1)
    next: Annotated[tuple[Edge, ...], BeforeValidator(_edges), Field(strict=False)]
    retry: Retry = Retry(max=1)
    on_interrupt: Literal["retry", "skip", "fail", "ask"] = "retry"
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    cache: bool = False
    on_complete: Chained | None = None


class PythonNode(_Node):
    """A function of the user's: ``fn(state)`` or ``fn(state, ctx)``, whose mapping is merged into the state."""

    type: Literal["python"]
    run: str = Field(pattern=REFERENCE)


class ModelNode(_Node):
    """A model call. The answer is stored under ``output``, the node's id by default."""

    type: Literal["llm_call"]
    provider: str = "template"
    prompt: str | None = None
    output: str | None = Field(default=None, min_length=1)
    script: list[Value] = Field(default_factory=list)
    choices: list[Value] = Field(default_factory=list)
    seed: str | int | None = None

    @property
    def output_key(self) -> str:
        """The key of the state that the answer is stored under."""
        return self.output or self.id


class HumanNode(_Node):
    """A question to a human; the run ends durably and the answer is stored under the node's id."""

    type: Literal["human_task"]
    prompt: str | None = None
    response_schema: dict[str, Value] | None = None
    due: str | None = Field(default=None, pattern=r"^\d+[smhd]$")
    on_timeout: Literal["wait", "reject", "fail"] = "wait"

    @property
    def time_to_answer(self) -> timedelta | None:
        """How long an answer is waited for; None without end."""
        if self.due is None:
            return None
        return timedelta(**{_UNITS[self.due[-1]]: int(self.due[:-1])})


Node: TypeAlias = PythonNode | ModelNode | HumanNode

_UNITS: Mapping[str, str] = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

NODE_TYPES: Mapping[str, type[PythonNode] | type[ModelNode] | type[HumanNode]] = {
    "python": PythonNode,
    "llm_call": ModelNode,
    "human_task": HumanNode,
}


class Top(_Model):
    """Everything of a definition but its nodes, which are checked one by one so that no problem hides another."""

    workflow_id: str = Field(min_length=1)
    version: Annotated[str, BeforeValidator(_version), Field(min_length=1)]
    nodes: list[Any] = Field(min_length=1)
    state_schema: dict[str, Value] | None = None
    compatible_with: list[str] = Field(default_factory=list)
    migrations: list[Migration] = Field(default_factory=list)
    strict_code: bool = False


@dataclass(frozen=True, slots=True)
class Workflow:
    """A definition that passed every check. ``origin`` is the absolute path of its file, when it came from one."""

    workflow_id: str
    version: str
    nodes: tuple[Node, ...]
    state_schema: Mapping[str, Value] | None
    body: str
    hash: str
    origin: str | None = None
    compatible_with: tuple[str, ...] = ()
    migrations: tuple[Migration, ...] = ()
    strict_code: bool = False
    _by_id: Mapping[str, Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {node.id: node for node in self.nodes})

    @property
    def start(self) -> str:
        """The first node of the file."""
        return self.nodes[0].id

    def node(self, name: str) -> Node | None:
        """The node of that id, None when there is none."""
        return self._by_id.get(name)

    def definition(self) -> Definition:
        """What a store keeps of it."""
        return Definition(self.hash, self.workflow_id, self.version, self.body, self.origin)

    def code(self) -> str:
        """What a run of it imports, in words; empty when it imports nothing."""
        references = [node.run if node.type == "python" else getattr(node, "provider", "") for node in self.nodes]
        modules = dict.fromkeys(name.split(":")[0] for name in references if ":" in name)
        return ", ".join(self._found(module) for module in modules)

    def _found(self, module: str) -> str:
        if self.origin is None:
            return module
        file = Path(self.origin)
        top = module.split(".")[0]
        if (file.parent / f"{top}.py").exists():
            return f"{top}.py beside {file.name}"
        if (file.parent / top).is_dir():
            return f"{top}/ beside {file.name}"
        return module
