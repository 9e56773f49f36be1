"""Table 4 of Shudler et al. 2015 next to what our own MAFIA gives: models, divergences, matches, by time and operations."""

from math import comb, log2

import numpy as np
import pandas as pd
import xarray as xr

import scalkit as sk
from lessons.paper import PrintedModel, published_tables
from scalkit.measure import series

_TABLE = 4
_METRICS = ("time", "operations")


def mafia_table(data: xr.Dataset) -> pd.DataFrame:
    """Return Table 4 as published, and next to it what our own measurements give.

    Parameters
    ----------
    data : xarray.Dataset
        Metrics ``time`` and ``operations`` over ``function`` and ``k``, as in ``data/mafia/m3``.

    Returns
    -------
    pandas.DataFrame
        One row for each function of the table. Columns are pairs: ``("paper", ...)``, ``("time", ...)``,
        ``("operations", ...)``. ``model`` is the growth of the best model, ``divergence`` is that over the expectation and
        ``match`` follows from it: the method of the paper. ``probable`` is the most probable growth; ``answer`` is
        fix, fine or cannot tell.

    References
    ----------
    Shudler et al. 2015 (docs/references.md), Table 4.
    """
    published = published_tables()[_TABLE]
    judged = sk.validate(data, published.expectations(), strictness="paper")
    verdicts = {(one.function, one.metric): one for one in judged.along_one}
    rows = []
    for printed in published.entries:
        row = _printed_row(printed)
        for metric in _METRICS:
            verdict = verdicts[printed.function, metric]
            row |= {
                (metric, "model"): str(verdict.model.growth),
                (metric, "divergence"): str(verdict.divergence),
                (metric, "match"): verdict.match,
                (metric, "probable"): str(verdict.posterior.by_probability[0]),
                (metric, "answer"): verdict.answer,
            }
        rows.append(row)
    names = pd.Index([one.function for one in published.entries], name="function")
    return pd.DataFrame(rows, index=names, columns=pd.MultiIndex.from_tuples(list(rows[0])))


def _printed_row(printed: PrintedModel) -> dict[tuple[str, str], str]:
    return {
        ("paper", "expectation"): str(printed.expectation.growth),
        ("paper", "model"): str(printed.growth),
        ("paper", "divergence"): str(printed.divergence),
        ("paper", "match"): printed.match,
    }


def mafia_costs(data: xr.Dataset) -> pd.DataFrame:
    """Return the time of one operation, which says why models of time and of counts differ.

    Where it stays the same, both grow alike. Where it rises with k, the operations themselves become dearer, as when their
    data outgrow a cache; where it falls, something that is not counted as an operation weighs less and less.

    Returns
    -------
    pandas.DataFrame
        In ns: one row for each k, one column for each function.
    """
    values = _values(data)
    return 1e9 * values["time"] / values["operations"]


def mafia_comparisons(data: xr.Dataset, clusters: int = 3) -> pd.DataFrame:
    """Return the cost of one comparison of two units in dedup and unjoin: windows compared, and time.

    The number of comparisons is that of a balanced search: for every unit that is looked up, the logarithm of the number of
    units it may be, of all steps together. Where the time of one stays the same while it compares more and more windows, the
    step itself is dear, not the windows, and the run time grows slower than the operations.

    Parameters
    ----------
    data : xarray.Dataset
        Measurements of MAFIA.
    clusters : int
        Number of planted clusters.

    Returns
    -------
    pandas.DataFrame
        One row for each k; columns ``("dedup", "operations")``, ``("dedup", "ns")``, and the same of ``unjoin``.
    """
    values = _values(data)
    columns = {}
    for name in ("dedup", "unjoin"):
        n = np.array([_comparisons(name, k, clusters) for k in values["time"].index])
        columns[name, "operations"] = values["operations"][name] / n
        columns[name, "ns"] = 1e9 * values["time"][name] / n
    return pd.DataFrame(columns)


def _values(data: xr.Dataset) -> dict[str, pd.DataFrame]:
    """Return for each metric a table with a row for each k and a column for each function."""
    functions = [one.function for one in published_tables()[_TABLE].entries]
    values: dict[str, dict[str, pd.Series]] = {metric: {} for metric in _METRICS}
    for one in series(data):
        if one.metric in values:
            k = pd.Index(np.asarray(one.x, dtype=int), name="k")
            values[one.metric][one.function] = pd.Series(one.y, index=k)
    return {metric: pd.DataFrame(columns)[functions] for metric, columns in values.items()}


def _comparisons(name: str, k: int, m: int) -> float:
    """Return the comparisons of m clusters: of C(k, s) units of s windows at each step."""
    if name == "dedup":
        return sum(m * comb(k, s) * comb(s, 2) * log2(m * comb(k, s) + 1) for s in range(2, k + 1))
    return sum(m * comb(k, s) * s * log2(m * comb(k, s - 1) + 1) for s in range(2, k + 1))
