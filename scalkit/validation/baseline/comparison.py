"""Compares a validation with a baseline: what got worse, better, dearer or cheaper, what is new and what is gone."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import EqualIfMissingAlike
from scalkit.errors import DataError, UsageError
from scalkit.fit import MIN_POINTS
from scalkit.growth import Growth
from scalkit.json_values import json_fields
from scalkit.markup import block, bullets, details, paragraph
from scalkit.text import as_percent
from scalkit.validation.baseline import Baseline, BaselineEntry
from scalkit.validation.baseline.regression import Regression, regression
from scalkit.validation.judge.along_one import Case, judge
from scalkit.validation.result import Validation
from scalkit.validation.space import SearchSpace
from scalkit.validation.verdict import Verdict

_OUT = 5.0  # times as far from the others as these scatter
_LEAST = 4  # processes


def one_process(before: ArrayLike, after: ArrayLike, place: str, tolerance: float) -> str:
    """Return in words which process alone takes longer; empty if none does, or the times were not kept.

    `before`, `after` of shape (processes,): when each was done, as with ``--per-process``.
    `place`: where, in words.
    `tolerance`: relative change that is none.
    """
    then, now = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if len(then) != len(now) or len(now) < _LEAST or not ((then > 0) & (now > 0)).all():
        return ""
    logs = np.log(now / then)
    slowest = int(np.argmax(logs))
    others = np.delete(logs, slowest)
    usual = float(np.median(others))
    scatter = 1.4826 * float(np.median(np.abs(others - usual)))
    is_alone = logs[slowest] - usual > max(np.log1p(tolerance), _OUT * scatter) and others.max() <= np.log1p(tolerance)
    return f"process {slowest} alone, {np.exp(logs[slowest]):.3g} times {place}" if is_alone else ""


Kind = Literal["worse", "better", "factor", "undecided", "same", "new", "gone"]
KINDS: tuple[Kind, ...] = ("worse", "better", "factor", "undecided", "same", "new", "gone")
COMPARISON_FAIL_ON = ("factor", "better", "undecided", "gone")
MOST_NOISE = 0.15
"""A baseline whose values are known to a worse relative standard error is no law: what changed by a third would be chance."""
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Change(EqualIfMissingAlike):
    """What became of one function and metric.

    `kind`: worse and better: the growth left the limits around the status quo, or it is faster and the values rise ever
    more. Factor: they changed otherwise, everywhere or at some settings.
    `before`, `after`: growth of the model in the baseline and now.
    `ratio`: value now over value then, as `regression` has it; NaN where there is nothing to compare. Without a shared
    setting that of the models at the end of the range that both cover.
    `at`: the setting that `ratio` speaks of, the last one where nothing changed; NaN if none is shared.
    `error`: relative standard error of `ratio`.
    `decides`: whether the measurements may decide an exit status.
    `regression`: what changed setting by setting, where two or more are shared.
    `is_noisy`: whether the values of the baseline are known too badly to compare with.
    `is_outside`: whether the growth left the limits, where it is worse or better.
    `process`: which process alone takes longer, in words, where the times of each were kept; else empty.
    """

    function: str
    metric: str
    parameter: str
    kind: Kind
    before: Growth | None
    after: Growth | None
    ratio: float = math.nan
    at: float = math.nan
    error: float = math.nan
    decides: bool = True
    regression: Regression | None = None
    is_noisy: bool = False
    is_outside: bool = True
    process: str = ""

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
        return f"{self._sentence[:-1]}; {self.process}." if self.process else self._sentence

    @property
    def _sentence(self) -> str:
        what = f"{self.function} ({self.metric})"
        if self.kind == "new":
            return f"{what} is new: {self.after}."
        if self.kind == "gone":
            return f"{what} is gone: it grew as {self.before}."
        if self.kind == "worse" and not self.is_outside:
            return f"{what} got worse: it grows as {self.after} instead of {self.before}{self._factor}."
        if self.kind in ("worse", "better"):
            return f"{what} got {self.kind}: it grows as {self.after} instead of {self.before}, outside the limits{self._factor}."
        grown = f"as before, {self.before}" if self.after == self.before else f"within the limits of {self.before}, {self.after}"
        if self.kind == "undecided" and self.is_noisy:
            return f"{what} cannot be compared: its baseline is too noisy to be a law; measure that again."
        if self.kind == "undecided":
            return f"{what} is undecided: {self.after} fits best, {self.before} was the status quo{self._factor}."
        if self.kind != "factor":
            return f"{what} grows {grown}{self._factor}."
        if math.isinf(self.ratio):
            return f"{what} rose from zero; it grows {grown}."
        return f"{what} {'rose' if self.ratio > 1 else 'fell'} to {self._factor.removeprefix('; ')}; it grows {grown}."

    @property
    def _factor(self) -> str:
        if not math.isfinite(self.ratio):
            return ""
        place = f" at {self.parameter} = {self.at:g}" if math.isfinite(self.at) else " by the models"
        if self.regression is not None and self.regression.shape:
            place = f" {self.regression.where(self.parameter)}"
        return f"; {self.ratio:.3g} times the value of before{place} (± {as_percent(_STANDARD_ERRORS * self.error, '.2g')})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; what does not exist is null."""
        return {
            **json_fields(self, "function metric parameter kind before after ratio at error"),
            "shape": "" if self.regression is None else self.regression.shape,
            **json_fields(self, "decides process sentence"),
        }


