"""The code behind a node: the file that its function stands in, and the modules of the same project that it imports.

Read as text and never imported, so that looking changes nothing. Owns which files count; what a change of them means
is the gate's and the cache's business.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from tt_debug.definition.workflow import Node, Workflow

_OURS: Final = frozenset({"tt_debug", "stores"})
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class Code(NamedTuple):
    """The SHA-256 of each module's file, by the module's name, and that of all that is behind a node, by its id."""

    modules: Mapping[str, str]
    nodes: Mapping[str, str]


def reference_of(node: Node) -> str:
    """The ``module:function`` that a node calls; empty where it calls none of the user's."""
    named = node.run if node.type == "python" else getattr(node, "provider", "")
    return named if ":" in named else ""


def fingerprint(workflow: Workflow) -> Code:
    """Of all nodes that call a function of the user's."""
    behind = {node.id: _reached(node) for node in workflow.nodes if reference_of(node)}
    modules = {name: digest for files in behind.values() for name, digest in files.items()}
    return Code(modules, {id: _digest(files) for id, files in behind.items()})


def code_of(node: Node) -> str:
    """The hash of one node's code, as `Code.nodes` has it."""
    return _digest(_reached(node))


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256("".join(f"{name} {files[name]}\n" for name in sorted(files)).encode()).hexdigest()


def _reached(node: Node) -> dict[str, str]:
    """Every module of the project that running the node may import, with the hash of its file."""
    found: dict[str, str] = {}
    left = [reference_of(node).partition(":")[0]]
    project = left[0].partition(".")[0]
    while left:
        name = left.pop()
        file = None if name in found else _file_of(name, project)
        if file is not None:
            state = file.stat()
            found[name], imported = _read(file, name, state.st_mtime_ns, state.st_size)
            left += imported
    return found


@lru_cache(maxsize=4096)
def _read(file: Path, name: str, _changed: int, _size: int) -> tuple[str, tuple[str, ...]]:
    """The hash of a module's file, and what it imports; kept for as long as the file stays as it is."""
    source = file.read_bytes()
    is_package = file.name == "__init__.py"
    return hashlib.sha256(source).hexdigest(), tuple(dict.fromkeys(_imported(source, name, is_package=is_package)))


def _imported(source: bytes, name: str, *, is_package: bool) -> Iterator[str]:
    """The names that a module may import, wherever in it that stands; its own packages are imported with it."""
    parts = name.split(".")
    yield from (".".join(parts[:depth]) for depth in range(1, len(parts)))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # it cannot be run either, and says so then
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            above = parts[: len(parts) + is_package - statement.level] if statement.level else []
            base = ".".join([*above, *([statement.module] if statement.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in statement.names)


def _file_of(name: str, project: str) -> Path | None:
    """Where a module's source stands; None for one that is nobody's to change here: the library's, or installed.

    A package that the workflow itself names belongs to the project wherever it is installed.
    """
    parts = name.split(".")
    if not all(parts) or parts[0] in _OURS or parts[0] in sys.stdlib_module_names:
        return None
    place, origin = None, None
    for depth in range(1, len(parts) + 1):
        whole = ".".join(parts[:depth])
        specs = (finder.find_spec(whole, place) for finder in sys.meta_path)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None or (depth < len(parts) and spec.submodule_search_locations is None):
            return None
        place, origin = spec.submodule_search_locations, spec.origin
    file = Path(origin or "")
    installed = parts[0] != project and not _INSTALLED.isdisjoint(file.parts)
    return file if file.suffix == ".py" and file.is_file() and not installed else None
