"""When did something change? Change points in the values of many commits, setting by setting, and the first bad commit."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr

from scalkit.arrays import Floats
from scalkit.errors import DataError, UsageError
from scalkit.fit import Model, fit_series
from scalkit.history.change_points import ChangePoints
from scalkit.json_values import json_fields
from scalkit.markup import block, bullets, paragraph, table
from scalkit.measure import Series, Statistic, series, several_series
from scalkit.measure.environment import what_changed
from scalkit.measure.schema import parameters_of
from scalkit.text import NONE, counted
from scalkit.validation.baseline.comparison import one_process
from scalkit.validation.baseline.regression import Regression
from scalkit.validation.names import Name, named
from scalkit.validation.space import SearchSpace

_LEAST_FITTED = 3
_Row = tuple[str, Series]


@dataclass(frozen=True)
class Segment:
    """Commits between which nothing changed.

    `first`, `last`: labels.
    `model`: of the values of all of them; None for fewer than three settings.
    """

    first: str
    last: str
    model: Model | None


@dataclass(frozen=True, eq=False)
class Step:
    """A change point of one function and metric.

    `label`: the first commit after the change.
    `earliest`, `latest`: between these it is with 95 %.
    `change`: the values after it over those before, setting by setting.
    `stands`: whether what got worse here is still worse at the end.
    `decides`: whether the measurements may decide an exit status.
    `process`: which process alone takes longer, in words, where the times of each were kept; else empty.
    `also_changed`: what else differs between the commits where it can be, as ``"kernel, from Linux 6.1 to Linux 6.2"``.
    `has_zero`: whether values before it, or after it where they fell, are 0 at a setting concerned, so that there is no factor.
    """

    function: str
    metric: str
    parameter: str
    label: str
    earliest: str
    latest: str
    change: Regression
    before: Segment
    after: Segment
    stands: bool
    decides: bool
    process: str = ""
    has_zero: bool = False
    also_changed: tuple[str, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether it is for the worse, stands at the end, and may decide."""
        return self.stands and self.decides

    @property
    def sentence(self) -> str:
        """The change in plain words."""
        low, high = self.change.interval
        place = "" if self.earliest == self.latest else f", between {self.earliest} and {self.latest} with 95 %"
        models = [one.model.growth for one in (self.before, self.after) if one.model is not None]
        growth = f"; it grows as {models[1]} instead of {models[0]}" if len({*models}) > 1 else ""
        word = "rose" if self.change.is_slower else "fell"
        growth += f"; {self.process}" if self.process else ""
        past = ", and came back" if self.change.is_slower and not self.stands else ""
        past += f"; changed as well: {'; '.join(self.also_changed)}" if self.also_changed else ""
        if self.has_zero:
            part = f", {self.change.where}" if self.change.shape in ("at", "from", "up to") else ""
            return f"{self.function} ({self.metric}) {word} {self.times} at {self.label}{place}{part}{growth}{past}."
        return (
            f"{self.function} ({self.metric}) {word} at {self.label}{place} to {self.change.factor:.3g} ({low:.3g} to "
            f"{high:.3g}) times the value of before {self.change.where}{growth}{past}."
        )

    @property
    def times(self) -> str:
        """The factor in words."""
        zero = "from zero" if self.change.is_slower else "to zero"
        return zero if self.has_zero else f"{self.change.factor:.3g} times"

    @property
    def _factors(self) -> tuple[float | None, ...]:
        return (None,) * 3 if self.has_zero else (self.change.factor, *self.change.interval)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **json_fields(self, "function metric label earliest latest"),
            **dict(zip(("factor", "low", "high"), self._factors, strict=True)),
            **json_fields(self.change, "shape place"),
            "is_worse": self.change.is_slower,
            **json_fields(self, "stands decides process also_changed sentence"),
        }


@dataclass(frozen=True, eq=False)
class Track:
    """One function and metric over the commits that have it.

    `x` of shape (settings,): those that all commits have.
    `y` of shape (commits, settings).
    `steps`: between the segments.
    `series`: of each commit, at `x`.
    """

    function: str
    metric: str
    parameter: str
    unit: str
    labels: tuple[str, ...]
    x: Floats
    y: Floats
    segments: tuple[Segment, ...]
    steps: tuple[Step, ...]
    series: tuple[Series, ...]

    def called(self, name: str) -> "Track":
        """Return the same under another name."""
        return replace(self, function=name, steps=tuple(replace(step, function=name) for step in self.steps))

    @cached_property
    def models(self) -> tuple[Model | None, ...]:
        """The model of each commit alone: its growth and constant over time."""
        return tuple(_model(one) for one in self.series)


