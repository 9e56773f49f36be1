"""Judges series again, about the growths of a baseline."""

from collections.abc import Sequence

from scalkit.judge.along_one import Case, judge
from scalkit.judge.baseline.baseline import BaselineEntry
from scalkit.judge.expectation import Expectation
from scalkit.judge.fit import MIN_POINTS
from scalkit.judge.measured import AnyVerdict
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.judge.several.judge import judge_several
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.space import SearchSpace


def judged_again(entries: Sequence[BaselineEntry], verdicts: Sequence[AnyVerdict]) -> list[AnyVerdict]:
    """Return the verdict on each series about the status quo; those that are already about it are taken as they are."""
    found = list(verdicts)
    cases: dict[int, Case] = {}
    for place, (entry, verdict) in enumerate(zip(entries, verdicts, strict=True)):
        expectation = entry.over(verdict.parameters).status_quo
        if isinstance(verdict, SeveralVerdict) and isinstance(expectation, SeveralExpectation):
            found[place] = _about_sum(verdict, expectation)
        elif not isinstance(verdict, SeveralVerdict) and isinstance(expectation, Expectation):
            space = _widened(verdict.space, expectation)
            if verdict.expectation != expectation or space is not verdict.space:
                cases[place] = verdict.series, expectation, space
    if cases:
        fewest = min(len(series.x) for series, _, _ in cases.values())
        for place, again in zip(cases, judge(list(cases.values()), max(3, min(MIN_POINTS, fewest))), strict=True):
            found[place] = again
    return found


def _about_sum(verdict: SeveralVerdict, expectation: SeveralExpectation) -> SeveralVerdict:
    """Return the verdict on a series over several parameters about a status quo."""
    spaces = {name: _widened(verdict.spaces[name], one) for name, one in expectation.along.items()}
    if verdict.expectation == expectation and all(space is verdict.spaces[name] for name, space in spaces.items()):
        return verdict
    return judge_several(verdict.series, expectation, spaces)


def _widened(space: SearchSpace, expectation: Expectation) -> SearchSpace:
    """Return a search space with the growths around an expectation; the same object if they are all in it."""
    around = SearchSpace.named("around", expectation)
    if set(around.ticks) <= set(space.ticks):
        return space
    return SearchSpace.of({*around.ticks, *space.ticks}, "around+", around.parameter)
