"""Cross-function rules: ``MPI_Allreduce <= MPI_Reduce + MPI_Bcast`` on measurements and on models."""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.errors import RuleError
from scalkit.fit import Model
from scalkit.markup import block, bullets, counted, details, paragraph, table
from scalkit.measure import Series
from scalkit.relation import Relation, Terms
from scalkit.validation.crossing import last_sign_change, place_of, shown_scale
from scalkit.validation.judge.measured import AnyVerdict
from scalkit.validation.verdict import Verdict

TOLERANCE = 0.03
_LOG2_X_MAX = 1000.0
_LOG2_X_MAX_EXPONENTIAL = 30.0
_STEPS = 20_000

RuleStatus = Literal["holds", "violated", "predicted", "unknown"]


@dataclass(frozen=True, eq=False)
class RuleResult:
    """What measurements and models say about a rule.

    `x` (shape (points,)): settings that all functions of the rule share.
    `ratio` (shape (points,)): left side over right side, of the statistic over the runs; above 1 the left side is slower.
    `violated_at`: settings where, in every run, the left side exceeds the right side by more than the tolerance of 3 %.
    `predicted_from`: the setting from which on the models predict a violation; None if never, or if a function is missing.
    `decides`: whether a violation may decide an exit status: all its functions may.
    `caveats`: those of its functions.
    `missing`: functions of the rule that were not measured.
    `has_models`: whether every function has a model that looks ahead.
    """

    rule: Relation
    metric: str
    parameter: str
    x: Floats
    ratio: Floats
    violated_at: tuple[float, ...]
    predicted_from: float | None
    decides: bool
    caveats: tuple[str, ...]
    missing: tuple[str, ...]
    has_models: bool = True

    @property
    def status(self) -> RuleStatus:
        """Violated on measurements, predicted by the models only, holding, or unknown for lack of data."""
        if self.missing or not len(self.x):
            return "unknown"
        if self.violated_at:
            return "violated"
        return "holds" if self.predicted_from is None else "predicted"

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
        if not len(self.x):
            return f"{self.rule} cannot be checked: its functions share no setting of {self.parameter}."
        if self.violated_at:
            where = ", ".join(shown_scale(x) for x in self.violated_at)
            worst = float(np.max(self.ratio[np.isin(self.x, self.violated_at)]))
            return f"{self.rule} is violated at {self.parameter} = {where}: the left side is up to {worst:.3g} times the right."
        if self.predicted_from is not None:
            place = place_of(self.predicted_from, float(self.x[-1]))
            scale = f"{self.parameter} = {shown_scale(self.predicted_from)}"
            return f"{self.rule} holds as measured; the models predict a violation from {scale} on, {place}."
        if not self.has_models:
            return f"{self.rule} holds as measured; not every function of it has a model that could look ahead."
        return f"{self.rule} holds as measured, and the models predict no violation."

    def __repr__(self) -> str:
        return f"RuleResult({str(self.rule)!r}, {self.status})"

    def _repr_html_(self) -> str:
        rows = [(f"{x:g}", f"{ratio:.3g}") for x, ratio in zip(self.x, self.ratio, strict=True)]
        values = table((self.parameter, "left / right"), rows) if rows else ""
        return block(paragraph(self.sentence), details(counted(len(rows), "ratio"), values), bullets(self.caveats))


def parsed_rules(rules: Iterable[str | Relation] | str | Relation | None) -> tuple[Relation, ...]:
    """Return rules given as texts or relations, one alone or several, each once."""
    given = [rules] if isinstance(rules, str | Relation) else rules or ()
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


def left_rule(rule: Relation, parameters: tuple[str, ...]) -> str:
    """Return the note that a rule is not judged over several parameters."""
    return (
        f"the rule '{rule}' is not judged over {', '.join(parameters)}; select one value of all but one parameter "
        "to judge it there"
    )


def judge_by_metric(rule: Relation, metrics: Sequence[str], series: Sequence[Series], verdicts: Sequence[Verdict]) -> RuleResult:
    """Return the result of a rule on the metric that most of its functions have; the first of `metrics` decides ties."""
    metric = max(metrics, key=lambda m: sum(one.metric == m for one in series))
    return judge_rule(
        rule,
        {one.function: one for one in series if one.metric == metric},
        {v.function: v.model for v in verdicts if v.metric == metric},
    )


