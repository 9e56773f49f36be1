"""Guidelines evaluated on fitted models: from which scale on a violation is predicted, and how sure that is."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.errors import UsageError
from scalkit.fit import MIN_POINTS, Model
from scalkit.fit.regression.posterior import Posterior
from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.guideline import Guideline, Side
from scalkit.guidelines.result import Assessment
from scalkit.guidelines.sentences import titled
from scalkit.json_values import json_fields
from scalkit.measure import Series
from scalkit.text import as_percent, percent
from scalkit.validation import Expectation, SearchSpace
from scalkit.validation.judge.along_one import judge

SURE = 0.9
"""Probability from which on a violation counts as predicted: the one that verdicts need, too."""

LEVEL = 0.9
"""Probability of the interval in which a violation begins."""

_AHEAD = 256.0
"""How many times beyond the largest measured scale to look; a report predicts up to the same."""

_STEPS = 400
"""Places between both ends of the scale: a crossing is found to within about 3 %."""

_DRAWS = 500
"""Possible curves: their share has a standard error of 1.3 % at a probability of 90 %."""

_KNOTS = 40
"""A curve is drawn at so many places and interpolated between; growths are smooth on a logarithmic axis."""


@dataclass(frozen=True)
class Prediction:
    """What models say about a guideline beyond the measurements; nothing of it is measured.

    `parameter`: along which.
    `largest`: the largest setting that was measured.
    `highest`: how far was looked.
    `begins`: the setting from which on the left side takes longer by the threshold, up to `highest`; None if there is
    none.
    `low`, `high`: where it begins at the earliest and the latest, with the probability `LEVEL`; infinite for not up to
    `highest`.
    `probability`: that it is violated at `highest`.
    `is_measured`: whether a violation was measured there, too.
    `decides`: whether the measurements behind it may decide.
    """

    guideline: Guideline
    parameter: str
    where: Mapping[str, Any]
    largest: float
    highest: float
    begins: float | None
    low: float
    high: float
    probability: float
    is_measured: bool
    decides: bool

    @property
    def is_violation(self) -> bool:
        """Whether a violation is predicted: it begins somewhere, and is at least 90 % probable."""
        return self.begins is not None and self.probability >= SURE

    @property
    def is_failure(self) -> bool:
        """Whether it may decide an exit status: a violation that no measurement shows yet."""
        return self.is_violation and self.decides and not self.is_measured

    @property
    def sentence(self) -> str:
        """The prediction in plain words."""
        at = ", ".join(f"{name}={level}" for name, level in self.where.items())
        head = f"{titled(self.guideline)}{f' at {at}' if at else ''}"
        sure = f", with a probability of {percent(self.probability)}"
        if self.begins is None or not self.is_violation:
            doubt = f"; at {self.parameter} = {_scale(self.highest)} it is one{sure}" if 0.1 <= self.probability < SURE else ""
            return f"Prediction: no sure violation of {head} up to {self.parameter} = {_scale(self.highest)}{doubt}."
        place = "within what was measured" if self.begins <= self.largest else f"{self.begins / self.largest:.3g} times beyond it"
        latest = _scale(self.high) if math.isfinite(self.high) else f"beyond {_scale(self.highest)}"
        return (
            f"Prediction, not measured: {head} will be violated from {self.parameter} = {_scale(self.begins)} on "
            f"({as_percent(LEVEL)}: {_scale(self.low)} to {latest}), {place}{sure} at {self.parameter} = {_scale(self.highest)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.guideline.name,
            "guideline": str(self.guideline),
            **json_fields(self, "parameter where largest highest begins low high probability is_violation is_measured"),
            **json_fields(self, "decides sentence"),
        }


def predictions(found: Assessment, along: str = "p", *, highest: float | None = None, seed: int = 0) -> tuple[Prediction, ...]:
    """Return from which scale on fitted models violate the guidelines of an assessment, with intervals.

    `along`: the parameter to look along; it needs five values at a setting.
    `highest`: how far; 256 times the largest measured value by default.
    `seed`: of the curves that are drawn.
    Returns: one for each guideline between levels and each setting of the other parameters; the earliest violations
    first.
    Raises UsageError if there is no such parameter with numbers, or the range is empty.
    """
    data = found.data
    if along not in data.parameters:
        raise UsageError(f"there is no parameter {along!r} to predict along; choose from {', '.join(data.parameters)}.")
    if not all(isinstance(level, int | float) for level in data.levels[along]):
        raise UsageError(f"'{along}' has levels that are no numbers; predict along another parameter.")
    place = data.parameters.index(along)
    levels = np.array(data.levels[along], dtype=np.float64)
    groups = list(_groups(found, place))
    wanted = list(dict.fromkeys(rows for group in groups for rows in group.series.values()))
    series = [(levels[data.codes[list(rows), place]], data.medians[list(rows)]) for rows in wanted]
    curves = dict(zip(wanted, _fitted(along, series), strict=True))
    made = []
    for group in groups:
        models = {name: curve for name, rows in group.series.items() if (curve := curves[rows]) is not None}
        if len(models) < len(group.series):
            continue
        x = levels[data.codes[list(next(iter(group.series.values()))), place]]
        most = _AHEAD * x[-1] if highest is None else float(highest)
        if not 0 < x[0] < most < math.inf:
            raise UsageError(f"predicting from {x[0]:g} to {most:g} is no range; give a larger scale to look at.")
        begins, probability = _of_models(group.guideline, models, np.geomspace(x[0], most, _STEPS), found.thresholds.v, seed)
        made.append(
            Prediction(
                group.guideline,
                along,
                group.where,
                largest=float(x[-1]),
                highest=most,
                begins=begins[0] if math.isfinite(begins[0]) else None,
                low=begins[1],
                high=begins[2],
                probability=probability,
                is_measured=group.is_measured,
                decides=group.decides,
            )
        )
    return tuple(sorted(made, key=lambda one: (not one.is_violation, one.begins or math.inf)))


@dataclass(frozen=True)
class _Group:
    """One guideline at one setting: the experiments of each level along the parameter."""

    guideline: Guideline
    where: dict[str, Any]
    series: dict[str, tuple[int, ...]]
    is_measured: bool
    decides: bool


def _groups(found: Assessment, place: int) -> Iterator[_Group]:
    """Yield the settings of each guideline that have enough values of the parameter at `place`."""
    data = found.data
    along = data.parameters[place]
    for number, guideline in enumerate(found.guidelines):
        tests = np.flatnonzero((found.which == number) & (found.codes[:, place] != MISSING))
        if guideline.kind != "levels" or guideline.parameter == along:
            continue
        first = int(np.argmax(found.which == number))
        rows = [rows for side in found.experiments[number] for rows in side]
        levels = [level for side in (guideline.left, guideline.right) for terms in side for _, level in terms]
        keys = np.delete(found.codes[tests], place, axis=1)
        _, group = np.unique(keys, axis=0, return_inverse=True)
        for one in range(int(group.max(initial=-1)) + 1):
            mine = tests[group.ravel() == one]
            mine = mine[np.argsort(found.codes[mine, place])]
            series = {level: tuple(of[mine - first].tolist()) for level, of in zip(levels, rows, strict=True)}
            experiments = np.array(list(series.values()))
            # a local call that takes no time has no curve, and neither has a level without the parameter
            if len(mine) < MIN_POINTS or (experiments == MISSING).any() or (data.codes[experiments, place] == MISSING).any():
                continue
            codes = zip(data.parameters, found.codes[mine[0]].tolist(), strict=True)
            where = {name: data.level(name, code) for name, code in codes if name != along and code != MISSING}
            is_measured = bool((found.columns["state"][mine] == "violated").any())
            yield _Group(guideline, where, series, is_measured, bool(found.columns["decides"][mine].all()))


@dataclass(frozen=True)
class _Curve:
    """A fitted model and its posterior."""

    model: Model
    posterior: Posterior

    def sample(self, x: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Return `n` possible curves at settings of shape (m,), as an array of shape (n, m).

        Growths come with their probability; the level of a curve varies as that of so many values does, without the noise of
        a new value.
        """
        at = np.geomspace(x[0], x[-1], _KNOTS)
        mixture = self.posterior.mixture(at)
        shares = mixture.weights[:, -1]  # what becomes negative up to the last point is no law
        chosen = rng.choice(len(shares), size=n, p=shares)
        shift = rng.standard_normal(n) * mixture.width[chosen, 0] / np.sqrt(len(self.posterior.y) + 1)
        kinds, which = np.unique(chosen, return_inverse=True)
        logs = np.stack([np.interp(np.log(x), np.log(at), mixture.centre[kind]) for kind in kinds])
        return np.asarray(np.exp(logs[which] + shift[:, None]))


