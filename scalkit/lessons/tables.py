"""Small tables that notebooks show: how growths are read and ordered, what matches, what models predict."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from scalkit.fit.paper import best_growths
from scalkit.growth import Growth
from scalkit.teaching.bundled import evaluate
from scalkit.text import as_percent, percent
from scalkit.validation import Expectation, SearchSpace, Verdict


def resolution(
    truth: str,
    x: ArrayLike,
    *,
    noises: Sequence[float] = (0.0, 0.01, 0.02, 0.05, 0.1),
    depths: Sequence[int] = (0, 1, 2, 3),
    trials: int = 500,
    seed: int = 1,
) -> pd.DataFrame:
    """Return the share of simulated series where adjusted R^2 chooses the right growth.

    `truth`: a growth, such as ``"p"``; the ruler is the paper's ruler around it. Values are 1 + the growth over its largest
    value, so that half of the last one is constant.
    `x`: shape (points,).
    `noises`: relative standard deviation of a value.
    `depths`: halvings of the gaps of the ruler.
    `trials`: series for each entry of the table.
    Returns: a row for each noise, a column for each ruler, named by its number of ticks; 1 is always.
    """
    growth, at = Growth.parse(truth), np.asarray(x, dtype=np.float64)
    spaces = [SearchSpace.paper(Expectation(growth), depth) for depth in depths]
    exact = 1 + growth(at) / growth(at).max()
    rng = np.random.default_rng(seed)
    errors = rng.standard_normal((trials, len(at)))
    rows = []
    for noise in noises:
        series = exact * np.exp(noise * errors)
        rows.append([best_growths(at, series, space.ticks).count(growth) / trials for space in spaces])
    names = pd.Index([f"{len(space)} ticks" for space in spaces], name="ruler")
    return pd.DataFrame(rows, index=pd.Index([as_percent(noise) for noise in noises], name="noise"), columns=names)


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
    """Return probabilities in words: ``total 99 %, approximate 1 %, none less than 0.1 %``."""
    return ", ".join(f"{rank} {percent(share)}" for rank, share in probability.items())


def sentences(things: Iterable[Telling]) -> str:
    """Return what each says, a line for each."""
    return "\n".join(one.sentence for one in things)


def _column(name: str, values: Mapping[Any, str]) -> pd.DataFrame:
    return pd.Series(dict(values), name=name).to_frame()


def _frame(rows: Mapping[str, list[Any]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(dict(rows), orient="index", columns=columns)
