"""Small tables that notebooks show: how growths are read and ordered, what matches, what models predict."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from scalkit.growth import Growth
from scalkit.teaching.simulated import evaluate
from scalkit.validation import Expectation, SearchSpace, Verdict


class Telling(Protocol):
    """What has a sentence."""

    @property
    def sentence(self) -> str:
        """Plain words."""


def read_as(texts: Iterable[str]) -> pd.DataFrame:
    """Return how texts are read as growths: a row for each."""
    return _column("read as", {text: str(Growth.parse(text)) for text in texts})


def slow_to_fast(texts: Iterable[str]) -> pd.DataFrame:
    """Return growths in their order, the slowest one first."""
    return _column("slow to fast", dict(enumerate(str(one) for one in sorted(map(Growth.parse, texts)))))


def limits_of(expectations: Iterable[str]) -> pd.DataFrame:
    """Return the deviation that an expectation tolerates by default, and its limits: a row for each."""
    made = [Expectation(text) for text in expectations]
    rows = {str(one): [str(growth) for growth in (one.deviation, *one.limits)] for one in made}
    return _frame(rows, ["D", "lower limit E/D", "upper limit E·D"])


def matches(expectation: Expectation, growths: Iterable[str]) -> pd.DataFrame:
    """Return divergence, match and direction of growths that might be found: a row for each."""
    found = [Growth.parse(text) for text in growths]
    rows = {str(G): [str(G / expectation.growth), expectation.rank(G), expectation.direction(G)] for G in found}
    return _frame(rows, ["divergence", "match", "direction"])


def match_by_deviation(growth: str, expectation: str, deviations: Iterable[Any]) -> pd.DataFrame:
    """Return how a growth matches an expectation with each of several deviations; None is the default one."""
    found = Growth.parse(growth)
    made = [Expectation(expectation, deviation) for deviation in deviations]
    table = _column(f"match of {found}", {str(one.deviation): one.rank(found) for one in made})
    return table.rename_axis("D")


def predictions(verdict: Verdict, x: ArrayLike, truth: str = "", level: float = 0.9) -> pd.DataFrame:
    """Return what a model says of settings that were not measured: a row for each, in whole units.

    `x`: shape (points,).
    `truth`: for comparison, what simulated data follow, such as ``"16 + 0.56*p"``, in MB for memory, else in s; empty for
    none.
    `level`: of the interval between ``from`` and ``to``.
    """
    at = np.asarray(x)
    unit, scale = ("MB", 1e6) if verdict.unit == "B" else (verdict.unit, 1.0)
    low, high = np.asarray(verdict.interval(at, level), dtype=np.float64) / scale
    columns = {"model": np.asarray(verdict.model(at)) / scale, "from": low, "to": high}
    if truth:
        columns["truth"] = evaluate(truth, at, verdict.parameter)
    index = pd.Index(at, name=f"{verdict.parameter}, {unit}")
    return pd.DataFrame(columns, index=index).round(0).astype(int)


def values_at(runs: Mapping[str, xr.Dataset], metric: str, **setting: float) -> pd.DataFrame:
    """Return the least measured values at a setting: a row for each function that all have, a column for each data set.

    `**setting`: for example ``p=2``.
    """
    chosen = {head: data[metric].sel(setting) for head, data in runs.items()}
    columns = {head: one.min([dim for dim in one.dims if dim != "function"]).to_series() for head, one in chosen.items()}
    return pd.DataFrame(columns).dropna().astype(int)


def ranking(verdict: Verdict, most: int = 3) -> pd.DataFrame:
    """Return the growths of the best models and how well they follow the values, the best one first."""
    best = (verdict.model, *verdict.rivals)[:most]
    rows = {str(model.growth): [round(float(model.adjusted_r2), 4)] for model in best}
    return _frame(rows, ["adjusted R²"])


def rulers_of(expectations: Mapping[str, str]) -> list[SearchSpace]:
    """Return the default ruler around each expectation."""
    return [SearchSpace.around(Expectation(text)) for text in expectations.values()]


def percentages(probability: Mapping[str, float]) -> str:
    """Return probabilities in words: ``total 99.0 %, approximate 1.0 %, none 0.0 %``."""
    return ", ".join(f"{rank} {100 * share:.1f} %" for rank, share in probability.items())


def sentences(things: Iterable[Telling]) -> str:
    """Return what each says, a line for each."""
    return "\n".join(one.sentence for one in things)


def _column(name: str, values: Mapping[Any, str]) -> pd.DataFrame:
    return pd.Series(dict(values), name=name).to_frame()


def _frame(rows: Mapping[str, list[Any]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(dict(rows), orient="index", columns=columns)
