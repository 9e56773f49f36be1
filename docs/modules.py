"""Prints what every module holds: python docs/modules.py [package ...]."""

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "scalkit"


def main() -> None:
    """Print the first line of the docstring of each module, package by package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE)
        if "_shipped" in where.parts or (sys.argv[1:] and where.parts[0] not in sys.argv[1:]):
            continue
        name = str(where.parent if path.name == "__init__.py" else where.with_suffix(""))
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sys.stdout.write(f"{name:<36} {text.partition(chr(10))[0]}\n")


if __name__ == "__main__":
    main()
