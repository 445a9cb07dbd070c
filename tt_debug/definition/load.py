"""From a definition file or a stored body to a `Workflow`, or to all of its problems at once, each with its place.

Owns the reading of JSON and YAML and the wording of problems; what is a problem is `workflow` and `check`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, ValidationError

from stores.model import Value
from tt_debug.definition.check import Problem, field_problems, graph_problems
from tt_debug.definition.workflow import NODE_TYPES, Node, Top, Workflow
from tt_debug.errors import DefinitionError

if TYPE_CHECKING:
    from tt_debug.definition.source import Source

Loc: TypeAlias = tuple[str | int, ...]


def load_workflow(path: str | Path) -> Workflow:
    """The workflow in a ``.yaml``, ``.yml`` or ``.json`` file. Raises DefinitionError with every problem."""
    from tt_debug.definition.source import read_source  # 20 ms of ruamel.yaml; every run reads a stored body, JSON

    file = Path(path).absolute()
    source = read_source(file)
    workflow, problems = _read(source.value, str(file), whole_graph=True)
    if problems or workflow is None:
        raise _error(file.name, source, problems)
    return workflow


def load_body(body: str, origin: str | None = None) -> Workflow:
    """The workflow of a stored definition. Its graph was checked when it was registered and is not checked again."""
    try:
        value = json.loads(body)
    except ValueError as error:
        raise DefinitionError("the stored definition is not JSON", (str(error),)) from error
    workflow, problems = _read(value, origin, whole_graph=False)
    if problems or workflow is None:
        from tt_debug.definition.source import Source

        raise _error("the stored definition", Source(value, {}), problems)
    return workflow


def differences(old: Workflow, new: Workflow) -> tuple[str, ...]:
    """What changed between two definitions, one sentence each, nodes in the order of ``old``, then added ones."""
    before, after = json.loads(old.body), json.loads(new.body)
    found = [
        f"{key}: {_short(before.get(key))} → {_short(after.get(key))}"
        for key in dict.fromkeys([*before, *after])
        if key != "nodes" and before.get(key) != after.get(key)
    ]
    if old.start != new.start:
        found.append(f"starts at {new.start} instead of {old.start}")
    old_nodes = {node["id"]: node for node in before["nodes"]}
    new_nodes = {node["id"]: node for node in after["nodes"]}
    for name, node in old_nodes.items():
        if name not in new_nodes:
            found.append(f"node {name} is gone")
        else:
            found += _node_differences(name, node, new_nodes[name])
    return (*found, *(f"node {name} is new" for name in new_nodes if name not in old_nodes))


def _node_differences(name: str, old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterator[str]:
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield f"node {name}: {key} {_short(old.get(key))} → {_short(new.get(key))}"


def _short(value: Value) -> str:
    text = json.dumps(value, ensure_ascii=False) if value is not None else "none"
    return text if len(text) <= 60 else text[:59] + "…"


def _error(name: str, source: Source, problems: Sequence[Problem]) -> DefinitionError:
    ordered = sorted(problems, key=lambda problem: source.line(problem.place) or 0)
    lines = tuple(source.describe(name, problem.place, problem.text) for problem in ordered)
    count = "a problem" if len(lines) == 1 else f"{len(lines)} problems"
    return DefinitionError(f"{name} has {count}", lines, hint="correct the definition; nothing was run or stored")


def _read(value: Value, origin: str | None, *, whole_graph: bool) -> tuple[Workflow | None, list[Problem]]:
    if not isinstance(value, dict):
        return None, [Problem((), "a definition is a mapping with workflow_id, version and nodes")]
    top, problems = _validate(Top, value, ())
    written = value.get("nodes")
    raw_nodes = written if isinstance(written, list) else []
    nodes: list[Node] = []
    for index, raw in enumerate(raw_nodes):
        node, found = _read_node(raw, ("nodes", index))
        problems += found
        if node is not None:
            nodes.append(node)
    problems += field_problems(value, raw_nodes)
    if whole_graph:
        problems += graph_problems(raw_nodes)
    if problems or top is None:
        return None, problems
    try:
        body = _canonical(value)
    except ValueError as error:
        return None, [Problem((), f"is not plain JSON: {error}")]
    workflow = Workflow(
        top.workflow_id, top.version, tuple(nodes), top.state_schema, body, hashlib.sha256(body.encode()).hexdigest(),
        origin, tuple(top.compatible_with), tuple(top.migrations), top.strict_code,
    )  # fmt: skip
    return workflow, []


def _canonical(value: Value) -> str:
    """The definition as written, independent of its layout, so that re-indenting a file changes no hash."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text.encode()  # half a surrogate pair is refused here
    return text


def _read_node(raw: Value, place: Loc) -> tuple[Node | None, list[Problem]]:
    if not isinstance(raw, dict):
        return None, [Problem(place, "a node is a mapping with id, type and next")]
    kind = raw.get("type")
    model = NODE_TYPES.get(kind) if isinstance(kind, str) else None
    if model is None:
        known = ", ".join(NODE_TYPES)
        what = "type is missing" if "type" not in raw else f"type {kind!r} is unknown"
        return None, [Problem((*place, "type"), f"{what}: one of {known}")]
    return _validate(model, raw, place)


def _validate(model: type[Any], raw: Value, place: Loc) -> tuple[Any, list[Problem]]:
    try:
        return model.model_validate(raw), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=True, include_input=True)
        return None, [Problem((*place, *item["loc"]), _wording(model, item)) for item in found]


def _wording(model: type[BaseModel], item: Mapping[str, Any]) -> str:
    name = item["loc"][-1] if item["loc"] else "it"
    match item["type"]:
        case "missing":
            return f"{name} is missing" + (": write null where the run ends" if name == "next" else "")
        case "extra_forbidden":
            known = ", ".join(sorted(model.model_fields)) if len(item["loc"]) == 1 else ""
            return f"{name} is not a field here" + (f" (known: {known})" if known else "")
        case "value_error":
            return f"{name} {item['ctx']['error']}"
        case "list_type" | "tuple_type":
            return f"{name} should be a list, not {_short_input(item['input'])}"
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{name} should be a mapping, not {_short_input(item['input'])}"
        case "too_short" | "string_too_short":
            return f"{name} must not be empty"
        case "string_pattern_mismatch" if name == "run":
            return f'run must be "module:function", not {item["input"]!r}'
        case _:
            message = str(item["msg"]).replace("Input should be", "should be").replace("String should", "should")
            return f"{name} {message}, not {_short_input(item['input'])}"


def _short_input(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
