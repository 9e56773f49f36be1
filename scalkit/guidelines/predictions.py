"""Guidelines evaluated on models: from which scale on a violation is predicted, and how sure that is."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from scalkit.arrays import EqualIfMissingAlike, Flags
from scalkit.errors import UsageError
from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.guideline import Guideline, Side
from scalkit.guidelines.result import Assessment
from scalkit.guidelines.sentences import titled
from scalkit.json_values import json_fields
from scalkit.stats.samples import Floats
from scalkit.text import as_percent, percent

MIN_POINTS = 5
"""The fewest points at which a verdict is possible; see `scalkit.fit.MIN_POINTS`."""

SURE = 0.9
"""Probability from which on a violation counts as predicted: the one that verdicts need, too."""

AHEAD = 256.0
"""How many times beyond the largest measured scale to look; a report predicts up to the same."""

_STEPS = 400
"""Places between both ends of the scale: a crossing is found to within about 3 %."""

_DRAWS = 500
"""Possible curves: their share has a standard error of 1.3 % at a probability of 90 %."""

Fit = Callable[[str, Sequence[tuple[Floats, Floats]]], Sequence["Curve | None"]]


class Curve(Protocol):
    """A model of a time: any callable from settings to values, such as `scalkit.fit.Model`."""

    def __call__(self, x: Any) -> Any:
        """Return the time at settings of shape (m,)."""


@runtime_checkable
class Sampled(Protocol):
    """A model that also says what else the measurements leave possible."""

    def sample(self, x: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Return `n` possible curves at settings of shape (m,), as an array of shape (n, m)."""


@dataclass(frozen=True, eq=False)
class Prediction(EqualIfMissingAlike):
    """What models say about a guideline beyond the measurements; nothing of it is measured.

    `parameter`: along which.
    `largest`: the largest setting that was measured.
    `highest`: how far was looked.
    `begins`: the setting from which on the left side takes longer by the threshold, up to `highest`; None if there is
    none.
    `low`, `high`: where it begins at the earliest and the latest, with the probability `level`; infinite for not up to
    `highest`. NaN without models that say how sure they are.
    `probability`: that it is violated at `highest`; NaN as above.
    `level`: of the interval.
    `v`: the threshold of the ratio.
    `is_measured`: whether a violation was measured there, too.
    `decides`: whether the measurements behind it may decide.
    """

    guideline: Guideline
    parameter: str
    where: Mapping[str, Any]
    largest: float
    highest: float
    begins: float | None
    low: float = math.nan
    high: float = math.nan
    probability: float = math.nan
    level: float = 0.9
    v: float = 1.03
    is_measured: bool = False
    decides: bool = True

    @property
    def is_violation(self) -> bool:
        """Whether a violation is predicted: it begins somewhere, and is at least 90 % probable where that is known."""
        return self.begins is not None and (math.isnan(self.probability) or self.probability >= SURE)

    @property
    def is_failure(self) -> bool:
        """Whether it may decide an exit status: a violation that no measurement shows yet."""
        return self.is_violation and self.decides and not self.is_measured

    @property
    def sentence(self) -> str:
        """The prediction in plain words."""
        at = ", ".join(f"{name}={level}" for name, level in self.where.items())
        head = f"{titled(self.guideline)}{f' at {at}' if at else ''}"
        sure = "" if math.isnan(self.probability) else f", with a probability of {percent(self.probability)}"
        if not self.is_violation:
            doubt = f"; at {self.parameter} = {_scale(self.highest)} it is one{sure}" if 0.1 <= self.probability < SURE else ""
            return f"Prediction: no sure violation of {head} up to {self.parameter} = {_scale(self.highest)}{doubt}."
        assert self.begins is not None
        place = "within what was measured" if self.begins <= self.largest else f"{self.begins / self.largest:.3g} times beyond it"
        between = ""
        if not math.isnan(self.low):
            latest = _scale(self.high) if math.isfinite(self.high) else f"beyond {_scale(self.highest)}"
            between = f" ({as_percent(self.level)}: {_scale(self.low)} to {latest})"
        return (
            f"Prediction, not measured: {head} will be violated from {self.parameter} = {_scale(self.begins)} on{between}, "
            f"{place}{sure} at {self.parameter} = {_scale(self.highest)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.guideline.name,
            "guideline": str(self.guideline),
            **json_fields(self, "parameter where largest highest begins low high probability level is_violation is_measured"),
            **json_fields(self, "decides sentence"),
        }