@dataclass(frozen=True)
class Comparison:
    """All changes, those of the baseline in its order, then the new ones."""

    changes: tuple[Change, ...]
    tolerance: float

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

        `fail_on`: what fails too. A constant factor that rose fails in any case; the word is of old.
        Raises UsageError if a word is unknown.
        """
        words = (fail_on,) if isinstance(fail_on, str) else tuple(fail_on)
        for word in words:
            if word not in COMPARISON_FAIL_ON:
                raise UsageError(f"cannot fail on {word!r}; choose from {', '.join(COMPARISON_FAIL_ON)}.")
        return tuple(
            change
            for change in self.changes
            if change.decides and (change.is_slower or (change.kind in words and change.kind != "factor"))
        )

    @property
    def headline(self) -> str:
        """One line: how many of each kind there are, and what got worse."""
        counts = ", ".join(f"{len(self.of(kind))} {kind}" for kind in KINDS if self.of(kind))
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


def compare(baseline: Baseline, result: Validation, tolerance: float = 0.1) -> Comparison:
    """Return what a later validation changes against a baseline.

    Each series is judged again with the growth of the baseline as its expectation. Outside of the limits it is worse or
    better. Beside that the values are compared setting by setting, see `regression`.

    `tolerance`: relative change of the values that is none; 0.1 is 10 %.
    Raises DataError if a metric has another unit or parameter than in the baseline.
    Raises UsageError if the tolerance is negative or not finite.
    """
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise UsageError(f"the tolerance is {tolerance!r}; a share such as 0.1 for 10 % is needed.")
    now = {(v.function, v.metric): v for v in result.along_one}
    shared = [entry for entry in baseline if (entry.function, entry.metric) in now]
    judged = {
        (entry.function, entry.metric): verdict
        for entry, verdict in zip(shared, _judged(shared, [now[e.function, e.metric] for e in shared]), strict=True)
    }
    changes = []
    for entry in baseline:
        verdict = judged.get((entry.function, entry.metric))
        if verdict is None:
            model = entry.model
            changes.append(Change(entry.function, entry.metric, model.parameter, "gone", model.growth, None))
        else:
            changes.append(_change(entry, verdict, result.statistic, tolerance))
    for key, v in now.items():
        if key not in baseline:
            changes.append(Change(v.function, v.metric, v.parameter, "new", None, v.model.growth, decides=v.decides))
    return Comparison(tuple(changes), tolerance)


def _judged(entries: Sequence[BaselineEntry], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdict on each series about the status quo; those that are already about it are taken as they are."""
    found = list(verdicts)
    cases: dict[int, Case] = {}
    for place, (entry, verdict) in enumerate(zip(entries, verdicts, strict=True)):
        _require_same_kind(entry, verdict)
        expectation = entry.status_quo
        space = SearchSpace.named("around", expectation)
        if verdict.expectation != expectation or not set(space.ticks) <= set(verdict.space.ticks):
            ticks = {*space.ticks, *verdict.space.ticks}
            cases[place] = verdict.series, expectation, SearchSpace.of(ticks, "around+", space.parameter)
    if cases:
        fewest = min(len(series.x) for series, _, _ in cases.values())
        for place, again in zip(cases, judge(list(cases.values()), max(3, min(MIN_POINTS, fewest))), strict=True):
            found[place] = again
    return found


