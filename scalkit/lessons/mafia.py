"""Table 4 of Shudler et al. 2015 beside what our own MAFIA gives: models, divergences, ranks, by time and by operations."""

import json
import os
from collections.abc import Mapping
from math import comb, log2

import numpy as np
import pandas as pd
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.lessons.paper import PrintedModel, published_tables
from scalkit.measure import series
from scalkit.reports import bundled
from scalkit.validation import validate
from scalkit.validation.verdict import Verdict

_TABLE = 4
_METRICS = ("time", "operations")
Source = xr.Dataset | str | os.PathLike[str] | None
"""A folder that `scalkit mafia` wrote, or its Dataset; None for the bundled measurements of three clusters."""


def mafia_data(source: Source = None) -> xr.Dataset:
    """Return measurements of MAFIA: those given, else the bundled ones of three clusters.

    `source`: a folder that `scalkit mafia` wrote, or its Dataset.
    Returns: metrics ``time`` in s and ``operations`` over ``function`` and ``k``.
    Raises DataError if it lacks one of them.
    """
    data = source if isinstance(source, xr.Dataset) else read(source or bundled("data/mafia/m3"))
    missing = [name for name in _METRICS if name not in data.data_vars]
    missing += [name for name in _functions() if name not in data["function"]]
    missing += ["k"] if data.attrs.get("parameter") != "k" else []
    if missing:
        raise DataError(
            f"these are no measurements of MAFIA, without {', '.join(missing)}; name a folder that 'scalkit mafia' wrote."
        )
    return data


def mafia_table(source: Source = None) -> pd.DataFrame:
    """Return Table 4 as published, and beside it what our own measurements give.

    Returns: one row for each function of the table. Columns are pairs: ``("paper", ...)``, ``("time", ...)``,
    ``("operations", ...)``. ``model`` is the growth of the best model, ``divergence`` is that over the expectation,
    ``match`` the rank that follows: the method of the paper. ``probable`` is the most probable growth;
    ``verdict`` the rank that is at least 90 % probable, or ``undecided``; ``probability`` that of the verdict: of
    approximate, that the growth is inside the limits; of undecided, that of the most probable match.

    Source: Shudler et al. 2015 (docs/references.md), Table 4.
    """
    data = mafia_data(source)
    printed = {one.function: one for one in published_tables()[_TABLE].entries}
    judged = validate(data, published_tables()[_TABLE].expectations(), strictness="paper")
    found = {(v.function, v.metric): v for v in judged.along_one}
    rows = [_row(one, {metric: found[name, metric] for metric in _METRICS}) for name, one in printed.items()]
    names = pd.Index(list(printed), name="function")
    return pd.DataFrame(rows, index=names, columns=pd.MultiIndex.from_tuples(list(rows[0])))


def mafia_text(source: Source = None) -> str:
    """Return what `mafia_table` returns as text for a terminal: a line for each function and source."""
    wide = mafia_table(source)
    wide.index = pd.Index([f"{name}, O({growth})" for name, growth in wide["paper", "expectation"].items()], name="expected")
    long = wide.drop(columns=[("paper", "expectation")]).stack(level=0, future_stack=True)
    return str(long[["model", "divergence", "match", "probable", "verdict", "probability"]].to_string(na_rep=""))


def mafia_claims(source: Source = None) -> str:
    """Return what our own measurements say beside the paper: a line for each function, in words."""
    table = mafia_table(source)
    lines = []
    for name, row in table.iterrows():
        told = [f"by {one} {_in_words(row[one, 'verdict'], row[one, 'probable'])}" for one in _METRICS]
        paper = _in_words(row["paper", "match"], row["paper", "model"])
        lines.append(f"{name}, O({row['paper', 'expectation']}). 2015: {paper}. Here: {', '.join(told)}.")
    return "\n".join(lines)


def _in_words(word: str, growth: str) -> str:
    return {"total": "as expected", "approximate": f"inside the limits ({growth})", "none": f"outside the limits ({growth})"}.get(
        word, f"not decided ({growth} most probable)"
    )


def mafia_costs(source: Source = None) -> pd.DataFrame:
    """Return the time of one operation for each function and k, which says why models of time and of counts differ.

    Where it stays the same, both grow alike. Where it rises with k, the operations themselves become dearer, as when their
    data outgrow a cache; where it falls, something that is not counted as an operation weighs less and less.

    Returns: in ns, one row for each k, one column for each function.
    """
    values = {(one.metric, one.function): dict(zip(one.x, one.y, strict=True)) for one in series(mafia_data(source))}
    costs = {
        name: {int(k): 1e9 * seconds / values["operations", name].get(k, np.nan) for k, seconds in values["time", name].items()}
        for name in _functions()
    }
    return pd.DataFrame(costs).rename_axis(index="k", columns="ns for an operation")


def mafia_comparisons(source: Source = None) -> pd.DataFrame:
    """Return what one comparison of two units takes in dedup and unjoin: windows compared, and time.

    The number of comparisons is that of a balanced search: for every unit that is looked up, the logarithm of the number of
    units it may be, of all steps together. Where the time of one stays the same while it compares more and more windows, the
    step itself is dear, not the windows, and the run time grows slower than the operations.

    Returns: one row for each k; columns ``("dedup", "operations")``, ``("dedup", "ns")``, and the same of ``unjoin``.
    """
    data = mafia_data(source)
    m = int(json.loads(data.attrs.get("campaign") or "{}").get("arguments", {}).get("clusters", 3))
    values = {(one.metric, one.function): dict(zip(one.x, one.y, strict=True)) for one in series(data)}
    columns: dict[tuple[str, str], dict[int, float]] = {}
    for name in ("dedup", "unjoin"):
        n = {k: _comparisons(name, int(k), m) for k in values["time", name]}
        columns[name, "operations"] = {int(k): values["operations", name].get(k, np.nan) / n[k] for k in n}
        columns[name, "ns"] = {int(k): 1e9 * values["time", name][k] / n[k] for k in n}
    return pd.DataFrame(columns).rename_axis(index="k", columns=("", "of one comparison"))


def _comparisons(name: str, k: int, m: int) -> float:
    """Return the comparisons of m clusters: of C(k, s) units of s windows at each step."""
    if name == "dedup":
        return sum(m * comb(k, s) * comb(s, 2) * log2(m * comb(k, s) + 1) for s in range(2, k + 1))
    return sum(m * comb(k, s) * s * log2(m * comb(k, s - 1) + 1) for s in range(2, k + 1))


def _functions() -> list[str]:
    return [one.function for one in published_tables()[_TABLE].entries]


def _row(printed: PrintedModel, verdicts: Mapping[str, Verdict]) -> dict[tuple[str, str], object]:
    row: dict[tuple[str, str], object] = {
        ("paper", "expectation"): str(printed.expectation.growth),
        ("paper", "model"): str(printed.growth),
        ("paper", "divergence"): str(printed.divergence),
        ("paper", "match"): printed.match,
    }
    for metric, verdict in verdicts.items():
        row |= {
            (metric, "model"): str(verdict.model.growth),
            (metric, "divergence"): str(verdict.divergence),
            (metric, "match"): verdict.rank,
            (metric, "probable"): str(verdict.posterior.by_probability[0]),
            (metric, "verdict"): verdict.verdict,
            (metric, "probability"): round(_probability(verdict), 3),
        }
    return row


def _probability(verdict: Verdict) -> float:
    p = verdict.probability
    if verdict.verdict == "approximate":
        return p["total"] + p["approximate"]
    return max(p.values()) if verdict.verdict == "undecided" else p[verdict.verdict]
