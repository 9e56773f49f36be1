"""Validates measurements against expectations."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

import xarray as xr

from scalkit.errors import DataError, ExpectationError, RuleError, UsageError
from scalkit.fit import MIN_POINTS
from scalkit.measure import Series, Statistic, fixed_parameters, parameters_of, series
from scalkit.relation import Relation
from scalkit.task_bar import task_bar
from scalkit.validation.asked import require_expected_values
from scalkit.validation.baseline import Baseline
from scalkit.validation.catalogue import ExpectationSet, Expected, expectation_set
from scalkit.validation.expectation import Expectation
from scalkit.validation.hypotheses import Prior
from scalkit.validation.litmus import Litmus
from scalkit.validation.names import Name, function_in, named, primary, unexpected
from scalkit.validation.parallel import in_turn
from scalkit.validation.result import Validation
from scalkit.validation.rules import RuleResult, judge_rule
from scalkit.validation.several import several_verdicts
from scalkit.validation.several_space import Space
from scalkit.validation.space import SearchSpace
from scalkit.validation.strong import StrongScaling, cost_expectation, strong_scaling
from scalkit.validation.verdict import Mapper, Verdict, judge

__all__ = ["validate"]


def validate(
    data: xr.Dataset,
    expectations: object,
    rules: Iterable[str | Relation] | str | Relation | None = (),
    *,
    space: SearchSpace | str | Mapping[str, SearchSpace | str] | None = None,
    statistic: str = "q1",
    min_points: int = MIN_POINTS,
    litmus: str | None = None,
    prior: Prior = "ranks",
    scaling: str = "auto",
    mapper: Mapper = map,
    progress: bool = True,
) -> Validation:
    """Return the verdicts on all measured functions that have an expectation.

    Parameters
    ----------
    data : Dataset of measurements
        From `scalkit.read` or `scalkit.measurements`. Over several parameters the verdicts are `SeveralVerdict`.
    expectations : mapping, ExpectationSet, Baseline, str or Path
        Function to expectation, for example ``{"MPI_Bcast": "log(p)"}``, over several parameters ``"log(p) + S"``, where
        those that it does not name are expected to have no effect; or metric to expectation, as in
        ``{"MPI_Bcast": {"time": "log(p)", "visits": "1"}}``: without a metric it is about what scalkit measures itself, time,
        memory and operations, else about the first metric. Or the name of a bundled set (``"mpi"``, ``"mpi-all"``,
        ``"mafia"``), or a TOML file. With a baseline the status quo is what is expected, and the result has a `comparison`.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the set.
    space : SearchSpace or str, or mapping from parameter to these, optional
        Ticks for all functions instead of each expectation's own.
    statistic : {"q1", "median", "mean", "min", "cut_mean", ...}
        Over repetitions, then over runs.
    min_points : int
        Fewest settings of each parameter.
    litmus : str, optional
        Name of the litmus function.
    prior : {"ranks", "ticks", "expectation"}
        What is taken as equally probable before the measurements: the ranks total, approximate and none; all ticks; or the
        expectation as probable as all others together.
    scaling : {"auto", "weak"}
        Times that fall as the parameter grows come from a problem of fixed size; ``"auto"`` models their cost, parameter
        times time, ``"weak"`` the times as they are.
    mapper : callable
        What computes the tasks that many series are split into, as `map` does: one after the other by default.
    progress : bool
        Whether work that lasts shows a bar after a second: on a terminal and in a notebook, nowhere else, and not with a
        `mapper` of your own.

    Returns
    -------
    Validation

    Raises
    ------
    DataError
        If the data are malformed, no expected function has enough settings, values cannot be fitted, or `litmus` is
        not measured. Functions with too few settings, or with one where the expectation has no value, are listed in
        ``unjudged`` where others can be judged.
    ExpectationError
        If an expectation or a search space is wrong, or no measured function has an expectation.
    RuleError
        If a rule cannot be read or names a function that is neither measured nor expected.
    UsageError
        If the prior or the kind of scaling is unknown, or asks something of several parameters that is for one.

    References
    ----------
    Shudler et al. 2015, sections 2.4 and 3.4 (docs/references.md).
    """
    if not isinstance(data, xr.Dataset):
        raise DataError(
            f"validate needs a Dataset of measurements, got {type(data).__name__}; read one with scalkit.read, "
            "or make one with scalkit.measurements."
        )
    if not isinstance(min_points, int) or min_points < 3:
        raise DataError(f"min_points is {min_points!r}; a whole number of at least 3 is needed, 5 by default.")
    if scaling not in ("auto", "weak"):
        raise UsageError(f"the scaling {scaling!r} is unknown; choose auto or weak.")
    baseline = expectations if isinstance(expectations, Baseline) else None
    expected = expectation_set(
        {entry.function: entry.status_quo for entry in baseline} if baseline is not None else expectations
    )
    several = parameters_of(data)
    if len(several) > 1:
        _require_one_parameter(several, baseline=baseline, prior=prior, rules=rules)
    with task_bar(sys.stderr, "validate", wanted=progress and mapper is map) as report:
        compute = in_turn(report) if mapper is map else mapper
        if len(several) > 1:
            found = _over_several(data, expected, space, cast(Statistic, statistic), min_points, compute)
        else:
            found = _along_one(
                data, expected, space, baseline, cast(Statistic, statistic), min_points, prior, scaling, compute
            )
    if not found.verdicts:
        raise ExpectationError(_no_match(found.names, expected, baseline))
    functions = [function for function, _ in found.names]
    known = {*functions, *expected.names}
    _require_litmus(litmus, functions, functions)
    _require_litmus(expected.litmus, known, functions)
    relations = [*_relations(expected.rules, known), *_relations(rules, known)]
    wanted = _Wanted.among(expected, baseline, found.names)
    covered = {
        name for one in (*found.judged, *found.short) for name in (wanted.name_of(one), expected.name_of(one[0]))
    }
    result = Validation(
        verdicts=found.verdicts,
        rules=() if len(several) > 1 else tuple(_rule(one, found.measured, found.verdicts) for one in relations),
        unexpected=unexpected(found.names, lambda one: one in found.judged or bool(wanted.name_of(one))),
        unjudged=found.unjudged,
        missing=tuple(name for name in expected.functions if name not in covered),
        litmus=_litmus(litmus or expected.litmus, found.verdicts),
        notes=(*_notes(data), *(_left_rules(relations, several) if len(several) > 1 else ()), *found.notes),
        expectations=expected.name,
        statistic=statistic,
    )
    return result if baseline is None else replace(result, comparison=baseline.compare(result))


@dataclass(frozen=True)
class _Found:
    """The verdicts, and what there was to judge."""

    names: list[Name]
    measured: list[Series]
    verdicts: tuple[Verdict, ...]
    judged: frozenset[Name]
    short: tuple[Name, ...]
    unjudged: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Wanted:
    """What is expected of which function and metric."""

    expected: ExpectationSet
    baseline: Baseline | None
    primary: frozenset[Name]

    @classmethod
    def among(cls, expected: ExpectationSet, baseline: Baseline | None, names: Iterable[Name]) -> _Wanted:
        return cls(expected, baseline, primary(names))

    def name_of(self, one: Name) -> str:
        """Return the name under which something measured is expected; empty if it is not."""
        return self.expected.name_of(*one, self.baseline is not None or one in self.primary)

    def of(self, one: Series) -> Expected | None:
        if self.baseline is None:
            return self.expected.functions.get(self.name_of(_name(one)))
        known = self.baseline.expectation_of(one.function, one.metric)
        return Expected(known) if known else None


def _name(one: Series) -> Name:
    """Return function and metric as measured, also of what is modelled as a cost."""
    return one.function, one.metric.removeprefix(f"{one.parameter}*")


def _along_one(
    data: xr.Dataset,
    expected: ExpectationSet,
    space: Space | None,
    baseline: Baseline | None,
    statistic: Statistic,
    min_points: int,
    prior: Prior,
    scaling: str,
    mapper: Mapper,
) -> _Found:
    measured = series(data, statistic)
    fixed = fixed_parameters(data)
    names = [_name(one) for one in measured]
    wanted = _Wanted.among(expected, baseline, names)
    short = [one for one in measured if len(one.x) < min_points and wanted.name_of(_name(one))]
    enough = [one for one in measured if one not in short]
    falling = {} if scaling == "weak" else _falling(enough)
    costs = [found.cost if (found := falling.get(one)) else one for one in enough]
    cases = _cases(costs, wanted, space, fixed)
    nowhere = {one: why for one, expectation, _ in cases if (why := _without_value(one, expectation))}
    if len(nowhere) < len(cases):
        cases = [case for case in cases if case[0] not in nowhere]
    verdicts = tuple(judge(cases, min_points, prior, mapper))
    if not verdicts and short:
        judge(_cases(short, wanted, space, fixed), min_points, prior)  # says what is missing
    judged = frozenset(_name(v.series) for v in verdicts)
    return _Found(
        names=names,
        measured=measured,
        verdicts=verdicts,
        judged=judged,
        short=tuple(_name(one) for one in (*short, *nowhere)),
        unjudged=(*(_too_short(one, min_points) for one in short), *nowhere.values()),
        notes=(
            *(f"judged at {name} = {value:g}" for name, value in fixed.items()),
            *(found.sentence for one, found in falling.items() if _name(one) in judged),
        ),
    )


def _over_several(
    data: xr.Dataset,
    expected: ExpectationSet,
    space: Space | None,
    statistic: Statistic,
    min_points: int,
    mapper: Mapper,
) -> _Found:
    measured, verdicts, short = several_verdicts(
        data, expected, space=space, statistic=statistic, min_points=min_points, mapper=mapper
    )
    return _Found(
        names=[(one.function, one.metric) for one in measured],
        measured=[],
        verdicts=cast("tuple[Verdict, ...]", tuple(verdicts)),  # what a Verdict has, a SeveralVerdict has too
        judged=frozenset((v.function, v.metric) for v in verdicts),
        short=tuple((one.function, one.metric) for one in short),
        unjudged=tuple(short.values()),
    )


def _require_one_parameter(
    parameters: tuple[str, ...],
    *,
    baseline: object,
    prior: str,
    rules: Iterable[str | Relation] | str | Relation | None,
) -> None:
    """Refuse what has no meaning over several parameters."""
    one = f"for one parameter, the Dataset is over {', '.join(parameters)}"
    way = f"select one value of the others, as in data.sel({parameters[-1]}=...)"
    if baseline is not None:
        raise UsageError(f"validate compares with a baseline {one}; {way}, or give expectations.")
    if prior != "ranks":
        raise UsageError(f"the prior {prior!r} is {one}; {way}, or leave it out.")
    if rules:
        given = [rules] if isinstance(rules, str | Relation) else list(rules)
        raise UsageError(f"validate judges rules such as '{given[0]}' {one}; {way}.")


def _left_rules(relations: list[Relation], parameters: tuple[str, ...]) -> Iterator[str]:
    for relation in relations:
        yield (
            f"the rule '{relation}' is not judged over {', '.join(parameters)}; select one value of all but one parameter "
            "to judge it there"
        )


def _falling(measured: list[Series]) -> dict[Series, StrongScaling]:
    """Return what strong scaling makes of the times that fall."""
    found = ((one, strong_scaling(one)) for one in measured if one.metric == "time")
    return {one: scaling for one, scaling in found if scaling is not None}


def _cases(
    measured: list[Series],
    wanted: _Wanted,
    space: Space | None,
    fixed: Collection[str],
) -> list[tuple[Series, Expectation, SearchSpace]]:
    """Return each series that has an expectation, with it and its search space."""
    cases = []
    for one in measured:
        found = wanted.of(one)
        if found is None:
            continue
        if space is not None:
            found = Expected(found.expectation, space)
        try:
            if one.metric == f"{one.parameter}*time":
                found = Expected(cost_expectation(found.along(one.parameter, fixed)), found.space)
            cases.append((one, *found.search_space(one.parameter, fixed)))
        except ExpectationError as error:
            raise ExpectationError(f"function '{one.function}': {error}") from error
    return cases


def _without_value(one: Series, expectation: Expectation) -> str:
    """Return why a series cannot be judged about an expectation that has no value at one of its settings, or nothing."""
    try:
        require_expected_values(one, expectation.growth)
    except DataError as error:
        return str(error).removesuffix(".")
    return ""


def _too_short(one: Series, min_points: int) -> str:
    settings = ", ".join(f"{x:g}" for x in one.x)
    return (
        f"{one.function} ({one.metric}) has {len(one.x)} of {min_points} needed settings: {one.parameter} = {settings}"
    )


def _require_litmus(name: str | None, known: Collection[str], measured: list[str]) -> None:
    if name is None or name in known:
        return
    near = difflib.get_close_matches(name, list(known), 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise DataError(
        f"the litmus function '{name}' was not measured; measured are {', '.join(dict.fromkeys(measured))}.{hint}"
    )


def _relations(rules: Iterable[str | Relation] | str | Relation | None, known: set[str]) -> Iterator[Relation]:
    for rule in [rules] if isinstance(rules, (str, Relation)) else rules or ():
        relation = rule if isinstance(rule, Relation) else Relation.parse(rule)
        for name in relation.names:
            if name not in known:
                near = difflib.get_close_matches(name, sorted(known), 1) or sorted(known)
                raise RuleError(
                    f"rule '{relation}' names '{name}', which is neither measured nor expected; "
                    f"did you mean {' or '.join(repr(other) for other in near[:3])}?"
                )
        yield relation


def _rule(relation: Relation, measured: list[Series], verdicts: tuple[Verdict, ...]) -> RuleResult:
    """Return the result of a rule on the metric that most of its functions have; the first one decides ties."""
    metrics = list(dict.fromkeys(one.metric for one in measured))
    named = [(one.function, one.metric) for one in measured if one.function in relation.names]
    metric = max(metrics, key=lambda m: sum(other == m for _, other in named))
    return judge_rule(
        relation,
        {one.function: one for one in measured if one.metric == metric},
        {v.function: v.model for v in verdicts if v.metric == metric},
    )


def _litmus(name: str | None, verdicts: tuple[Verdict, ...]) -> Litmus | None:
    return next((Litmus(v) for v in verdicts if v.function == name and v.metric == "time"), None)


def _notes(data: xr.Dataset) -> tuple[str, ...]:
    truncated = str(data.attrs.get("truncated", "") or "")
    return (f"truncated files, read as far as they go: {truncated}",) if truncated else ()


def _no_match(names: list[Name], expected: ExpectationSet, baseline: Baseline | None) -> str:
    wanted = list(expected.functions) if baseline is None else [named(one.function, one.metric) for one in baseline]
    functions = list(dict.fromkeys(function for function, _ in names))
    is_there = not set(functions).isdisjoint(map(function_in, wanted))  # the function is, the metric is not
    measured = [named(*one) for one in names] if is_there else functions
    near = [match for name in wanted for match in difflib.get_close_matches(name, measured, 1)]
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return (
        f"no measured function has an expectation: measured are {', '.join(measured) or 'nothing'}; "
        f"expectations name {', '.join(wanted) or 'nothing'}.{hint}"
    )
