"""Public names of a package that are loaded at first use, as the stub ``__init__.pyi`` beside it lists them."""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NAME = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)


def names_of(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package; each line of its stub names one home of one name."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {name: (home, name) for home, name in _NAME.findall(stub)}

    def load(public: str) -> Any:
        if public not in homes:
            raise AttributeError(f"module '{package}' has no attribute {public!r}")
        home, name = homes[public]
        try:
            if home == package:
                return importlib.import_module(f"{home}.{name}")
            value = getattr(importlib.import_module(home), name)
        except ModuleNotFoundError as error:
            from scalkit.support.extras import explained

            raise explained(error) or error from error
        setattr(sys.modules[package], public, value)
        return value

    names = list(homes)
    return load, lambda: sorted(names), names