@dataclass(frozen=True, eq=False)
class History:
    """All functions over a series of commits.

    `labels`: the commits in order.
    `step`: what a label stands for, as ``"commit"``.
    """

    labels: tuple[str, ...]
    tracks: tuple[Track, ...]
    left_out: dict[str, str]
    step: str = "commit"

    @property
    def steps(self) -> tuple[Step, ...]:
        """All change points in the order of the commits."""
        found = [step for track in self.tracks for step in track.steps]
        return tuple(sorted(found, key=lambda one: self.labels.index(one.label)))

    @property
    def failures(self) -> tuple[Step, ...]:
        """The changes for the worse that stand at the end."""
        return tuple(step for step in self.steps if step.is_failure)

    @property
    def first_bad(self) -> str | None:
        """Label of the first commit that made something worse that still is.

        A commit is not blamed where something else changed with it, as the kernel.
        """
        return next((step.label for step in self.failures if not step.also_changed), None)

    def exit_status(self) -> int:
        """Return 1 if a change for the worse stands at the end, else 0."""
        return int(bool(self.failures))

    @property
    def headline(self) -> str:
        """One sentence: the first bad commit and what got worse, or that nothing did."""
        over = f"{counted(len(self.tracks), 'function')} over {counted(len(self.labels), self.step)}"
        if not self.failures:
            past = f", {counted(len(self.steps), 'change')} before the end" if self.steps else ""
            doubted = _functions(step for step in self.steps if step.stands)
            if doubted:
                return f"nothing is worse at the end by measurements that decide; by others {doubted} got worse; {over}"
            return f"nothing is worse at the end: {over}{past}"
        blamed = [step for step in self.failures if not step.also_changed]
        others = [step for step in self.failures if step.also_changed]
        said = [f"the first bad {self.step} is {self.first_bad}: {_functions(blamed)} got worse"] if blamed else []
        if others:
            said.append(
                f"{_functions(others)} got worse at {', '.join(dict.fromkeys(step.label for step in others))}, where more than "
                f"the {self.step} changed: {_names(others)}"
            )
        return "; ".join([*said, over])

    def __getitem__(self, key: str | tuple[str, str]) -> Track:
        for track in self.tracks:
            if key in (track.function, (track.function, track.metric)):
                return track
        raise DataError(f"the history has no {key!r}; it has {', '.join(named(t.function, t.metric) for t in self.tracks)}.")

    def __repr__(self) -> str:
        return f"<History: {self.headline}>"

    def _repr_html_(self) -> str:
        rows = [
            tuple(map(escape, (track.function, track.metric, f"{one.first} to {one.last}", str(one.model or NONE))))
            for track in self.tracks
            for one in track.segments
        ]
        said = bullets(step.sentence for step in self.steps)
        return block(paragraph(self.headline), said, table(("function", "metric", f"{self.step}s", "model"), rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "headline": self.headline,
            "exit_status": self.exit_status(),
            **json_fields(self, "labels step first_bad"),
            "changes": [step.to_dict() for step in self.steps],
            "functions": [
                json_fields(track, "function metric unit parameter labels x y models")
                | {"segments": [json_fields(one, "first last model") for one in track.segments]}
                for track in self.tracks
            ],
            "left_out": dict(self.left_out),
        }


def _functions(steps: Iterable[Step]) -> str:
    return ", ".join(dict.fromkeys(step.function for step in steps))


def _names(steps: Iterable[Step]) -> str:
    """Return the names of what changed as well."""
    return ", ".join(dict.fromkeys(text.partition(", from ")[0] for step in steps for text in step.also_changed))


def history(
    commits: Sequence[tuple[str, xr.Dataset]],
    *,
    statistic: Statistic = "q1",
    tolerance: float = 0.1,
    parameter: str | None = None,
    step: str = "commit",
) -> History:
    """Return when each function and metric changed, over results in the order of the commits.

    All commits before a change are compared with all after it, up to the next change, by `regression`: a change is one of more
    than `tolerance` and of more than chance. The error of a value is that of its repetitions, or how far neighbouring commits
    differ where that is more; what moves all settings of a commit together counts once.

    `commits`: label and measurements; two or more. A function may be missing in some. A commit that shares no setting with
    the others is left out.
    `tolerance`: relative change that is none.
    `parameter`: along which measurements over several parameters are compared, each combination of the others apart, as ``f
    [S = 8]``; by default the first one.
    `step`: what a label stands for. Where it is ``"version"``, the version of the MPI library is what is followed, and not
    listed among what changed as well.
    Raises DataError if there are fewer than two commits, a label stands twice, nothing can be compared, or measurements are
    not along the parameter.
    Raises UsageError if the tolerance is negative or not finite.
    """
    labels = tuple(label for label, _ in commits)
    if len(labels) < 2:
        raise DataError(f"a history needs two commits or more, got {len(labels)}; give their results in order.")
    if same := [label for place, label in enumerate(labels) if label in labels[:place]]:
        raise DataError(f"two commits have the same label, {same[0]!r:.60}; give each its own.")
    if not 0 <= tolerance < np.inf:
        raise UsageError(f"the tolerance is {tolerance!r}; a share such as 0.1 for 10 % is needed.")
    found: dict[Name, list[tuple[str, Series]]] = {}
    for label, data in commits:
        for one in _series(data, statistic, parameter):
            found.setdefault((one.function, one.metric), []).append((label, one))
    tracks, left_out = [], {}
    for name, rows in found.items():
        if len(rows) < 2:
            left_out[named(*name)] = f"measured at {rows[0][0]} only"
            continue
        rows, shared, others = _alike(rows)
        if others:
            left_out[f"{named(*name)} at {', '.join(others)}"] = "it has other settings than most commits"
        if len(rows) < 2:
            continue
        if len(units := dict.fromkeys(one.unit for _, one in rows)) > 1:
            left_out[named(*name)] = f"measured in {' and '.join(units)}"
            continue
        track = _track(rows, np.array(sorted(value for _, value in shared)), statistic, tolerance)
        tracks.append(_with_changes(track, dict(commits), step))
    if not tracks:
        raise DataError(f"nothing was measured at two commits: {'; '.join(f'{k}: {v}' for k, v in left_out.items())}.")
    return History(labels, tuple(tracks), left_out, step)


def _series(data: xr.Dataset, statistic: Statistic, parameter: str | None) -> list[Series]:
    """Return the series along the parameter, of measurements over several each combination of the others apart."""
    names = parameters_of(data)
    if len(names) == 1:
        found = series(data, statistic)
        for one in found if parameter else ():
            one.along(str(parameter))
        return found
    return [piece for one in several_series(data, statistic) for piece in one.slices(parameter or names[0])]


def _alike(rows: Sequence[_Row]) -> tuple[list[_Row], set[tuple[str, float]], list[str]]:
    """Return the commits that share settings, these settings, and the labels of the others.

    As long as no setting is shared by all, the commit that shares fewest with the others goes.
    """
    left = list(rows)
    gone: list[str] = []
    while True:
        settings = [{(one.parameter, x) for x in one.x.tolist()} for _, one in left]
        shared = set.intersection(*settings)
        if shared or len(left) < 2:
            return left, shared, gone
        often = Counter(setting for one in settings for setting in one)
        gone.append(left.pop(min(range(len(left)), key=lambda k: sum(often[at] - 1 for at in settings[k])))[0])


def _track(rows: Sequence[tuple[str, Series]], x: Floats, statistic: str, tolerance: float) -> Track:
    labels = tuple(label for label, _ in rows)
    each = tuple(one.only(np.isin(one.x, x)) for _, one in rows)
    finder = ChangePoints.of(each, x, statistic, tolerance)
    cuts = finder.cuts()
    ends = [0, *(place for place, _ in cuts), len(each)]
    segments = tuple(Segment(labels[a], labels[b - 1], _model(_joined(each[a:b], finder.means(a, b)))) for a, b in pairwise(ends))
    steps = []
    end = f"at {each[0].parameter} = {x[-1]:g}"
    for k, (place, change) in enumerate(cuts):
        earliest, latest = finder.range_of(ends[k], place, ends[k + 2])
        last = finder.change((ends[k], place), (ends[-2], ends[-1]))
        stands = change.is_slower and last is not None and last.is_slower
        steps.append(
            Step(
                *(each[0].function, each[0].metric, each[0].parameter),
                *(labels[place], labels[earliest], labels[latest]),
                *(change, segments[k], segments[k + 1]),
                stands,
                all(one.decides for one in each),
                one_process(each[place - 1].of_processes, each[place].of_processes, end, tolerance),
                _has_zero(each[ends[k] : place] if change.is_slower else each[place : ends[k + 2]], change),
            )
        )
    first = each[0]
    y = np.stack([one.y for one in each])
    return Track(first.function, first.metric, first.parameter, first.unit, labels, x, y, segments, tuple(steps), each)


def _with_changes(track: Track, results: Mapping[str, xr.Dataset], followed: str) -> Track:
    """Return a track whose steps say what else changed between the commits where they can be."""
    steps = []
    for step in track.steps:
        first, last = track.labels.index(step.earliest), track.labels.index(step.latest)
        changed = what_changed(results[label] for label in track.labels[max(first - 1, 0) : last + 1])
        if followed == "version":
            changed = tuple(text for text in changed if not text.startswith("MPI library,"))
        steps.append(replace(step, also_changed=changed))
    return replace(track, steps=tuple(steps))


def _has_zero(each: Sequence[Series], change: Regression) -> bool:
    """Return whether all of some commits have 0 at a setting that changed."""
    return bool((~np.any([one.y != 0 for one in each], axis=0) & change.concerned).any())


def _joined(each: Sequence[Series], y: Floats) -> Series:
    """Return the series of several commits as runs of one."""
    last = each[-1]
    count = np.sum([one.n_repetitions for one in each], axis=0)
    values = np.stack([one.y for one in each], axis=1)
    return replace(last, values=values, y=y, n_repetitions=count, repetitions=None)


def _model(one: Series) -> Model | None:
    if len(one.x) < _LEAST_FITTED or not (one.y > 0).all():
        return None
    ticks = SearchSpace.preset("ics15", one.parameter).ticks
    return fit_series(one, ticks, min_points=_LEAST_FITTED)[0]
