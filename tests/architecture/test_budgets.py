"""The budgets of the code base: what outgrows them is two ideas."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULE, FUNCTION, METHODS = 350, 40, 20
ENGINE = 2500
"""Lines of code of the embedded executor: no blank ones, comments or docstrings, and not its driver of LangGraph."""

_NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


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


def _lines_of_code(path: Path) -> int:
    text = path.read_text()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [
        node.body for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)
    ]
    prose = {line for body in bodies for line in range(body[0].lineno, (body[0].end_lineno or 0) + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {line for token in tokens if token.type not in _NO_CODE for line in range(token.start[0], token.end[0] + 1)}
    return len(code - prose)


def test_the_executor_stays_small() -> None:
    modules = [path for path in (ROOT / "tt_debug" / "engine").glob("*.py") if not path.name.startswith("graph")]
    assert sum(map(_lines_of_code, modules)) <= ENGINE
