"""The budgets of the code base: what outgrows them is two ideas."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULE, FUNCTION, METHODS = 350, 40, 20


def _modules() -> Iterator[Path]:
    for package in ("stores", "tt_debug"):
        yield from sorted((ROOT / package).rglob("*.py"))


def _over(path: Path) -> Iterator[str]:
    name = path.relative_to(ROOT)
    text = path.read_text()
    lines = len(text.splitlines())
    if lines > MODULE:
        yield f"{name}: {lines} lines, budget {MODULE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION:
                yield f"{name}:{node.lineno} {node.name}: {length} lines, budget {FUNCTION}"
        if isinstance(node, ast.ClassDef):
            public = [
                item.name
                for item in node.body
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and not item.name.startswith("_")
            ]
            if len(public) > METHODS:
                yield f"{name}:{node.lineno} {node.name}: {len(public)} public methods, budget {METHODS}"


def test_nothing_outgrows_its_budget() -> None:
    over = [line for path in _modules() for line in _over(path)]
    assert not over, "\n".join(over)


def test_every_module_says_what_it_is() -> None:
    silent = [str(path.relative_to(ROOT)) for path in _modules() if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_nothing_is_named_after_having_no_better_name() -> None:
    vague = {"manager", "helper", "helpers", "util", "utils", "handler", "info2"}
    found = [str(path.relative_to(ROOT)) for path in _modules() if vague & set(path.stem.lower().split("_"))]
    assert found == []
