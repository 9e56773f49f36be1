"""Compares a validation with a baseline: what got worse, better, dearer or cheaper, what is new and what is gone."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.judge.baseline import Baseline, BaselineEntry
from scalkit.judge.baseline.baseline import AnyGrowth
from scalkit.judge.baseline.judged_again import judged_again
from scalkit.judge.baseline.regression import Regression, named_values, regression
from scalkit.judge.expectation import sure_match
from scalkit.judge.measured import AnyVerdict
from scalkit.judge.names import function_in, metric_in
from scalkit.judge.result import Validation
from scalkit.support.arguments import each_of, is_number, require_kind
from scalkit.support.arrays import EqualIfMissingAlike
from scalkit.support.json_values import json_fields, json_value
from scalkit.support.markup import block, bullets, details, paragraph
from scalkit.support.text import as_percent

Kind = Literal["worse", "better", "factor", "cannot tell", "same", "new", "gone"]
COMPARISON_FAIL_ON = ("better", "cannot-tell", "gone")
MOST_NOISE = 0.15
"""A baseline whose values are known to a worse relative standard error is no law: what changed by a third would be chance."""
_STANDARD_ERRORS = 2.0
_WORDS = {
    "worse": "grows faster",
    "factor": "costs more",
    "cheaper": "costs less",
    "better": "grows slower",
    "cannot tell": "cannot tell",
    "same": "as before",
    "new": "new",
    "gone": "gone",
}
"""Words for each kind, the worst first; a factor that fell is ``cheaper``."""


@dataclass(frozen=True, eq=False)
class Change(EqualIfMissingAlike):
    """What became of one function and metric.

    `parameters`: of the measurements.
    `kind`: worse and better: the growth left the limits around the status quo, or it is faster and the values rise ever
    more. Factor: they changed otherwise, everywhere or at some points.
    `before`, `after`: growth of the model in the baseline and now.
    `ratio`: value now over value then, as `regression` has it; NaN where there is nothing to compare. Without a shared
    point that of the models at the end of the range that both cover.
    `place`: the values that `ratio` speaks of, by parameter, those of the last point where nothing changed; empty if no point
    is shared.
    `error`: relative standard error of `ratio`.
    `decides`: whether the measurements may decide an exit status.
    `regression`: what changed point by point, where two or more are shared.
    `is_noisy`: whether the values of the baseline are known too badly to compare with.
    `is_outside`: whether the growth left the limits, where it is worse or better.
    """

    function: str
    metric: str
    parameters: tuple[str, ...]
    kind: Kind
    before: AnyGrowth | None
    after: AnyGrowth | None
    ratio: float = math.nan
    place: Mapping[str, float] = field(default_factory=dict)
    error: float = math.nan
    decides: bool = True
    regression: Regression | None = None
    is_noisy: bool = False
    is_outside: bool = True

    @property
    def at(self) -> float:
        """The setting that `ratio` speaks of, along one parameter; NaN over several, or if no setting is shared."""
        return self.place.get(self.parameters[0], math.nan) if len(self.parameters) == 1 else math.nan

    @property
    def is_slower(self) -> bool:
        """Whether it got worse: its growth left the limits, or its values rose."""
        return self.kind == "worse" or (self.kind == "factor" and self.ratio > 1)

    def __repr__(self) -> str:
        return f"<Change: {self.sentence}>"

    def _repr_html_(self) -> str:
        return block(paragraph(self.sentence))

    @property
    def sentence(self) -> str:
        """The change in plain words."""
        what = f"{self.function} ({self.metric})" if self.metric else self.function
        if self.kind == "new":
            return f"{what} is new: {self.after or 'the baseline has nothing to compare it with'}."
        if self.kind == "gone":
            return f"{what} is gone: it grew as {self.before}."
        if self.kind == "worse" and not self.is_outside:
            return f"{what} got worse: it grows as {self.after} instead of {self.before}{self._factor}."
        if self.kind in ("worse", "better"):
            return f"{what} got {self.kind}: it grows as {self.after} instead of {self.before}, outside the limits{self._factor}."
        grown = f"as before, {self.before}" if self.after == self.before else f"within the limits of {self.before}, {self.after}"
        if self.kind == "cannot tell" and self.is_noisy:
            return f"{what} cannot be compared: its baseline is too noisy to be a law; measure that again."
        if self.kind == "cannot tell":
            return f"Cannot tell whether {what} changed: {self.after} fits best, {self.before} was the status quo{self._factor}."
        if self.kind != "factor":
            return f"{what} grows {grown}{self._factor}."
        if math.isinf(self.ratio):
            return f"{what} rose from zero; it grows {grown}."
        return f"{what} {'rose' if self.ratio > 1 else 'fell'} to {self._factor.removeprefix('; ')}; it grows {grown}."

    @property
    def _factor(self) -> str:
        if not math.isfinite(self.ratio):
            return ""
        place = f" at {named_values(self.place)}" if self.place else " by the models"
        if self.regression is not None and self.regression.shape:
            place = f" {self.regression.where}"
        return f"; {self.ratio:.3g} times the value of before{place} (± {as_percent(_STANDARD_ERRORS * self.error, '.2g')})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; what does not exist is null."""
        is_one = len(self.parameters) == 1
        return {
            **json_fields(self, "function metric"),
            **({"parameter": self.parameters[0]} if is_one else {"parameters": list(self.parameters)}),
            **json_fields(self, "kind before after ratio"),
            "at": json_value(self.at) if is_one else dict(self.place) or None,
            **json_fields(self, "error"),
            "shape": "" if self.regression is None else self.regression.shape,
            **json_fields(self, "decides sentence"),
        }