def judge_rule(rule: Relation, series: Mapping[str, Series], models: Mapping[str, Model]) -> RuleResult:
    """Return the result of a rule on the series and models of one metric, by function name."""
    missing = tuple(name for name in rule.names if name not in series)
    some = next((series[name] for name in rule.names if name in series), None)
    metric, parameter = (some.metric, some.parameter) if some else ("time", "p")
    used = [] if missing else [series[name] for name in rule.names]
    x = _shared_settings(used)
    ratio, violated = _measured(rule, {s.function: s for s in used}, x)
    return RuleResult(
        rule=rule,
        metric=metric,
        parameter=parameter,
        x=x,
        ratio=ratio,
        violated_at=tuple(float(v) for v in x[violated]),
        predicted_from=_predicted(rule, models, x) if len(x) else None,
        decides=bool(used) and all(s.decides for s in used),
        caveats=tuple(dict.fromkeys(caveat for s in used for caveat in s.caveats)),
        missing=missing,
        has_models=all(name in models for name in rule.names),
    )


def _shared_settings(used: list[Series]) -> Floats:
    if not used:
        return np.empty(0)
    shared = set(used[0].x.tolist()).intersection(*(s.x.tolist() for s in used[1:]))
    return np.array(sorted(shared))


def _measured(rule: Relation, used: Mapping[str, Series], x: Floats) -> tuple[Floats, Flags]:
    if not len(x):
        return np.empty(0), np.empty(0, dtype=bool)
    rows = {name: np.searchsorted(s.x, x) for name, s in used.items()}
    left, right = rule.evaluate({name: s.y[rows[name]] for name, s in used.items()})
    runs = min(s.values.shape[1] for s in used.values())
    left_runs, right_runs = rule.evaluate({name: s.values[rows[name], :runs] for name, s in used.items()})
    known = np.isfinite(left_runs) & np.isfinite(right_runs)
    exceeds = np.where(known, left_runs > (1 + TOLERANCE) * right_runs, True)
    return _ratio(left, right), np.asarray(exceeds.all(axis=1) & known.any(axis=1))


def _ratio(left: Floats, right: Floats) -> Floats:
    """Return left over right; infinite where only the right side is zero (bytes may be), NaN where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(left / right)


def _predicted(rule: Relation, models: Mapping[str, Model], x: Floats) -> float | None:
    """Return the setting from which on the left side exceeds the right side by more than the tolerance.

    The formulas are summed before anything is dropped, so constants and coefficients decide where it begins.
    """
    if any(name not in models for name in rule.names):
        return None
    models = {name: replace(model, average=None) for name, model in models.items()}

    def excess(log2_x: Floats) -> Floats:
        left, right = (_log2_sum(terms, models, np.exp2(log2_x)) for terms in (rule.left, rule.right))
        with np.errstate(invalid="ignore"):
            difference = left - right - math.log2(1 + TOLERANCE)
        return np.where(np.isneginf(left), -np.inf, difference)  # nothing is never more than nothing

    is_exponential = any(models[name].growth.exponential(models[name].parameter) for name in rule.names)
    highest = _LOG2_X_MAX_EXPONENTIAL if is_exponential else _LOG2_X_MAX
    first = max(0.0, float(np.log2(x[0])))
    start = last_sign_change(excess, np.linspace(first, max(highest, first + 1), _STEPS))
    if math.isinf(start):
        return None
    return float(x[0]) if math.isnan(start) else 2.0**start


def _log2_sum(terms: Terms, models: Mapping[str, Model], x: Floats) -> Floats:
    rows = [math.log2(factor) + models[name].log2_value(x) for factor, name in terms]
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
        return not self.verdict.misses

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
        if verdict.rank == "total":
            behaviour = f"behaves as its algorithm promises ({found})"
        else:
            inside = "within the limits" if verdict.rank == "approximate" else "outside the limits"
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
