"""Does what was measured over what a model says grow, along what, and what is it?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.special import stdtrit

from scalkit.judge.answer import MATERIAL, Answer
from scalkit.judge.baseline.regression import BETWEEN, errors_of
from scalkit.measure import Series, SeveralSeries
from scalkit.stats.pure_error import standard_error
from scalkit.support.arrays import Floats
from scalkit.support.json_values import json_fields

LEVEL_OF_TRENDS, LEVEL = 0.99, 0.95
_EXACT = 1.01
"""Factor by which exact values must outgrow a model to count: constants of models are given in three digits."""
_ROUNDING = 1e-9
_MOST_SHAPED = 3  # parameters; of more, only a power of each is tried
_MISFIT = 4.0  # residual variance over that of the noise, from which on the range of the ratio is said


@dataclass(frozen=True)
class Trend:
    """How the ratio changes along a parameter, the others fixed.

    `first`, `last`: smallest and largest measured setting.
    `growth`, `low`, `high`: the factor from the first to the last one, and its 99 % interval.
    """

    parameter: str
    first: float
    last: float
    growth: float
    low: float
    high: float


@dataclass(frozen=True)
class Against:
    """Measured values over those of a model with constants.

    `factor`, `low`, `high`: the ratio and its 95 % interval, of the median repetition: everywhere, or at the largest
    settings where it grows or falls.
    `trends`: along each parameter.
    `smallest`, `largest`: the ratio at single settings.
    `is_misfit`: whether they scatter by more than noise.
    `most`: factor that a ratio may grow by and be fine.
    """

    function: str
    model: str
    factor: float
    low: float
    high: float
    trends: tuple[Trend, ...]
    smallest: float
    largest: float
    is_misfit: bool
    most: float

    @property
    def growing(self) -> tuple[Trend, ...]:
        """Along which parameters the ratio certainly grows by more than a machine may drift, the worst first."""
        found = [one for one in self.trends if one.low > 1 and one.growth >= self.most]
        return tuple(sorted(found, key=lambda one: -one.growth))

    @property
    def answer(self) -> Answer:
        """Fix where the ratio grows, fine where it certainly does not, else cannot tell."""
        if self.growing:
            return "fix"
        return "fine" if all(one.high < self.most for one in self.trends) else "cannot tell"

    @property
    def problem(self) -> str:
        """What is wrong, in words for a person who decides; empty if the ratio does not grow."""
        if not self.growing:
            return ""
        said = " and ".join(
            f"{_times(one.growth, one.low, one.high)} from {one.parameter} = {one.first:g} to {one.last:g}"
            for one in self.growing
        )
        return (
            f"{self.function} outgrows the model '{self.model}': measured over model grows by a factor of {said}, and is "
            f"{self._shown} at the largest settings"
        )

    @property
    def sentence(self) -> str:
        """What was found, in plain words."""
        if self.growing:
            return f"{self.problem}."
        wide = [one for one in self.trends if one.high >= self.most]
        said = f"{self.function} is {self._shown} times what the model '{self.model}' says"
        if wide:
            worst = max(wide, key=lambda one: one.high)
            return (
                f"{said}, and whether that grows cannot be told: from {worst.parameter} = {worst.first:g} to {worst.last:g} it "
                f"is {_times(worst.growth, worst.low, worst.high)}; measure more repetitions or a wider range."
            )
        falling = [one for one in self.trends if one.high < 1 and one.growth <= 1 / self.most]
        more = "".join(f", and the less the larger {one.parameter}" for one in falling)
        scatter = f", single settings {self.smallest:.3g} to {self.largest:.3g} times" if self.is_misfit else ""
        return f"{said}{more}{scatter}; the ratio does not grow."

    @property
    def remark(self) -> str:
        """The constant factor, where it is one; empty where it is 1 within its interval or 2 %."""
        is_one = self.low <= 1 <= self.high or abs(self.factor - 1) < 0.02
        return "" if is_one or self.growing else f"measured values are {self._shown} times what the model says"

    @property
    def _shown(self) -> str:
        return _times(self.factor, self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **json_fields(self, "model factor low high smallest largest"),
            "grows": {one.parameter: {"factor": one.growth, "low": one.low, "high": one.high} for one in self.trends},
            "sentence": self.sentence,
        }


def against(series: Series | SeveralSeries, model: str) -> Against:
    """Return how measured values compare with those of a model.

    The logarithm of the ratio is a sum of one shape of each parameter, a power, linear or quadratic, whichever explain it
    best; what a shape rises by from the smallest to the largest setting is its trend. Errors are those of the repetitions and
    1 % between launches, widened by what the shapes do not explain; of exact values they are what is not explained.

    `series`: measured over model.
    `model`: its name.
    """
    y, points, is_exact = series.y, series.points, series.exact or series.virtual
    error = _errors(series, is_exact)
    logs = np.log(y)
    found = min((_fitted(logs, error, shape) for shape in _shapes(points)), key=lambda one: (round(one[2], 9), one[1].tolist()))
    coefficients, scales, squares, covariance = found
    freedom = max(1, len(y) - len(coefficients))
    scale = max(1.0, squares / freedom)
    half = stdtrit(freedom, (1 + LEVEL_OF_TRENDS) / 2) * np.sqrt(scale * np.diag(covariance))
    trends = tuple(
        Trend(
            name,
            float(points[:, k].min()),
            float(points[:, k].max()),
            *(_exp(coefficients[k + 1] + sign * half[k + 1]) for sign in (0, -1, 1)),
        )
        for k, name in enumerate(series.parameters)
    )
    changes = [abs(math.log(one.growth)) > math.log(_EXACT if is_exact else MATERIAL) for one in trends]
    at = np.array([1.0, *(1.0 if moved else float(m) for moved, m in zip(changes, scales, strict=True))])
    middle = float(at @ coefficients)
    variance = scale * float(at @ covariance @ at)
    if not is_exact:
        middle += _to_median(series)
        variance += BETWEEN**2
    wide = float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(variance)
    return Against(
        function=series.function,
        model=model,
        factor=_exp(middle),
        low=_exp(middle - wide),
        high=_exp(middle + wide),
        trends=trends,
        smallest=float(y.min()),
        largest=float(y.max()),
        is_misfit=squares / freedom > _MISFIT and float(y.max()) > _EXACT * float(y.min()),
        most=_EXACT if is_exact else MATERIAL,
    )


def _errors(series: Series | SeveralSeries, is_exact: bool) -> Floats:
    if is_exact or not (series.replicates > 0).any():
        return np.asarray(np.hypot(_ROUNDING, 0.5 * series.resolution / series.y))
    return np.asarray(np.hypot(BETWEEN, np.array(errors_of(series, standard_error(series)), dtype=np.float64)))


def _to_median(series: Series | SeveralSeries) -> float:
    """Return the logarithm of the median repetition over the values, a quartile for example: a factor is about what is usual."""
    rows = series.replicates[np.isfinite(series.replicates).any(axis=1)]
    usual = np.nanmedian(rows, axis=1) if len(rows) == len(series.y) else series.y
    return float(np.median(np.log(usual / series.y)))


def _shapes(points: Floats) -> Sequence[Floats]:
    """Return designs of shape (points, parameters), each column from 0 at the smallest to 1 at the largest setting."""
    columns = []
    for x in points.T:
        found = [np.log(x), x, x**2] if (x > 0).all() else [x, x**2]
        found = found if points.shape[1] <= _MOST_SHAPED else found[:1]
        columns.append([(one - one.min()) / (np.ptp(one) or 1.0) for one in found])
    return [np.stack(one, axis=1) for one in product(*columns)]


def _fitted(logs: Floats, error: Floats, shape: Floats) -> tuple[Floats, Floats, float, Floats]:
    """Return coefficients with the constant first, the mean of each shape, weighted squares, and the covariance."""
    design = np.column_stack([np.ones(len(logs)), shape]) / error[:, None]
    covariance: Floats = np.asarray(np.linalg.pinv(design.T @ design), dtype=np.float64)
    coefficients = covariance @ design.T @ (logs / error)
    rest = logs / error - design @ coefficients
    weights = error**-2
    return coefficients, np.asarray(weights @ shape / weights.sum()), float(rest @ rest), covariance


def _times(value: float, low: float, high: float) -> str:
    return f"{value:.3g} ({low:.3g} to {high:.3g})"


def _exp(log: float) -> float:
    return math.exp(min(max(log, -700.0), 700.0))
