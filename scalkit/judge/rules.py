"""Cross-function rules: ``MPI_Allreduce <= MPI_Reduce + MPI_Bcast`` on measurements and on models."""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from scalkit.errors import RuleError
from scalkit.growth.relation import Relation, Terms
from scalkit.judge.crossing import last_sign_change, place_of, shown_scale
from scalkit.judge.fit import Model
from scalkit.judge.measured import AnySeries, AnyVerdict
from scalkit.support.arguments import each_of
from scalkit.support.arrays import Flags, Floats
from scalkit.support.json_values import json_fields, json_value
from scalkit.support.markup import block, bullets, counted, details, paragraph, table

TOLERANCE = 0.03
_LOG2_X_MAX = 1000.0
_LOG2_X_MAX_EXPONENTIAL = 30.0
_STEPS = 20_000
_POINTS_SHOWN = 3

RuleStatus = Literal["holds", "violated", "predicted", "unknown"]


@dataclass(frozen=True)
class Prediction:
    """Where the models predict that a violation of a rule begins.

    `parameter`: along which it begins first, in multiples of its largest measured value.
    `start`: the value of this parameter from which on the rule is violated.
    `largest`: its largest measured value.
    `others`: the values of the other parameters, their largest measured ones.
    """

    parameter: str
    start: float
    largest: float
    others: Mapping[str, float]

    def __str__(self) -> str:
        place = place_of(self.start, self.largest)
        if not self.others:
            return f"{self.parameter} = {shown_scale(self.start)} on, {place}"
        fixed = ", ".join(f"{name} = {x:g}" for name, x in self.others.items())
        start = shown_scale(self.start).replace(",", "")  # a comma separates the values of a point
        return f"{self.parameter} = {start} on, with {fixed}, {place}"