def _require_same_kind(entry: BaselineEntry, verdict: Verdict) -> None:
    for name, then, now in (("unit", entry.model.unit, verdict.unit), ("parameter", entry.model.parameter, verdict.parameter)):
        if then != now:
            raise DataError(
                f"the {name} of '{entry.metric}' of '{entry.function}' is {now!r}, in the baseline {then!r}; "
                "compare measurements of the same kind, or make a new baseline."
            )


def _change(entry: BaselineEntry, verdict: Verdict, statistic: str, tolerance: float) -> Change:
    after = BaselineEntry.from_verdict(verdict, statistic)
    ratio, at = _ratio(entry, after)
    error = math.hypot(entry.noise, after.noise)
    found = _regression(entry, after, tolerance, verdict.series.exact or verdict.series.virtual)
    if found is not None and found.shape:
        ratio, at, error = found.factor, found.place, found.factor_error
    kind: Kind = "same"
    if entry.noise > MOST_NOISE:
        kind = "undecided"
    elif verdict.verdict == "none":
        kind = "worse" if verdict.direction == "grows faster" else "better"
    elif found is not None and found.shape:
        is_faster = found.shape == "growing" and found.factor > 1 and after.model.growth > entry.model.growth
        kind = "worse" if is_faster else "factor"
    elif verdict.verdict == "undecided":
        kind = "undecided"
    elif found is None and _is_beyond(ratio, error, tolerance):
        kind = "factor"
    return Change(
        function=entry.function,
        metric=entry.metric,
        parameter=verdict.parameter,
        kind=kind,
        before=entry.model.growth,
        after=verdict.model.growth,
        ratio=ratio,
        at=at,
        error=error,
        decides=verdict.decides,
        regression=found,
        is_noisy=entry.noise > MOST_NOISE,
        is_outside=verdict.verdict == "none",
        process=_process(entry, after, tolerance),
    )


def _process(before: BaselineEntry, after: BaselineEntry, tolerance: float) -> str:
    """Return which process alone takes longer, in words; empty if none does or it is not known."""
    if before.x[-1] != after.x[-1]:
        return ""
    return one_process(before.processes, after.processes, f"at {after.model.parameter} = {after.x[-1]:g}", tolerance)


def _regression(before: BaselineEntry, after: BaselineEntry, tolerance: float, is_exact: bool) -> Regression | None:
    """Return what changed where both have a value; None at fewer than two settings, or where one alone is zero."""
    then, now = (
        {x: (y, e) for x, y, e in zip(one.x, one.y, one.errors or (one.noise,) * len(one.x), strict=True)}
        for one in (before, after)
    )
    shared = [x for x in sorted(then.keys() & now.keys()) if then[x][0] or now[x][0]]
    values = np.array([(*then[x], *now[x]) for x in shared]).reshape(-1, 4)
    if len(shared) < 2 or not (values[:, [0, 2]] > 0).all():
        return None
    error = np.hypot(values[:, 1], values[:, 3])
    return regression(np.array(shared), values[:, 0], values[:, 2], error, tolerance, is_exact=is_exact)


def _ratio(before: BaselineEntry, after: BaselineEntry) -> tuple[float, float]:
    """Return value now over value then at the largest shared setting, or that of the models and NaN."""
    then, now = dict(zip(before.x, before.y, strict=True)), dict(zip(after.x, after.y, strict=True))
    shared = sorted(then.keys() & now.keys())
    if shared:
        at = shared[-1]
        if then[at] == now[at]:
            return 1.0, at
        return (now[at] / then[at] if then[at] > 0 else math.inf), at
    end = min(before.x[-1], after.x[-1])
    return float(np.exp2(after.model.log2_value(end) - before.model.log2_value(end))), math.nan


def _is_beyond(ratio: float, error: float, tolerance: float) -> bool:
    if math.isnan(ratio):
        return False
    size = abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf
    return size > math.log1p(tolerance) and size > _STANDARD_ERRORS * error
