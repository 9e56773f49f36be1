"""Holds the table of layers in docs/architecture.md: a module imports only from lower layers and its own package."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "scalkit"
MICROBENCH = ROOT.parent / "microbench"

LAYERS = {
    "errors": 0,
    "regions": 0,
    "support": 0.5,
    "growth": 1,
    "measure": 1,
    "stats": 1,
    "judge": 2,
    "bench": 2,
    "formats": 2,
    "perfmodels": 2,
    "trace": 2,
    "history": 2.05,
    "store": 2.1,
    "guidelines": 2.1,
    "front": 2.2,
    "session": 3,
    "plots": 3.1,
    "widgets": 3.2,
    "quick_check": 4,
    "why": 4,
    "reports": 4,
    "cli": 5,
    "pytest_plugin": 5,
    "__main__": 6,
}
NEVER_EACH_OTHER = {"formats", "judge", "bench", "perfmodels", "guidelines", "store", "trace", "history"}
EXCEPT = {
    ("guidelines", "formats"),  # tables of experiments
    ("store", "formats"),  # what is filed
    ("history", "judge"),  # a change between commits is one against a baseline
    ("store", "history"),  # change points over versions and time are those of `scalkit history`
}
BORDERS = {
    "sympy": {"growth", "perfmodels"},
    "lmfit": {"judge"},
    "plotly": {"plots"},
    "rich": {"support", "cli"},
    "papermill": {"reports"},
    "ipywidgets": {"widgets"},
    "anywidget": {"widgets"},
    "mpi4py": {"support", "judge", "bench", "trace"},
    "pyarrow": {"store"},
    "duckdb": {"store"},
}

MODULES = sorted(path for path in ROOT.rglob("*.py") if "_shipped" not in path.parts)


def _imports(path: Path, with_types: bool = True, within_functions: bool = True) -> list[tuple[str, int]]:
    """Return what a module imports, and in which line; `with_types`: also what only a type checker imports."""
    found = []
    package = ["scalkit", *path.relative_to(ROOT).with_suffix("").parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if (not with_types and _is_for_types(node)) or (not within_functions and isinstance(node, ast.FunctionDef))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package[: len(package) - node.level]
                base = ".".join([*parent, base]).rstrip(".")
            found.append((base, node.lineno))
            found += [(f"{base}.{alias.name}", node.lineno) for alias in node.names]
    return found


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _owner(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    owner = _owner(path)
    if owner == "__init__":
        return
    assert owner in LAYERS, f"scalkit/{owner} has no layer; add it here and to docs/architecture.md"
    for name, line in _imports(path):
        parts = name.split(".")
        if parts[0] == "scalkit" and len(parts) > 1 and parts[1] in LAYERS and parts[1] != owner:
            target = parts[1]
            where = f"{path}:{line} imports {name}"
            assert not ({owner, target} <= NEVER_EACH_OTHER) or (owner, target) in EXCEPT, where
            assert LAYERS[target] < LAYERS[owner] or LAYERS[target] == LAYERS[owner] == 1, where
        elif parts[0] in BORDERS:
            assert owner in BORDERS[parts[0]], f"{path}:{line} imports {name}, which belongs to {BORDERS[parts[0]]}"


def _without_cycle(edges: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other: {' -> '.join(error.args[1])}")


def test_layer_1_has_no_cycle() -> None:
    edges: dict[str, set[str]] = {name: set() for name, level in LAYERS.items() if level == 1}
    for path in MODULES:
        owner = _owner(path)
        if owner in edges:
            for name, _ in _imports(path):
                parts = name.split(".")
                if parts[0] == "scalkit" and len(parts) > 1 and parts[1] in edges and parts[1] != owner:
                    edges[owner].add(parts[1])
    _without_cycle(edges)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_modules_have_no_cycle() -> None:
    """Imports within functions count, too: they hide a cycle instead of ending it.

    Within `judge` only those at the top count: verdicts and baselines show, save and compare themselves, and load what
    does so at first use.
    """
    modules = {_module(path) for path in MODULES}
    edges: dict[str, set[str]] = {}
    for path in MODULES:
        within_functions = _owner(path) != "judge"
        names = {name for name, _ in _imports(path, with_types=False, within_functions=within_functions)} & modules
        packages = {name.rpartition(".")[0] for name in names}  # of these only a module was taken
        edges[_module(path)] = names - packages - {_module(path)}
    _without_cycle(edges)


C_FILES = sorted([*MICROBENCH.rglob("*.c"), *MICROBENCH.rglob("*.h")])


def _included(path: Path) -> set[Path]:
    names = re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))
    places = [folder / name for name in names for folder in (MICROBENCH, path.parent)]
    return {place.resolve() for place in places if place.exists()}


def test_c_files_have_no_cycle() -> None:
    """A header and its source are one; a header alone is what others implement, as ``trace/news.h``."""
    edges: dict[str, set[str]] = {}
    for path in C_FILES:
        own = str(path.with_suffix(""))
        targets = {str(target.with_suffix("")) for target in _included(path)}
        edges.setdefault(own, set()).update(targets - {own})
    _without_cycle(edges)


def _taken_from_scalkit(path: Path) -> set[tuple[str, str]]:
    """Return module and name of each ``from scalkit... import name`` of a program, those within functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {(node.module or "", alias.name) for node in nodes if node.module.startswith("scalkit") for alias in node.names}


PROGRAMS = sorted(path for folder in ("benchmarks", "docs", "packaging") for path in (ROOT.parent / folder).rglob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT.parent)))
def test_programs_import_what_is_there(path: Path) -> None:
    """Benchmarks that need minutes or a browser run elsewhere; an import that fails there is found here."""
    for module, name in _taken_from_scalkit(path):
        assert hasattr(importlib.import_module(module), name) or importlib.util.find_spec(f"{module}.{name}"), f"{module}.{name}"