@dataclass(frozen=True)
class Comparison:
    """All changes since a baseline, in the order of its entries, then what is new."""

    changes: tuple[Change, ...]
    tolerance: float
    baseline: Baseline

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """Return the changes of one kind."""
        return tuple(change for change in self.changes if change.kind == kind)

    def __getitem__(self, key: tuple[str, str]) -> Change:
        for change in self.changes:
            if (change.function, change.metric) == key:
                return change
        listed = ", ".join(str((change.function, change.metric)) for change in self.changes)
        raise DataError(f"the comparison has no entry {key!r}; it has {listed}.")

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def is_failure(self) -> bool:
        """Whether something got worse on measurements that may decide."""
        return self.exit_status() == 1

    def exit_status(self, fail_on: Collection[str] = ()) -> int:
        """Return 1 if something got worse, else 0. `fail_on` and errors are those of `failures`."""
        return int(bool(self.failures(fail_on)))

    def failures(self, fail_on: Collection[str] = ()) -> tuple[Change, ...]:
        """Return what got worse on measurements that may decide.

        `fail_on`: kinds that fail too; ``"cannot-tell"`` is the kind "cannot tell". A constant factor that rose fails anyway.
        Raises UsageError if a word is unknown.
        """
        known = f"choose from {', '.join(COMPARISON_FAIL_ON)}"
        words = each_of(fail_on, str, "fail_on", known)
        for word in words:
            if word not in COMPARISON_FAIL_ON:
                raise UsageError(f"cannot fail on {word!r}; {known}.")
        return tuple(
            change for change in self.changes if change.decides and (change.is_slower or change.kind.replace(" ", "-") in words)
        )

    @property
    def headline(self) -> str:
        """One line: how many of each kind there are, and what got worse."""
        words = Counter(_word(change) for change in self.changes)
        counts = ", ".join(f"{words[word]} {word}" for word in _WORDS.values() if words[word])
        worse = ", ".join(change.function for change in self.changes if change.is_slower)
        return f"compared with the baseline: {counts}" + (f"; worse: {worse}" if worse else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "headline": self.headline,
            "is_failure": self.is_failure,
            "tolerance": self.tolerance,
            "changes": [change.to_dict() for change in self.changes],
        }

    def __repr__(self) -> str:
        return f"<Comparison: {self.headline}>"

    def _repr_html_(self) -> str:
        loud = [change.sentence for change in self.changes if change.kind != "same"]
        same = [change.sentence for change in self.changes if change.kind == "same"]
        return block(paragraph(self.headline), bullets(loud), details(f"{len(same)} as before", bullets(same)))


def _word(change: Change) -> str:
    """Return the kind of a change, and of a factor whether the values rose or fell."""
    kind = "cheaper" if change.kind == "factor" and not change.ratio > 1 else change.kind
    return _WORDS[kind]


def compared(baseline: Baseline, result: Validation) -> Validation:
    """Return a result with its changes since a baseline; the answer to what got worse is *fix*."""
    comparison = compare(baseline, result)
    worse = {(change.function, change.metric): change.sentence for change in comparison.failures()}

    def marked(verdict: AnyVerdict) -> AnyVerdict:
        sentence = worse.get((verdict.function, verdict.metric))
        if sentence is None or verdict.answer == "fix":
            return verdict
        evidence: Any = replace(verdict.evidence, since_baseline=sentence)
        return replace(verdict, evidence=evidence)

    return replace(result, verdicts=tuple(map(marked, result.verdicts)), comparison=comparison)


