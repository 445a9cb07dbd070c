"""From what a user names to their graph object, in the user's interpreter: stdlib only, Python 3.9, nothing of ours.

Owns env files, langgraph.json, importing and calling factories. Refuses to run the graph.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Refused(Exception):
    """Why nothing is run. ``kind`` is usage, missing, import, thread, conflict, changed, graph or untrusted.

    ``names`` are the nodes, differences or stored values that it is about.
    """

    def __init__(self, kind: str, text: str, hint: str = "", names: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.kind, self.text, self.hint, self.names = kind, text, hint, names

    def line(self) -> dict[str, Any]:
        """The event that tells it."""
        return {"event": "refused", "kind": self.kind, "text": self.text, "hint": self.hint, "names": list(self.names)}


# --- environment

_ASSIGNMENT = re.compile(
    r"""[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.]*)[ \t]*=[ \t]*
        (?: '(?P<single>[^']*)' | "(?P<double>(?:[^"\\]|\\.)*)" | (?P<bare>(?!['"])[^\r\n]*?) )
        [ \t]* (?: (?<=[\s'"=])\#[^\r\n]* )? (?=\r?\n|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def parse_env(text: str) -> tuple[dict[str, str], list[int]]:
    """KEY=VALUE lines with quotes (over several lines too), ``export`` and comments; and the lines not understood."""
    values: dict[str, str] = {}
    strange: list[int] = []
    at = 0
    while at < len(text):
        found = _ASSIGNMENT.match(text, at)
        if found:
            value = found["bare"] if found["double"] is None else _unescaped(found["double"])
            values[found["name"]] = _expanded(value, values) if found["single"] is None else found["single"]
            at = found.end()
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if not found and not re.match(r"\s*(#|$)", text[at:end]):
            strange.append(text.count("\n", 0, at) + 1)
        at = end + 1
    return values, strange


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def _expanded(text: str, values: Mapping[str, str]) -> str:
    """``${NAME}`` and ``${NAME:-default}``, from the lines before and the environment."""

    def value(found: re.Match[str]) -> str:
        return values.get(found[1]) or os.environ.get(found[1]) or found[2] or ""

    return re.sub(r"\$\{(\w+)(?::-([^}]*))?\}", value, text)


def apply_env_file(path: Path) -> None:
    """Set what the file says, over what is set already."""
    try:
        values, strange = parse_env(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Refused("usage", f"cannot read the env file {path}: {reason}") from None
    for line in strange:
        sys.stderr.write(f"{path}:{line}: not a KEY=VALUE line, skipped\n")
    os.environ.update(values)


# --- names


def prepare(target: str, folder: Path, env_file: str | None) -> str:
    """Set the path and the environment, before anything is imported; what to load then, with its file or module.

    ``target`` is ``module:attr``, ``./file.py:attr`` or a name in langgraph.json; ``env_file`` wins over its env.
    """
    sys.path.insert(0, str(folder))
    if ":" not in target and not target.endswith(".py"):
        target = _registered(target, folder)
    if env_file is not None:
        apply_env_file(folder / env_file)
    return target


def load(target: str, folder: Path) -> Any:
    """The object that ``module:attr`` or ``./file.py:attr`` names."""
    where, _, attr = target.rpartition(":") if ":" in target else (target, "", "")
    is_file = where.endswith(".py") or "/" in where
    try:
        module = _import_file((folder / where).resolve()) if is_file else importlib.import_module(where)
    except Refused:
        raise
    except BaseException as error:  # noqa: BLE001 - the boundary to user code: anything may come out of an import
        raise import_failed(f"importing {where}", error) from None
    return _attribute(module, where, attr)


def import_failed(what: str, error: BaseException) -> Refused:
    """The refusal for an exception of user code before the run; its traceback goes to stderr."""
    traceback.print_exception(type(error), error, error.__traceback__)
    hint = "see its last words above"
    if isinstance(error, ImportError):
        hint = f"it ran under {sys.executable}; name the interpreter of the agent's own environment with --python"
    return Refused("import", f"{what} failed: {type(error).__name__}: {error}", hint)


def _registered(name: str, folder: Path) -> str:
    """The target behind a name in langgraph.json; its dependencies go on the path and its env into ours."""
    file = folder / "langgraph.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        hint = "a graph is module:attr, ./file.py:attr or a name in langgraph.json"
        raise Refused("usage", f"{name!r} is no module:attr, and {folder} has no langgraph.json", hint) from None
    except (OSError, ValueError) as error:
        raise Refused("usage", f"cannot read {file}: {error}") from None
    graphs = config.get("graphs") or {}
    if name not in graphs:
        raise Refused("usage", f"{file} has no graph {name!r}", f"it has: {', '.join(sorted(graphs)) or 'none'}")
    sys.path[1:1] = [str(folder / entry) for entry in config.get("dependencies") or [] if (folder / entry).is_dir()]
    env = config.get("env")
    if isinstance(env, str):
        apply_env_file(folder / env)
    elif env:
        os.environ.update({key: str(value) for key, value in env.items()})
    entry = graphs[name]
    return str(entry["path"] if isinstance(entry, Mapping) else entry)


def _import_file(path: Path) -> Any:
    """Import a file under the name its own project imports it by: classes keep the names they are stored under."""
    if path.suffix != ".py":
        raise Refused("usage", f"{path.name} is no Python file; only Python graphs can be driven")
    if not path.is_file():
        raise Refused("usage", f"there is no file {path}")
    root, name = path.parent, path.stem
    while (root / "__init__.py").is_file():
        root, name = root.parent, f"{root.name}.{name}"
    sys.path.insert(0, str(root))
    sys.path.append(str(path.parent))
    try:
        return _exactly(name, path)
    except ImportError as error:
        if "no known parent package" not in str(error):
            raise
    # Relative imports without an __init__.py: the folder is a namespace package.
    sys.path.insert(0, str(path.parent.parent))
    return _exactly(f"{path.parent.name}.{path.stem}", path)


def _exactly(name: str, path: Path) -> Any:
    """The module ``name`` from ``path``; under another name where that one is taken, as by the standard library."""
    if name.partition(".")[0] not in sys.modules:
        module = importlib.import_module(name)
        if os.path.samefile(getattr(module, "__file__", None) or os.devnull, path):
            return module
    spec = importlib.util.spec_from_file_location(f"_{name}", path)
    if spec is None or spec.loader is None:
        raise Refused("usage", f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _attribute(module: Any, where: str, attr: str) -> Any:
    found = module
    try:
        for part in attr.split("."):
            found = getattr(found, part)
    except AttributeError:
        names = [name for name, value in vars(module).items() if hasattr(value, "compile") or hasattr(value, "astream")]
        hint = f"it has: {', '.join(f'{where}:{name}' for name in names if not name.startswith('_'))}" if names else ""
        missing = f"{where} has no {attr!r}" if attr else f"{where}: which graph of it? Name it as {where}:NAME"
        raise Refused("usage", missing, hint) from None
    # Classes of a script that was run directly are stored as __main__.Name; that name must find them here.
    vars(sys.modules["__main__"])["__getattr__"] = lambda name: _defined(module, name)
    return found


def _defined(module: Any, name: str) -> Any:
    """As for a stored name: a lazy module is not asked for it."""
    if name in vars(module):
        return vars(module)[name]
    raise AttributeError(name)


# --- factories


def produce(found: Any, config: Mapping[str, Any]) -> Any:
    """The graph as it was found; or what its factory gives: a graph, something to await, a context manager of one."""
    if hasattr(found, "compile") or hasattr(found, "stream") or not callable(found):
        return found
    if inspect.isasyncgenfunction(found):
        found = contextlib.asynccontextmanager(found)
    elif inspect.isgeneratorfunction(found):
        found = contextlib.contextmanager(found)
    wanted = [
        p for p in inspect.signature(found).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    asked = [p.name for p in wanted if p.default is p.empty or p.name == "config"]
    if len(asked) > 1:
        raise Refused(
            "usage", f"the factory wants {', '.join(asked)}; one that takes nothing or a config can be called"
        )
    try:
        if not asked:
            return found()
        keyword = wanted[0].kind is inspect.Parameter.KEYWORD_ONLY or wanted[0].name != asked[0]
        return found(**{asked[0]: dict(config)}) if keyword else found(dict(config))
    except BaseException as error:  # noqa: BLE001 - the boundary to user code
        raise import_failed("calling the factory", error) from None
