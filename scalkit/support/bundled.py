"""Finds what is shipped with scalkit for people to open: notebooks and small data sets."""

import contextlib
from pathlib import Path

from scalkit.errors import ReportError

_PACKAGE = Path(__file__).resolve().parents[1]


def bundled(name: str) -> Path:
    """Return the path of a shipped notebook or data set.

    `name`: path below the checkout, for example ``"notebooks/90_report.ipynb"`` or ``"data/quickstart"``. In a checkout the
    checkout's own file wins over the copy in an installed package.
    Returns: absolute, existing.
    Raises ReportError if neither place has it.
    """
    checkout, shipped = _PACKAGE.parent, _PACKAGE / "_shipped"
    places = [checkout / name] if (checkout / "pyproject.toml").is_file() else []
    places.append(shipped / name)
    for place in places:
        if place.exists():
            return place
    tried = " or ".join(str(place) for place in places)
    raise ReportError(f"cannot find {name!r} of scalkit, looked for {tried}; install scalkit again.")


def is_shipped(path: Path) -> bool:
    """Return whether a path is in an installed package of scalkit."""
    return path.resolve().is_relative_to(_PACKAGE / "_shipped")


def here_or_bundled(path: Path) -> Path:
    """Return a path as it is, or what is shipped under that name where it begins with ``data`` and nothing stands there."""
    if path.exists() or path.parts[:1] != ("data",) or ".." in path.parts:
        return path
    with contextlib.suppress(ReportError):
        return bundled(path.as_posix())
    return path
