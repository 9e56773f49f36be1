"""Old names of modules that the documentation names: each loads the module that took its place, with a warning.

A package brings the modules in it.
"""

import importlib
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

MOVED = dict(line.split() for line in Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines())
"""By the lines of names.txt, which are read faster than TOML: every import of scalkit waits for them."""


class _Moved(MetaPathFinder, Loader):
    """Finds the old names, and puts the new module in their place."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a specification for an old name, None for every other."""
        return ModuleSpec(fullname, self) if fullname.startswith("scalkit.") and _new_name(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        """Load the new module under the old name as well."""
        old = module.__name__
        new = _new_name(old) or ""
        warnings.warn(f"{old} is {new} now; import from there.", DeprecationWarning, stacklevel=2)
        sys.modules[old] = importlib.import_module(new)


def _new_name(name: str) -> str | None:
    """Return where a module is now; None if it did not move."""
    moved = next((old for old in MOVED if name == old or name.startswith(f"{old}.")), None)
    return None if moved is None else MOVED[moved] + name.removeprefix(moved)


def moved_names(package: str, home: str, names: Collection[str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` of a package for names and modules that are elsewhere now: it loads them with a warning."""

    def load(name: str) -> Any:
        if f"{package}.{name}" in MOVED:
            return importlib.import_module(f"{package}.{name}")
        if name not in names:
            raise AttributeError(f"module '{package}' has no attribute {name!r}")
        warnings.warn(f"{package}.{name} is {home}.{name} now; import from there.", DeprecationWarning, stacklevel=3)
        return getattr(importlib.import_module(home), name)

    return load


sys.meta_path.insert(0, _Moved())  # before the finder of files, which finds modules of a package that moved a second time
