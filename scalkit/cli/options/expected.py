"""Options for the expectations, and for the measurements that they apply to."""

import argparse
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.judge import CATALOGUES, load_expectations
from scalkit.judge.baseline import Baseline
from scalkit.judge.catalogue import ExpectationSet, expectation_set
from scalkit.measure.schema import parameters_of
from scalkit.perfmodels.files.catalogue import read_models
from scalkit.support.options import OPTIONS


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
    return _expectations("mpi" if expect is None else expect) if baseline is None else Baseline.load(baseline)


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
    if name not in CATALOGUES and _holds_models(Path(name)):
        return replace(expectation_set(read_models(Path(name))), name=name)
    return load_expectations(name)


def _holds_models(path: Path) -> bool:
    """Return whether a file is TOML with models; False if it cannot be read.

    The loader of expectations reports files that cannot be read.
    """
    try:
        return "models" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False


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
