"""What is expected, from --expect or --baseline; a file of another kind is named for what it is."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.errors import DataError, ExpectationError, UsageError

if TYPE_CHECKING:
    from scalkit.validation import ExpectationSet
    from scalkit.validation.baseline import Baseline

__all__ = ["expected_of", "require_place"]

_LARGEST = 20_000_000
_BASELINE = "a baseline"
_EXPECTATIONS = "a TOML file of expectations"


def expected_of(expect: str | None, baseline: str | None) -> ExpectationSet | Baseline:
    """Return what is expected.

    Parameters
    ----------
    expect : str or None
        A TOML file, or the name of a bundled catalogue; ``"mpi"`` by default.
    baseline : str or None
        A file that `Baseline.save` wrote.

    Raises
    ------
    UsageError
        If both are given.
    ExpectationError, DataError
        If a file is missing, cannot be read, is of another kind, or wrong.
    """
    if expect is not None and baseline is not None:
        raise UsageError("--expect and --baseline both say what is expected; give one of them.")
    return _expectations("mpi" if expect is None else expect) if baseline is None else _baseline(Path(baseline))


def require_place(path: Path | None, force: bool) -> None:
    """Check before the work that a new baseline can be written at `path`.

    Raises
    ------
    UsageError
        If something is there that may not be replaced, the folder is not there, or there is nothing to force.
    """
    if path is None:
        if force:
            raise UsageError("--force lets --save-baseline replace a file; give both, or neither.")
    elif path.is_dir():
        raise UsageError(f"--save-baseline names the folder '{path}'; give a file in it.")
    elif path.exists() and not force:
        raise UsageError(f"'{path}' is already there; replace it with --force, or choose another file.")
    elif not path.parent.is_dir():
        raise UsageError(f"there is no folder '{path.parent}' for the baseline; make it, or choose another file.")


def _expectations(name: str) -> ExpectationSet:
    from scalkit.validation import CATALOGUES, load_expectations

    path = Path(name)
    if name not in CATALOGUES:
        kind = _kind(path)
        if kind is None:
            raise ExpectationError(
                f"there is no file '{name}'; --expect takes a TOML file or one of {', '.join(CATALOGUES)}."
            )
        if kind == _BASELINE:
            raise ExpectationError(f"'{name}' is a baseline, not a file of expectations; give it with --baseline.")
        if kind not in (_EXPECTATIONS, ""):
            raise ExpectationError(f"'{name}' is {kind}; --expect takes a TOML file or one of {', '.join(CATALOGUES)}.")
    return load_expectations(name)


def _baseline(path: Path) -> Baseline:
    from scalkit.validation import CATALOGUES
    from scalkit.validation.baseline import Baseline

    kind = _kind(path)
    if kind is None:
        hint = f"; the catalogue '{path}' goes with --expect" if str(path) in CATALOGUES else ""
        raise DataError(f"there is no baseline '{path}'{hint or '; --save-baseline writes one'}.")
    if kind == _EXPECTATIONS:
        raise DataError(f"'{path}' is a TOML file of expectations, not a baseline; give it with --expect.")
    if kind not in (_BASELINE, ""):
        raise DataError(f"'{path}' is {kind}; --baseline takes what --save-baseline wrote.")
    return Baseline.load(path)


def _kind(path: Path) -> str | None:
    """Return what a file is; an empty text where its content does not say, None where nothing is."""
    if path.is_dir():
        return "a folder"
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST)
    except FileNotFoundError:
        return None
    except OSError:
        return ""  # reading it will say why not
    if content[:3] == b"CDF" or content[:4] == b"\x89HDF":
        return "a netCDF file of measurements"
    if content.startswith(b'{"rec":'):
        return "a run file of measurements"
    return _kind_of_text(content)


def _kind_of_text(content: bytes) -> str:
    try:
        text = content.decode("utf-8")
        table = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError):
        return ""
    if text.lstrip().startswith("{"):
        if "entries" in table:
            return _BASELINE
        if "verdicts" in table:
            return "what scalkit validate --json printed"
        return "a JSON file of benchmarks" if "benchmarks" in table else ""
    return _EXPECTATIONS if "expectations" in table else ""
