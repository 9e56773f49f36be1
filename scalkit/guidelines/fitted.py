"""Models for guidelines: growths fitted to medians of runs, with what else the values leave possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.fit import MIN_POINTS, Model
from scalkit.fit.regression.posterior import Posterior
from scalkit.guidelines import Assessment
from scalkit.guidelines.predictions import Prediction, predict
from scalkit.measure import Series
from scalkit.validation import Expectation, SearchSpace
from scalkit.validation.judge.along_one import judge

_KNOTS = 40
"""A curve is drawn at so many places and interpolated between; growths are smooth on a logarithmic axis."""


@dataclass(frozen=True)
class FittedCurve:
    """A fitted model and its posterior; a `Curve` that can be sampled."""

    model: Model
    posterior: Posterior

    def __call__(self, x: Any) -> Floats:
        """Return the model at `x`, in the unit of the measurements."""
        return self.model(x)

    def sample(self, x: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Return `n` possible curves at settings of shape (m,), as an array of shape (n, m).

        Growths come with their probability; the level of a curve varies as that of so many values does, without the noise of
        a new value.
        """
        at = np.geomspace(x[0], x[-1], _KNOTS) if len(x) > _KNOTS else x
        mixture = self.posterior.mixture(at)
        shares = mixture.weights[:, -1]  # what becomes negative up to the last point is no law
        chosen = rng.choice(len(shares), size=n, p=shares)
        shift = rng.standard_normal(n) * mixture.width[chosen, 0] / np.sqrt(len(self.posterior.y) + 1)
        kinds, which = np.unique(chosen, return_inverse=True)
        logs = np.stack([np.interp(np.log(x), np.log(at), mixture.centre[kind]) for kind in kinds])
        return np.asarray(np.exp(logs[which] + shift[:, None]))


def fit_curves(parameter: str, series: Sequence[tuple[Floats, Floats]]) -> list[FittedCurve | None]:
    """Return a model of each series, all growths of the ruler of the case study equally probable before.

    `series` of shape (m,): settings, and medians of the runs; NaN where a run has none. Settings that are not positive
    are left out.
    Returns: None where fewer than five settings have a value.
    """
    found: list[FittedCurve | None] = [None] * len(series)
    expectation, space = Expectation(parameter, parameter=parameter), SearchSpace.preset("ics15", parameter)
    made = [_series(parameter, number, x, values) for number, (x, values) in enumerate(series)]
    usable = [one for one in made if len(one.x) >= MIN_POINTS]
    for verdict in judge([(one, expectation, space) for one in usable], knows_claim=False):
        found[int(verdict.function)] = FittedCurve(verdict.model, verdict.posterior)
    return found


def _series(parameter: str, number: int, x: Floats, values: Floats) -> Series:
    kept = (x > 0) & np.isfinite(values).any(axis=1)
    values = values[kept]
    return Series(
        function=str(number),
        metric="time",
        parameter=parameter,
        unit="s",
        exact=False,
        x=x[kept],
        values=values,
        y=np.nanmedian(values, axis=1),
        n_repetitions=np.isfinite(values).sum(axis=1),
        caveats=(),
        decides=True,
        noise=float("nan"),
    )


def predictions(found: Assessment, along: str = "p", *, highest: float | None = None, seed: int = 0) -> tuple[Prediction, ...]:
    """Return from which scale on fitted models violate the guidelines of an assessment, with intervals.

    `along`: the parameter to look along; it needs five values at a setting.
    `highest`: how far; 256 times the largest measured value by default.
    `seed`: of the curves that are drawn.
    Raises UsageError if there is no such parameter with numbers.
    """
    return predict(found, fit_curves, along, highest=highest, min_points=MIN_POINTS, seed=seed)
