"""What is expected, from --expect or --baseline; a file of another kind is named for what it is."""

import argparse
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit.errors import DataError, ExpectationError, UsageError
from scalkit.judge import CATALOGUES, load_expectations
from scalkit.judge.baseline import Baseline
from scalkit.judge.catalogue import ExpectationSet, expectation_set
from scalkit.measure.schema import parameters_of
from scalkit.perfmodels.files.catalogue import read_models
from scalkit.support.options import OPTIONS

_LARGEST = 20_000_000
_BASELINE = "a baseline"
_EXPECTATIONS = "a TOML file of expectations"
_MODELS = "a TOML file of models"
_OTHER = "a file of another kind"


def expected_of(expect: str | None, baseline: str | None, expectations: Sequence[str] = ()) -> ExpectationSet | Baseline:
    """Return what is expected.

    `expect`: a TOML file of expectations, or of models called like functions, or the name of a bundled catalogue;
    ``"mpi"`` by default.
    `baseline`: a file that `Baseline.save` wrote.
    `expectations`: single ones, as ``"MPI_Bcast (visits) = 1"``; they go before those of `expect`, or stand alone
    without it.
    Raises UsageError if both are given; ExpectationError or DataError if a file is missing, cannot be read, is of
    another kind, or wrong.
    """
    if expect is not None and baseline is not None:
        raise UsageError("--expect and --baseline both say what is expected; give one of them.")
    if expectations:
        if baseline is not None:
            raise UsageError("--expectation and --baseline both say what is expected; give one of them.")
        return _with(None if expect is None else _expectations(expect), expectations)
    return _expectations("mpi" if expect is None else expect) if baseline is None else _baseline(Path(baseline))


def parameters_named(text: str | None) -> str | list[str] | None:
    """Return the parameter, or a list of those between commas."""
    return [part.strip() for part in text.split(",")] if text and "," in text else text


def _with(given: ExpectationSet | None, texts: Sequence[str]) -> ExpectationSet:
    """Return a set with single expectations, each ``NAME = GROWTH``, in it."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, growth = (part.strip() for part in text.rpartition("="))  # names may hold the sign, growths do not
        if not sign or not name or not growth:
            raise UsageError(f"--expectation is {text!r:.80}; write it as in 'MPI_Bcast = log(p)'.")
        if name in found:
            raise UsageError(f"--expectation says twice what is expected of '{name}'; leave one out.")
        found[name] = growth
    own = expectation_set(found)
    if given is None:
        return replace(own, name="the command line")
    return ExpectationSet(
        {**given.functions, **own.functions}, given.rules, given.litmus, f"{given.name} and the command line", given.lines
    )


def _expectations(name: str) -> ExpectationSet:
    path = Path(name)
    if name not in CATALOGUES:
        kind = _kind(path)
        if kind is None:
            raise ExpectationError(f"there is no file '{name}'; --expect takes a TOML file or one of {', '.join(CATALOGUES)}.")
        if kind == _BASELINE:
            raise ExpectationError(f"'{name}' is a baseline, not a file of expectations; give it with --baseline.")
        if kind == _MODELS:
            return replace(expectation_set(read_models(path)), name=name)
        if kind not in (_EXPECTATIONS, ""):
            raise ExpectationError(f"'{name}' is {kind}; --expect takes a TOML file or one of {', '.join(CATALOGUES)}.")
    return load_expectations(name)


def _baseline(path: Path) -> Baseline:
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
            text = file.read(_LARGEST).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return _OTHER
    except OSError:
        return ""  # reading it will say why not
    if "\0" in text or text.startswith('{"rec":'):
        return _OTHER
    is_json = text.lstrip().startswith("{")
    try:
        table = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError):
        return ""
    if is_json:
        return _BASELINE if "entries" in table else _OTHER
    if "models" in table:
        return _MODELS
    return _EXPECTATIONS if "expectations" in table else ""


_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})")
_LIST = re.compile(r"\d{1,9}(?:,\d{1,9})*")


def judging_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of judging that were given."""
    return {name: value for name in OPTIONS if (value := getattr(args, name, None)) is not None}


def only_processes(data: xr.Dataset, text: str | None) -> xr.Dataset:
    """Return the measurements at the numbers of processes that a text names.

    `text`: numbers between commas, or ``"4..1024"`` for all measured ones between two; None for all.
    Raises UsageError if the text says something else; DataError if the measurements are not over processes, or not at
    one of the numbers.
    """
    if text is None:
        return data
    plain = text.replace(" ", "")
    if not (_RANGE.fullmatch(plain) or _LIST.fullmatch(plain)):
        raise UsageError(f"-n {text!r:.60}: numbers of processes are needed, as in -n 4,8,16 or -n 4..1024.")
    parameters = parameters_of(data)
    if "p" not in parameters or "p" not in data.dims:
        raise DataError(
            f"-n chooses numbers of processes, and these measurements are over {', '.join(parameters)}; leave it out."
        )
    measured = [int(p) for p in data["p"].values.tolist()]
    if ends := _RANGE.fullmatch(plain):
        least, most = (int(end) for end in ends.groups())
        wanted = [p for p in measured if least <= p <= most]
    else:
        wanted = sorted({int(part) for part in plain.split(",")})
    absent = [p for p in wanted if p not in measured]
    if absent or not wanted:
        which = ", ".join(map(str, absent)) or plain
        raise DataError(f"nothing was measured with {which} processes; it was with {', '.join(map(str, measured))}.")
    return data.sel(p=wanted)