def _fitted(parameter: str, series: Sequence[tuple[Floats, Floats]]) -> list[_Curve | None]:
    """Return a model of each series, all growths of the ruler of the case study equally probable before.

    `series` of shape (m,): settings, and medians of the runs; NaN where a run has none. Settings that are not positive
    are left out.
    Returns: None where fewer than five settings have a value.
    """
    found: list[_Curve | None] = [None] * len(series)
    expectation, space = Expectation(parameter, parameter=parameter), SearchSpace.preset("ics15", parameter)
    made = [_series(parameter, number, x, values) for number, (x, values) in enumerate(series)]
    usable = [one for one in made if len(one.x) >= MIN_POINTS]
    for verdict in judge([(one, expectation, space) for one in usable], knows_claim=False):
        found[int(verdict.function)] = _Curve(verdict.model, verdict.posterior)
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


def _of_models(
    guideline: Guideline, models: Mapping[str, _Curve], x: Floats, v: float, seed: int
) -> tuple[tuple[float, float, float], float]:
    """Return where the models violate a guideline at `x`, at the earliest, at the latest, and the probability at the end.

    ``a ~ b`` is violated when either side takes longer by the threshold `v`. What does not begin is infinite.
    """
    begins = _begins(_exceeds(guideline, {name: one.model(x) for name, one in models.items()}, v), x)[0]
    rng = np.random.default_rng(seed)
    drawn = _exceeds(guideline, {name: models[name].sample(x, _DRAWS, rng) for name in guideline.levels}, v)
    starts = _begins(drawn, x)
    low, high = np.quantile(starts, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return (float(begins), float(low), float(high)), float(np.isfinite(starts).mean())


def _exceeds(guideline: Guideline, values: Mapping[str, Floats], v: float) -> Flags:
    """Return whether the guideline is violated, for values of shape (..., settings)."""
    left, right = (_total(side, values) for side in (guideline.left, guideline.right))
    exceeds = left >= v * right
    if guideline.relation == "~":
        exceeds |= right >= v * left
    return np.atleast_2d(exceeds)


def _total(side: Side, values: Mapping[str, Floats]) -> Floats:
    """Return the largest of the sums of a side."""
    sums = [np.sum([factor * values[level] for factor, level in terms], axis=0) for terms in side]
    return np.asarray(np.max(sums, axis=0), dtype=np.float64)


def _begins(exceeds: Flags, x: Floats) -> Floats:
    """Return the setting from which on each row is true up to the end; infinite where its end is false."""
    holds = exceeds[:, ::-1].cumprod(axis=1)[:, ::-1].astype(bool)
    return np.where(holds[:, -1], x[np.argmax(holds, axis=1)], math.inf)


def _scale(x: float) -> str:
    return f"{x:.3g}" if x < 1000 or x >= 1e7 else f"{x:,.0f}"
