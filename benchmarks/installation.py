"""Tells how many distributions and megabytes the core and each extra of scalkit need, as they are installed here.

Counted are the files that pip knows of, compiled modules among them, without pip itself and without an MPI library.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "core"))

from environment import closure  # noqa: E402


@cache
def sizes(name: str) -> dict[Path, int]:
    files = [Path(str(file.locate())) for file in distribution(name).files or ()]
    return {file: file.stat().st_size for file in files if file.is_file()}


def megabytes(names: set[str]) -> float:
    return sum({file: size for name in names for file, size in sizes(name).items()}.values()) / 1e6


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: wanted for name, wanted in project["optional-dependencies"].items() if name not in ("all", "test", "mpi")}
    extras["all"] = [text for wanted in extras.values() for text in wanted]
    for name, wanted in {"core": [], **extras}.items():
        brought = set(closure([*project["dependencies"], *wanted]))
        print(f"{name:8} {len(brought) + 1:4} distributions {megabytes(brought):8.0f} MB")


if __name__ == "__main__":
    main()