def predict_models(
    guideline: Guideline | str,
    models: Mapping[str, Curve],
    largest: float,
    *,
    parameter: str = "p",
    highest: float | None = None,
    v: float = 1.03,
    level: float = 0.9,
    seed: int = 0,
    lowest: float = 1.0,
    **others: Any,
) -> Prediction:
    """Return from which setting on models violate a guideline.

    `guideline`: of kind ``levels``. ``a ~ b`` is violated when either side takes longer by the threshold.
    `models`: of each level that the guideline names; those with a method ``sample`` give an interval and a probability.
    `largest`: the largest setting that was measured.
    `highest`: how far to look; 256 times `largest` by default.
    `v`: threshold of the ratio, above 1.
    `level`: probability of the interval.
    `seed`: of the curves that are drawn.
    `lowest`: the smallest setting that is looked at.
    `**others`: further attributes of the `Prediction`.
    Raises UsageError if the guideline is of another kind, a level has no model, or the range is empty.
    """
    one = Guideline.parse(guideline) if isinstance(guideline, str) else guideline
    if one.kind != "levels":
        raise UsageError(f"'{one}' compares sizes, for which there are no models; predict guidelines between levels.")
    lacking = [name for name in one.levels if name not in models]
    if lacking:
        raise UsageError(f"'{one}' needs a model of {', '.join(lacking)}; there are {', '.join(models) or 'none'}.")
    most = AHEAD * largest if highest is None else float(highest)
    if not 0 < lowest < most < math.inf:
        raise UsageError(f"predicting from {lowest:g} to {most:g} is no range; give a larger scale to look at.")
    x = np.geomspace(lowest, most, _STEPS)
    begins = _begins(_exceeds(one, {name: np.asarray(models[name](x), dtype=float) for name in one.levels}, v), x)[0]
    others.setdefault("where", {})
    found = Prediction(
        one, parameter, largest=largest, highest=most, begins=None if math.isinf(begins) else begins, level=level, v=v, **others
    )
    if not all(isinstance(models[name], Sampled) for name in one.levels):
        return found
    rng = np.random.default_rng(seed)
    drawn = _exceeds(one, {name: models[name].sample(x, _DRAWS, rng) for name in one.levels}, v)  # type: ignore[attr-defined]
    starts = np.sort(_begins(drawn, x))
    low, high = (float(np.quantile(starts, q, method="inverted_cdf")) for q in ((1 - level) / 2, (1 + level) / 2))
    changed = {"low": low, "high": high, "probability": float(np.isfinite(starts).mean())}
    return Prediction(**{**found.__dict__, **changed})


def predict(
    found: Assessment, fit: Fit, along: str = "p", *, highest: float | None = None, min_points: int = MIN_POINTS, seed: int = 0
) -> tuple[Prediction, ...]:
    """Return what models of the measurements say about the guidelines of an assessment at larger scales.

    `fit`: from the parameter's name and a list of (settings of shape (m,), medians of runs of shape (m, runs)) to a
    model of each, or None where none can be fitted. `scalkit.guidelines.fitted.fit_curves` is one.
    `along`: the parameter to look along.
    `highest`: how far; 256 times the largest measured value by default.
    `min_points`: settings with fewer values of the parameter are left out.
    Returns: one for each guideline between levels and each setting of the other parameters; the earliest violations
    first.
    Raises UsageError if there is no such parameter with numbers.
    """
    data = found.data
    if along not in data.parameters:
        raise UsageError(f"there is no parameter {along!r} to predict along; choose from {', '.join(data.parameters)}.")
    if not all(isinstance(level, int | float) for level in data.levels[along]):
        raise UsageError(f"'{along}' has levels that are no numbers; predict along another parameter.")
    groups = list(_groups(found, along, min_points))
    wanted = {rows: None for group in groups for rows in group.series.values()}
    x_of, made = np.array([float(level) for level in data.levels[along]]), list(wanted)
    place = data.parameters.index(along)
    series = [(x_of[data.codes[list(rows), place]], data.medians[list(rows)]) for rows in made]
    curves = dict(zip(made, fit(along, series), strict=True))
    predictions = []
    for group in groups:
        fitted = {name: curves[rows] for name, rows in group.series.items()}
        models = {name: model for name, model in fitted.items() if model is not None}
        if len(models) == len(fitted):
            settings = x_of[data.codes[list(next(iter(group.series.values()))), place]]
            one = predict_models(
                group.guideline,
                models,
                float(settings[-1]),
                parameter=along,
                highest=highest,
                v=found.thresholds.v,
                seed=seed,
                lowest=float(settings[0]),
                where=group.where,
                is_measured=group.is_measured,
                decides=group.decides,
            )
            predictions.append(one)
    return tuple(sorted(predictions, key=lambda one: (not one.is_violation, one.begins or math.inf)))


