"""How fine may a ruler be? How often the right tick wins, by noise and by the number of halvings."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scalkit.fit.batch import fit_models
from scalkit.growth import Growth
from scalkit.validation import Expectation, SearchSpace


def resolution(
    truth: str,
    x: ArrayLike,
    *,
    noises: Sequence[float] = (0.0, 0.01, 0.02, 0.05, 0.1),
    depths: Sequence[int] = (0, 1, 2, 3),
    trials: int = 500,
    seed: int = 1,
) -> pd.DataFrame:
    """Return the share of simulated series whose best model has the right growth.

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
        found = [fit_models(at, series, space) for space in spaces]
        rows.append([float(np.mean([fits.growth(i) == growth for i in range(trials)])) for fits in found])
    names = pd.Index([f"{len(space)} ticks" for space in spaces], name="ruler")
    return pd.DataFrame(rows, index=pd.Index([f"{noise:.0%}" for noise in noises], name="noise"), columns=names)
