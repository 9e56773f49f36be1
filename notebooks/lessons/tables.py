"""Tables of two notebooks: how fine a ruler may be, and predictions of a model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scalkit import Expectation, Growth, SearchSpace
from scalkit.judge import Verdict
from scalkit.judge.fit.paper import best_growths


def resolution(
    truth: str, x: ArrayLike, *, noises: Sequence[float], depths: Sequence[int] = (0, 1, 2, 3), trials: int = 500, seed: int = 1
) -> pd.DataFrame:
    """Return the share of simulated series where adjusted R^2 chooses the right growth.

    Parameters
    ----------
    truth : str
        A growth, such as ``"p"``; the ruler is the paper's ruler around it. Values are 1 plus the growth over its largest
        value, so that half of the last one is constant.
    x : array_like of shape (n_points,)
        Values of the parameter.
    noises : sequence of float
        Relative standard deviations of a value.
    depths : sequence of int
        Halvings of the gaps of the ruler.
    trials : int
        Series for each entry of the table.
    seed : int
        Of the noise.

    Returns
    -------
    pandas.DataFrame
        A row for each noise, a column for each ruler, named by its number of ticks; 1 is always.
    """
    growth, at = Growth(truth), np.asarray(x, dtype=np.float64)
    spaces = [SearchSpace.paper(Expectation(growth), depth) for depth in depths]
    exact = 1 + growth(at) / growth(at).max()
    errors = np.random.default_rng(seed).standard_normal((trials, len(at)))
    rows = []
    for noise in noises:
        series = exact * np.exp(noise * errors)
        chosen = [best_growths(at, series, space.ticks) for space in spaces]
        rows.append([growths.count(growth) / trials for growths in chosen])
    names = pd.Index([f"{len(space)} ticks" for space in spaces], name="ruler")
    return pd.DataFrame(rows, index=pd.Index([f"{100 * noise:g} %" for noise in noises], name="noise"), columns=names)


def predictions(verdict: Verdict, x: ArrayLike, level: float = 0.9) -> pd.DataFrame:
    """Return the predictions of a model for points that were not measured.

    Parameters
    ----------
    verdict : Verdict
        Of a memory, which is shown in MB, or of a time, in s.
    x : array_like of shape (n_points,)
        Values of the parameter.
    level : float
        Probability that the value is between ``from`` and ``to``.

    Returns
    -------
    pandas.DataFrame
        A row for each point, in whole units.
    """
    at = np.asarray(x)
    unit, scale = ("MB", 1e6) if verdict.unit == "B" else (verdict.unit, 1.0)
    low, high = np.asarray(verdict.interval(at, level), dtype=np.float64) / scale
    columns = {"model": np.asarray(verdict.model(at)) / scale, "from": low, "to": high}
    index = pd.Index(at, name=f"{verdict.parameter}, {unit}")
    return pd.DataFrame(columns, index=index).round(0).astype(int)