@dataclass(frozen=True)
class _Group:
    guideline: Guideline
    where: dict[str, Any]
    series: dict[str, tuple[int, ...]]
    is_measured: bool
    decides: bool


def _groups(found: Assessment, along: str, min_points: int) -> Iterator[_Group]:
    """Yield the settings of each guideline, with the experiments of each of its levels along the parameter."""
    data = found.data
    place = data.parameters.index(along)
    for number, guideline in enumerate(found.guidelines):
        tests = np.flatnonzero(found.which == number)
        if guideline.kind != "levels" or guideline.parameter == along or not len(tests):
            continue
        keys = found.codes[tests].copy()
        keys[:, place] = MISSING
        _, which = np.unique(keys, axis=0, return_inverse=True)
        rows = [rows for side in found.experiments[number] for rows in side]
        levels = [level for side in (guideline.left, guideline.right) for terms in side for _, level in terms]
        for group in range(int(which.max()) + 1):
            inside = np.flatnonzero(which.ravel() == group)
            inside = inside[np.argsort(found.codes[tests[inside], place])]
            inside = inside[found.codes[tests[inside], place] != MISSING]
            if len(inside) < min_points:
                continue
            mine = tests[inside]
            if any((of[inside] == MISSING).any() for of in rows):
                continue  # a local call that takes no time has no curve
            series = {level: tuple(of[inside].tolist()) for level, of in zip(levels, rows, strict=True)}
            if any((data.codes[list(one), place] == MISSING).any() for one in series.values()):
                continue
            code = found.codes[mine[0]]
            shown = [k for k in range(len(data.parameters)) if k != place and code[k] != MISSING]
            where = {data.parameters[k]: data.level(data.parameters[k], int(code[k])) for k in shown}
            states = found.columns["state"][mine]
            yield _Group(guideline, where, series, bool((states == "violated").any()), bool(found.columns["decides"][mine].all()))


def _exceeds(guideline: Guideline, values: Mapping[str, Floats], v: float) -> Flags:
    """Return whether the guideline is violated, for values of shape (..., settings)."""
    left, right = (_total(side, values) for side in (guideline.left, guideline.right))
    exceeds = left >= v * right
    if guideline.relation == "~":
        exceeds |= right >= v * left
    return np.atleast_2d(exceeds)


def _total(side: Side, values: Mapping[str, Floats]) -> Floats:
    sums = [sum(factor * values[level] for factor, level in terms) for terms in side]
    return np.asarray(np.max(np.stack(np.broadcast_arrays(*sums)), axis=0), dtype=float)


def _begins(exceeds: Flags, x: Floats) -> Floats:
    """Return the setting from which on each row is true up to the end; infinite where its end is false."""
    holds = exceeds[:, ::-1].cumprod(axis=1)[:, ::-1].astype(bool)
    return np.where(holds[:, -1], x[np.argmax(holds, axis=1)], math.inf)


def _scale(x: float) -> str:
    return f"{x:.3g}" if x < 1000 or x >= 1e7 else f"{x:,.0f}"