@dataclass(frozen=True, eq=False)
class RuleResult:
    """Result of a rule on measurements and on models, over one parameter or several.

    `parameters`: names, in the order of the columns of the points.
    `points` (shape (points, parameters)): those that all functions of the rule share.
    `ratio` (shape (points,)): left side over right side, of the statistic over the runs; above 1 the left side is slower.
    `violated` (shape (points,)): whether, in every run, the left side exceeds the right side by more than the tolerance of
    3 %.
    `prediction`: where the models predict a violation; None if nowhere, or if a function is missing.
    `decides`: whether a violation may decide an exit status: all its functions may.
    `caveats`: those of its functions.
    `missing`: functions of the rule that were not measured.
    `has_models`: whether every function has a model that looks ahead.
    """

    rule: Relation
    metric: str
    parameters: tuple[str, ...]
    points: Floats
    ratio: Floats
    violated: Flags
    prediction: Prediction | None
    decides: bool
    caveats: tuple[str, ...]
    missing: tuple[str, ...]
    has_models: bool = True

    @property
    def violated_at(self) -> tuple[Any, ...]:
        """The points where it is violated: values of the only parameter, or a tuple with a value of each of several."""
        points = self.points[self.violated].tolist()
        return tuple(point[0] if len(self.parameters) == 1 else tuple(point) for point in points)

    @property
    def predicted_from(self) -> float | None:
        """Value of the parameter of `prediction` from which on the models predict a violation; None if never."""
        return None if self.prediction is None else self.prediction.start

    @property
    def status(self) -> RuleStatus:
        """Violated on measurements, predicted by the models only, holding, or unknown for lack of data."""
        if self.missing or not len(self.points):
            return "unknown"
        if self.violated.any():
            return "violated"
        return "holds" if self.prediction is None else "predicted"

    @property
    def is_failure(self) -> bool:
        """Whether it decides an exit status: violated on measurements that may decide."""
        return self.decides and self.status == "violated"

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        if self.missing:
            verb = "was" if len(self.missing) == 1 else "were"
            return f"{self.rule} cannot be checked: {', '.join(self.missing)} {verb} not measured."
        if not len(self.points):
            what = f"setting of {self.parameters[0]}" if len(self.parameters) == 1 else f"point of {', '.join(self.parameters)}"
            return f"{self.rule} cannot be checked: its functions share no {what}."
        if self.violated.any():
            worst = float(np.max(self.ratio[self.violated]))
            return f"{self.rule} is violated at {self._where}: the left side is up to {worst:.3g} times the right."
        if self.prediction is not None:
            return f"{self.rule} holds as measured; the models predict a violation from {self.prediction}."
        if not self.has_models:
            return f"{self.rule} holds as measured; not every function of it has a model that could look ahead."
        return f"{self.rule} holds as measured, and the models predict no violation."

    @property
    def _where(self) -> str:
        """Return where it is violated, in words; of several parameters the worst few points."""
        if len(self.parameters) == 1:
            return f"{self.parameters[0]} = {', '.join(shown_scale(x) for x in self.violated_at)}"
        n = int(self.violated.sum())
        if n == len(self.points) > _POINTS_SHOWN:
            return f"all {n} points"
        order = np.argsort(-self.ratio[self.violated], kind="stable")
        shown = "; ".join(self.named(point) for point in self.points[self.violated][order[:_POINTS_SHOWN]])
        return f"{shown}; and {counted(n - _POINTS_SHOWN, 'more point')}" if n > _POINTS_SHOWN else shown

    def named(self, point: Floats) -> str:
        """Return a point in words: ``p = 64, S = 1024``."""
        return ", ".join(f"{name} = {x:g}" for name, x in zip(self.parameters, point.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        start: Any = self.predicted_from
        where = {"parameter": self.parameters[0], "x": json_value(self.points[:, 0])}
        if len(self.parameters) > 1:
            where = json_fields(self, "parameters points")
            begin = self.prediction
            start = begin and {name: begin.others.get(name, begin.start) for name in self.parameters}
        return {
            **json_fields(self, "rule status metric"),
            **where,
            **json_fields(self, "ratio violated_at"),
            "predicted_from": json_value(start),
            **json_fields(self, "decides caveats missing sentence"),
        }

    def __repr__(self) -> str:
        return f"RuleResult({str(self.rule)!r}, {self.status})"

    def _repr_html_(self) -> str:
        points = zip(self.points.tolist(), self.ratio, strict=True)
        rows = [(*(f"{x:g}" for x in point), f"{ratio:.3g}") for point, ratio in points]
        values = table((*self.parameters, "left / right"), rows) if rows else ""
        return block(paragraph(self.sentence), details(counted(len(rows), "ratio"), values), bullets(self.caveats))


def parsed_rules(rules: Iterable[str | Relation] | str | Relation | None) -> tuple[Relation, ...]:
    """Return rules given as texts or relations, one alone or several, each once."""
    several = [rules] if isinstance(rules, str | Relation) else rules or ()
    given = each_of(several, object, "the rules", "give texts such as 'A <= B + C'")
    return tuple(dict.fromkeys(one if isinstance(one, Relation) else Relation.parse(one) for one in given))


def require_known(rules: Iterable[Relation], known: Collection[str]) -> None:
    """Refuse a rule that names a function which is neither measured nor expected.

    Raises RuleError with the names that are near.
    """
    for rule in rules:
        for name in rule.names:
            if name not in known:
                near = difflib.get_close_matches(name, sorted(known), 1) or sorted(known)
                raise RuleError(
                    f"rule '{rule}' names '{name}', which is neither measured nor expected; "
                    f"did you mean {' or '.join(repr(other) for other in near[:3])}?"
                )


def judge_by_metric(
    rule: Relation, metrics: Sequence[str], series: Sequence[AnySeries], verdicts: Sequence[AnyVerdict]
) -> RuleResult:
    """Return the result of a rule on the metric that most of its functions have; the first of `metrics` decides ties."""
    metric = max(metrics, key=lambda m: sum(one.metric == m for one in series))
    return judge_rule(
        rule,
        {one.function: one for one in series if one.metric == metric},
        {v.function: v.model for v in verdicts if v.metric == metric},
    )


def judge_rule(rule: Relation, series: Mapping[str, AnySeries], models: Mapping[str, Model]) -> RuleResult:
    """Return the result of a rule on the series and models of one metric, by function name."""
    missing = tuple(name for name in rule.names if name not in series)
    some = next((series[name] for name in rule.names if name in series), None)
    metric, parameters = (some.metric, some.parameters) if some else ("time", ("p",))
    used = {} if missing else {name: series[name] for name in rule.names}
    points = _shared_points(list(used.values()), len(parameters))
    ratio, violated = _measured(rule, used, points)
    return RuleResult(
        rule=rule,
        metric=metric,
        parameters=parameters,
        points=points,
        ratio=ratio,
        violated=violated,
        prediction=_predicted(rule, models, points, parameters) if len(points) else None,
        decides=bool(used) and all(s.decides for s in used.values()),
        caveats=tuple(dict.fromkeys(caveat for s in used.values() for caveat in s.caveats)),
        missing=missing,
        has_models=all(name in models for name in rule.names),
    )


def _shared_points(used: Sequence[AnySeries], n_parameters: int) -> Floats:
    """Return the points that all series have, ascending, of shape (points, parameters)."""
    if not used:
        return np.empty((0, n_parameters))
    shared = set.intersection(*({tuple(point) for point in s.points.tolist()} for s in used))
    return np.array(sorted(shared)).reshape(-1, n_parameters)


def _measured(rule: Relation, used: Mapping[str, AnySeries], points: Floats) -> tuple[Floats, Flags]:
    if not len(points):
        return np.empty(0), np.empty(0, dtype=bool)
    rows = {name: _rows(s, points) for name, s in used.items()}
    left, right = rule.evaluate({name: s.y[rows[name]] for name, s in used.items()})
    runs = min(s.values.shape[1] for s in used.values())
    left_runs, right_runs = rule.evaluate({name: s.values[rows[name], :runs] for name, s in used.items()})
    known = np.isfinite(left_runs) & np.isfinite(right_runs)
    exceeds = np.where(known, left_runs > (1 + TOLERANCE) * right_runs, True)
    return _ratio(left, right), np.asarray(exceeds.all(axis=1) & known.any(axis=1))


def _rows(series: AnySeries, points: Floats) -> list[int]:
    """Return the place of each point in a series."""
    places = {tuple(point): row for row, point in enumerate(series.points.tolist())}
    return [places[tuple(point)] for point in points.tolist()]


def _ratio(left: Floats, right: Floats) -> Floats:
    """Return left over right; infinite where only the right side is zero (bytes may be), NaN where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(left / right)


def _predicted(rule: Relation, models: Mapping[str, Model], points: Floats, parameters: tuple[str, ...]) -> Prediction | None:
    """Return where the models predict a violation, along each parameter with the others at their largest values.

    Of several parameters it is the one along which the violation begins first, in multiples of its largest value.
    """
    if any(name not in models for name in rule.names):
        return None
    used = {name: replace(models[name], average=None) for name in rule.names}
    found = []
    for name, column in zip(parameters, points.T, strict=True):
        others = {other: float(x) for other, x in zip(parameters, points.max(axis=0), strict=True) if other != name}
        start = _start_along(rule, used, name, float(column.min()), others)
        if start is not None:
            found.append(Prediction(name, start, float(column.max()), others))
    return min(found, key=lambda one: one.start / one.largest, default=None)


def _start_along(
    rule: Relation, models: Mapping[str, Model], parameter: str, first: float, others: Mapping[str, float]
) -> float | None:
    """Return the value of a parameter from which on the left side exceeds the right side by more than the tolerance.

    The formulas are summed before anything is dropped, so constants and coefficients decide where it begins.
    `first`: smallest measured value.
    """

    def excess(log2_x: Floats) -> Floats:
        at = {parameter: np.exp2(log2_x)} | {name: np.full(log2_x.shape, x) for name, x in others.items()}
        left, right = (_log2_sum(terms, models, at) for terms in (rule.left, rule.right))
        with np.errstate(invalid="ignore"):
            difference = left - right - math.log2(1 + TOLERANCE)
        return np.where(np.isneginf(left), -np.inf, difference)  # nothing is never more than nothing

    is_exponential = any(model.leading(parameter).exponential(parameter) for model in models.values())
    highest = _LOG2_X_MAX_EXPONENTIAL if is_exponential else _LOG2_X_MAX
    lowest = math.log2(max(first, 1.0))
    start = last_sign_change(excess, np.linspace(lowest, max(highest, lowest + 1), _STEPS))
    if math.isinf(start):
        return None
    return first if math.isnan(start) else 2.0**start


def _log2_sum(terms: Terms, models: Mapping[str, Model], at: Mapping[str, Floats]) -> Floats:
    rows = [math.log2(factor) + models[name].log2_value(at) for factor, name in terms]
    return np.asarray(np.logaddexp2.reduce(rows, axis=0))


@dataclass(frozen=True, eq=False)
class Litmus:
    """The verdict on the litmus function, and what follows for the others.

    Source: Shudler et al. 2015, sections 2.2 and 3.2 (docs/references.md).
    """

    verdict: AnyVerdict

    def __repr__(self) -> str:
        return f"<Litmus: {self.sentence}>"

    def _repr_html_(self) -> str:
        return block(paragraph(self.sentence))

    @property
    def passed(self) -> bool:
        """Whether the litmus function does not grow faster than its limits."""
        return not self.verdict.evidence.misses

    @property
    def sentence(self) -> str:
        """What the test says, in plain words."""
        verdict = self.verdict
        name, found, expected = verdict.function, verdict.model.growth, verdict.expectation.growth
        if verdict.answer == "cannot tell":
            return (
                f"The litmus test {name} cannot tell whether it grows as its algorithm promises ({expected}), so it says nothing "
                "about the others; measure it again, at more settings or on an idle machine."
            )
        if verdict.match == "total":
            behaviour = f"behaves as its algorithm promises ({found})"
        else:
            inside = "within the limits" if verdict.match == "approximate" else "outside the limits"
            behaviour = f"{verdict.direction} than its algorithm promises, {inside} ({found} instead of {expected})"
        if self.passed:
            return (
                f"The litmus test {name} {behaviour}: where another run time grows too fast, "
                "suspect the library before the machine."
            )
        return (
            f"The litmus test {name} itself {behaviour}: machine, scheduling or benchmark, not the library alone, "
            "may explain the deviations of other run times."
        )
