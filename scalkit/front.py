"""Public calls that take measurements in any form."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, TypeGuard, Unpack

import pandas as pd
import xarray as xr

from scalkit import judge as validation
from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.growth.relation import Relation
from scalkit.judge import Validation
from scalkit.judge.validating import opened, parameters_named
from scalkit.measure.schema import parameters_of
from scalkit.support.options import JudgingOptions


def measurements_in(data: Any, parameter: str | Sequence[str] | None = None, expectations: object = None) -> xr.Dataset:
    """Return the measurements in a path, a table, a Dataset or a result.

    `parameter`: as for `scalkit.read`, of files and tables. Without it the parameters that the expectations name are
    taken where several columns may be meant.
    Raises DataError if there are none.
    """
    if isinstance(data, Validation):
        if data.data is None:
            raise DataError("this result does not hold its measurements; give them in its place.")
        return data.data
    if has_labels(data):
        raise DataError(
            f"there are several data sets, {', '.join(map(str, data))}; give one of them, or compare them by sk.report."
        )
    kinds = (str, os.PathLike, Sequence, pd.DataFrame, pd.Series, Mapping, xr.Dataset, xr.DataArray)
    if not isinstance(data, kinds):
        raise DataError(
            f"{data!r:.60} holds no measurements; give a path, a Dataset, a DataFrame, a dict of arrays "
            "or a result of scalkit.validate."
        )
    if isinstance(data, xr.Dataset) and "parameter" in data.attrs:
        return data
    if parameter is not None:
        return read(data, parameter=parameter)
    try:
        ds = read(data)
    except DataError:
        named = parameters_named(expectations)
        if not named:
            raise
        return read(data, parameter=_one_or_several(named))
    functions = [str(name) for name in ds["function"].values.tolist()]
    named = parameters_named(expectations, functions)
    named = (named & _known_parameters(ds, functions)) or named
    if named <= set(parameters_of(ds)):
        return ds
    try:
        again = read(data, parameter=_one_or_several(named))
    except DataError:
        return ds  # the judge says what of the expectations was not measured
    is_varied = all(again[name].size > 1 for name in parameters_of(again))
    return again if is_varied else ds


def _known_parameters(ds: xr.Dataset, functions: Iterable[str]) -> frozenset[str]:
    """Return the parameters, and the settings that became a part of the names of functions, as in ``f[n=10]``."""
    settings = {name for function in functions for name in re.findall(r"[\[ ](\w+)=", function)}
    return frozenset({*parameters_of(ds), *settings})


def _one_or_several(names: Iterable[str]) -> str | list[str]:
    """Return names of parameters as `scalkit.read` takes them."""
    found = sorted(names)
    return found[0] if len(found) == 1 else found


def has_labels(data: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a mapping has data sets by their labels, and not the columns of one table."""
    if not isinstance(data, Mapping) or isinstance(data, xr.Dataset) or not data:
        return False
    values = list(data.values())
    return not any(map(_is_column, values)) and not all(isinstance(one, Number) for one in values)


def _is_column(values: object) -> bool:
    """Return whether values may be a column of a table; texts and paths alone name files."""
    if isinstance(values, list | tuple):
        return not values or not all(isinstance(one, str | os.PathLike) for one in values)
    if isinstance(values, str | os.PathLike | xr.Dataset | pd.DataFrame | Mapping | Validation):
        return False
    return isinstance(values, Iterable)


def validate(
    data: Any,
    expectations: object,
    rules: Iterable[str | Relation] | str | Relation | None = (),
    *,
    litmus: str | None = None,
    progress: bool = True,
    parameter: str | Sequence[str] | None = None,
    **options: Unpack[JudgingOptions],
) -> Validation:
    """Return the verdicts on all measured functions that have an expectation.

    Parameters
    ----------
    data : path, sequence of paths, Dataset, DataFrame, mapping from column to values, or Validation
        Anything that `scalkit.read` takes or returns, or an earlier result, whose measurements are
        judged again.
    expectations : str, mapping, ExpectationSet, Baseline, Path or model
        ``"log(p)"`` of every function, ``{"MPI_Bcast": "log(p)"}``, the name of a bundled set,
        a TOML file, or a baseline; see `scalkit.judge.validate`.
    rules : iterable of str or Relation
        Relations between functions, in addition to those of the set.
    litmus : str, optional
        Name of the litmus function.
    progress : bool
        Whether work that lasts shows a bar after a second, on a terminal and in a notebook.
    parameter : str or sequence of str, optional
        As for `scalkit.read`, of files and tables that leave open what the parameter is.
    **options
        How it is judged: ``statistic="q1"``, ``min_points=5``, ``scaling="auto"``, ``space=None``,
        ``strictness="auto"``; see `scalkit.support.options.Judging`.

    Returns
    -------
    Validation

    Raises
    ------
    ScalkitError
        If there are no measurements, an expectation cannot be read, no measured function has one,
        or an option is unknown; one sentence names the thing and the way on.

    References
    ----------
    Shudler et al. 2015, sections 2.4 and 3.4 (docs/references.md).
    """
    expectations = opened(expectations)
    return validation.validate(
        measurements_in(data, parameter, expectations), expectations, rules, litmus=litmus, progress=progress, **options
    )
