"""Makes an environment that holds what ``pip install scalkit`` brings, and what runs tests: ``python environment.py FOLDER``.

Nothing is downloaded: its packages are links into the environment of the Python that runs this, which has the extras, too.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ("pytest", "pytest-xdist", "pytest-rerunfailures", "hypothesis", "psutil")


def required() -> list[str]:
    """Return what scalkit requires without any extra."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(table["project"]["dependencies"])


def closure(wanted: Iterable[str]) -> dict[str, Distribution]:
    """Return the distributions that requirements bring, by name, as they are installed here."""
    found: dict[str, Distribution] = {}
    seen: set[str] = set()
    waiting = [("", text) for text in wanted]
    while waiting:
        extra, text = waiting.pop()
        one = Requirement(text)
        if f"{extra} {text}" in seen or (one.marker and not one.marker.evaluate({"extra": extra})):
            continue
        seen.add(f"{extra} {text}")
        name = one.name.lower().replace("_", "-")
        here = found.setdefault(name, distribution(one.name))
        waiting += [(inner, each) for inner in ("", *one.extras) for each in here.requires or ()]
    return found


def make(folder: Path) -> None:
    """Make the environment, in place of what is there."""
    packages = make_with(folder, [*required(), *RUNNER])
    scalkit = distribution("scalkit")
    for name in _top_names(scalkit):
        if name.endswith(".dist-info"):
            (packages / name).symlink_to(Path(str(scalkit.locate_file(name))).resolve())
    (packages / "scalkit.pth").write_text(f"{ROOT}\n", encoding="utf-8")


def make_with(folder: Path, wanted: Iterable[str]) -> Path:
    """Make an environment, in place of what is there, that holds what requirements bring; return its folder of packages."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    for one in closure(wanted).values():
        for name in _top_names(one):
            (packages / name).symlink_to(Path(str(one.locate_file(name))).resolve())
    return packages


def _top_names(one: Distribution) -> list[str]:
    return sorted({Path(file).parts[0] for file in one.files or ()} - {"..", "__pycache__"})


if __name__ == "__main__":
    make(Path(sys.argv[1]))
