"""History of commits: when each function and metric changed, and the first bad commit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.history.change_points import STATISTIC, ChangePoints
from scalkit.history.results import History, OddCommit, Segment, Step, Track, model_of
from scalkit.judge.baseline.regression import Regression
from scalkit.judge.names import Name, named
from scalkit.measure import Series, series, several_series
from scalkit.measure.environment import what_changed
from scalkit.measure.schema import parameters_of
from scalkit.support.arrays import Floats, Ints

_Row = tuple[str, Series]


def history(
    commits: Sequence[tuple[str, xr.Dataset]], *, tolerance: float = 0.1, parameter: str | None = None, step: str = "commit"
) -> History:
    """Return when each function and metric changed, over results in the order of the commits.

    Commits that agree are a level, see `scalkit.history.levels`, and a change lies between two
    levels that differ by more than
    `tolerance` and by more than chance, see `regression`. A level has two commits or more. At
    either end of the history, where the second one may not be measured yet, a commit alone is one
    if its independent runs agree; of exact values any commit is. A commit that is off and comes
    back is odd, and so are two in a row: they are no change. The error of a value is that of its
    repetitions, or how far the commits of a level scatter where that is more; what moves all
    settings of a commit together counts once.

    `commits`: label and measurements; two or more. A function may be missing in some. A commit that
    shares no setting with the others is left out.
    `tolerance`: relative change that is none.
    `parameter`: along which measurements over several parameters are compared, each combination of
    the others apart, as ``f [S = 8]``; by default the first one.
    `step`: what a label stands for. Where it is ``"version"``, the version of the MPI library is
    what is followed, and not listed among what changed as well. Raises DataError if there are fewer
    than two commits, a label stands twice, nothing can be compared, or measurements are not along
    the parameter. Raises UsageError if the tolerance is negative or not finite.
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
        for one in _series(data, parameter):
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
        track = _track(rows, np.array(sorted(value for _, value in shared)), tolerance, step)
        tracks.append(_with_changes(track, dict(commits), step))
    if not tracks:
        raise DataError(f"nothing was measured at two commits: {'; '.join(f'{k}: {v}' for k, v in left_out.items())}.")
    return History(labels, tuple(tracks), left_out, step)


def _series(data: xr.Dataset, parameter: str | None) -> list[Series]:
    """Return the series along the parameter, of measurements over several each combination of the others apart."""
    names = parameters_of(data)
    if len(names) == 1:
        found = series(data, STATISTIC)
        for one in found if parameter else ():
            one.along(str(parameter))
        return found
    return [piece for one in several_series(data, STATISTIC) for piece in one.slices(parameter or names[0])]


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


def _track(rows: Sequence[_Row], x: Floats, tolerance: float, step: str) -> Track:
    labels = tuple(label for label, _ in rows)
    each = tuple(one.only(np.isin(one.x, x)) for _, one in rows)
    finder = ChangePoints.of(each, x, tolerance)
    levels = finder.levels()
    ends = [0, *(int(one[0]) for one in levels[1:]), len(each)]
    models = [model_of(_joined([each[k] for k in members], finder.means(members))) for members in levels]
    segments = tuple(Segment(labels[a], labels[b - 1], model) for (a, b), model in zip(pairwise(ends), models, strict=True))
    steps = _steps(finder, levels, segments, labels, each)
    odd = _odd(finder, levels, labels, each, step)
    y = np.stack([one.y for one in each])
    first = each[0]
    return Track(first.function, first.metric, first.parameter, first.unit, labels, x, y, segments, steps, odd)


def _steps(
    finder: ChangePoints, levels: Sequence[Ints], segments: Sequence[Segment], labels: Sequence[str], each: Sequence[Series]
) -> tuple[Step, ...]:
    """Return the changes from each level to the next."""
    steps = []
    for k, (before, after) in enumerate(pairwise(levels)):
        change = finder.change(before, after)
        assert change is not None  # or these were one level
        earliest, latest = finder.range_of(before, after)
        last = finder.change(before, levels[-1])
        steps.append(
            Step(
                **_facts(each, before, after, change),
                label=labels[after[0]],
                earliest=labels[earliest],
                latest=labels[latest],
                before=segments[k],
                after=segments[k + 1],
                stands=change.is_slower and last is not None and last.is_slower,
            )
        )
    return tuple(steps)


def _odd(
    finder: ChangePoints, levels: Sequence[Ints], labels: Sequence[str], each: Sequence[Series], step: str
) -> tuple[OddCommit, ...]:
    """Return the commits that differ from the level around them, which is no change.

    The last one is compared with those before it also where it is in their level.
    """
    last = len(each) - 1
    in_order = [members for members in (*levels[:-1], levels[-1][levels[-1] < last]) if len(members)]
    inside = {int(k) for members in in_order for k in members}
    is_level = len(levels[-1]) == 1 and levels[-1][0] == last
    found = []
    for k in range(len(each)):
        if k in inside or (k == last and is_level):
            continue
        around = next((members for members in reversed(in_order) if members[0] < k), in_order[0])
        change = finder.difference(around, np.array([k]))
        if change is None:
            continue
        position: Literal["first", "middle", "last"] = "last" if k == last else "middle" if around[0] < k else "first"
        facts = _facts(each, around, np.array([k]), change)
        found.append(OddCommit(**facts, label=labels[k], position=position, has_runs=finder.n_runs(k) > 1, step=step))
    return tuple(found)


def _facts(each: Sequence[Series], before: Ints, after: Ints, change: Regression) -> dict[str, Any]:
    """Return the attributes of a `Difference` between two groups of commits."""
    lower = before if change.is_slower else after
    is_zero = ~np.any([each[k].y != 0 for k in lower], axis=0)
    return {
        "function": each[0].function,
        "metric": each[0].metric,
        "unit": each[0].unit,
        "change": change,
        "decides": all(one.decides for one in each),
        "has_zero": bool((is_zero & change.concerned).any()),
    }


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


def _joined(each: Sequence[Series], y: Floats) -> Series:
    """Return the series of several commits as runs of one."""
    last = each[-1]
    count = np.sum([one.n_repetitions for one in each], axis=0)
    values = np.stack([one.y for one in each], axis=1)
    return replace(last, values=values, y=y, n_repetitions=count, repetitions=None)