def compare(baseline: Baseline, result: Validation, tolerance: float = 0.1) -> Comparison:
    """Return the changes between a baseline and a later validation.

    Each series is judged again with the growth of the baseline as its expectation. Outside of the limits it is worse or
    better. Beside that the values are compared point by point, see `regression`.

    `tolerance`: relative change of the values that is none; 0.1 is 10 %.
    Raises DataError if a metric has another unit or other parameters than in the baseline.
    Raises UsageError if the tolerance is negative or not finite.
    """
    require_kind(result, Validation, "the later result", "give one of sk.validate")
    if not (is_number(tolerance) and tolerance >= 0):
        raise UsageError(f"the tolerance is {tolerance!r}; a share such as 0.1 for 10 % is needed.")
    now = {(v.function, v.metric): v for v in result.verdicts}
    shared = [entry for entry in baseline if (entry.function, entry.metric) in now]
    verdicts = [now[entry.function, entry.metric] for entry in shared]
    for entry, v in zip(shared, verdicts, strict=True):
        entry.require_same_kind(v.unit, v.parameters)
    again = zip(shared, judged_again(shared, verdicts), strict=True)
    judged = {(entry.function, entry.metric): verdict for entry, verdict in again}
    changes = []
    for entry in baseline:
        verdict = judged.get((entry.function, entry.metric))
        if verdict is None:
            changes.append(Change(entry.function, entry.metric, entry.parameters, "gone", entry.model.growth, None))
        else:
            changes.append(_change(entry, verdict, result.statistic, tolerance))
    for key, v in now.items():
        if key not in baseline:
            changes.append(Change(v.function, v.metric, v.parameters, "new", None, v.model.growth, decides=v.decides))
    # Without a status quo nothing is judged, so these have no verdict.
    changes += [Change(function_in(name), metric_in(name), (), "new", None, None) for name in result.unexpected]
    return Comparison(tuple(changes), tolerance, baseline)


def _change(entry: BaselineEntry, verdict: AnyVerdict, statistic: str, tolerance: float) -> Change:
    before, after = entry.over(verdict.parameters), BaselineEntry.from_verdict(verdict, statistic)
    ratio, place = _ratio(before, after)
    error = math.hypot(before.noise, after.noise)
    found = _regression(before, after, tolerance, verdict.series.exact or verdict.series.virtual)
    if found is not None and found.shape:
        ratio, place, error = found.factor, found.at, found.factor_error
    kind: Kind = "same"
    match = sure_match(verdict.probability)
    if before.noise > MOST_NOISE:
        kind = "cannot tell"
    elif match == "none":
        kind = "worse" if verdict.direction == "grows faster" else "better"
    elif found is not None and found.shape:
        kind = "worse" if _is_faster(before, after, found) else "factor"
    elif match is None:
        kind = "cannot tell"
    elif found is None and _is_beyond(ratio, error, tolerance):
        kind = "factor"
    return Change(
        function=before.function,
        metric=before.metric,
        parameters=verdict.parameters,
        kind=kind,
        before=before.model.growth,
        after=verdict.model.growth,
        ratio=ratio,
        place=place,
        error=error,
        decides=verdict.decides,
        regression=found,
        is_noisy=before.noise > MOST_NOISE,
        is_outside=match == "none",
    )


def _is_faster(before: BaselineEntry, after: BaselineEntry, found: Regression) -> bool:
    """Return whether the values rise ever more along a parameter, and the growth along it is faster."""
    if found.shape != "growing" or found.factor <= 1:
        return False
    (parameter,) = found.at
    return after.model.leading(parameter) > before.model.leading(parameter)


def _regression(before: BaselineEntry, after: BaselineEntry, tolerance: float, is_exact: bool) -> Regression | None:
    """Return what changed where both have a value; None at fewer than two points, or where one alone is zero."""
    then, now = ({at: (y, e) for at, y, e in zip(one.points, one.y, one.errors, strict=True)} for one in (before, after))
    shared = [at for at in sorted(then.keys() & now.keys()) if then[at][0] or now[at][0]]
    values = np.array([(*then[at], *now[at]) for at in shared]).reshape(-1, 4)
    if len(shared) < 2 or not (values[:, [0, 2]] > 0).all():
        return None
    error = np.hypot(values[:, 1], values[:, 3])
    points = np.array(shared)
    return regression(points, after.parameters, values[:, 0], values[:, 2], error, tolerance, is_exact=is_exact)


def _ratio(before: BaselineEntry, after: BaselineEntry) -> tuple[float, Mapping[str, float]]:
    """Return value now over value then at the last shared point, or that of the models at the end and no place."""
    then, now = dict(zip(before.points, before.y, strict=True)), dict(zip(after.points, after.y, strict=True))
    if shared := then.keys() & now.keys():
        at = max(shared)
        place = dict(zip(after.parameters, at, strict=True))
        if then[at] == now[at]:
            return 1.0, place
        return (now[at] / then[at] if then[at] > 0 else math.inf), place
    ends = [np.max(one.points, axis=0) for one in (before, after)]
    end = np.minimum(*ends).tolist()
    return float(np.exp2(after.log2_value(end) - before.log2_value(end))), {}


def _is_beyond(ratio: float, error: float, tolerance: float) -> bool:
    if math.isnan(ratio):
        return False
    size = abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf
    return size > math.log1p(tolerance) and size > _STANDARD_ERRORS * error
