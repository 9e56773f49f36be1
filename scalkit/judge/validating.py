"""Validates measurements against expectations."""

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

import xarray as xr

from scalkit.errors import DataError, ExpectationError, ScalkitError
from scalkit.growth.relation import Relation
from scalkit.growth.sums import GrowthSum
from scalkit.judge.against.claimed import Claimed, claimed
from scalkit.judge.along_one import Mapper, in_turn
from scalkit.judge.baseline import Baseline
from scalkit.judge.catalogue import CATALOGUES, ExpectationSet, expectation_set
from scalkit.judge.expectation import WORDS
from scalkit.judge.judge import Judge
from scalkit.judge.measured import Choices
from scalkit.judge.names import Name, function_in, in_short, named
from scalkit.judge.result import Validation
from scalkit.judge.rules import parsed_rules
from scalkit.measure.schema import fixed_parameters, metrics_of, parameters_of
from scalkit.support.options import Judging, JudgingOptions
from scalkit.support.task_bar import task_bar
from scalkit.support.text import did_you_mean, joined

_FORMULA = frozenset("(^*√²³")  # a text with one of these is no name of a file


def validate(
    data: xr.Dataset,
    expectations: object,
    rules: Iterable[str | Relation] | str | Relation | None = (),
    *,
    litmus: str | None = None,
    mapper: Mapper = map,
    progress: bool = True,
    **options: Unpack[JudgingOptions],
) -> Validation:
    """Return the verdicts on all measured functions that have an expectation.

    Parameters
    ----------
    data : Dataset of measurements
        From `scalkit.read` or `scalkit.measurements`. Over several parameters the verdicts are `SeveralVerdict`.
    expectations : mapping, ExpectationSet, Baseline, str, Path or model
        Function to expectation, for example ``{"MPI_Bcast": "log(p)"}``, or of every function ``"log(p)"``. Over several
        parameters, as in ``"log(p) + S"``, those that it does not name are expected to have no effect; or metric to
        expectation, as in ``{"MPI_Bcast": {"time": "log(p)", "visits": "1"}}``: without a metric it is about what scalkit
        measures itself, time, memory and operations, else about the first metric. Or the name of a bundled set (``"mpi"``,
        ``"mpi-all"``, ``"mafia"``), or a TOML file. A model with constants, as of `scalkit.perfmodels`, of a fit, or a function
        such as ``lambda p, S: 1e-6 * p + 1e-9 * S``, is judged by what was measured over what it says. With a baseline the
        status quo is what is expected, and the result has a `comparison`.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the set.
    litmus : str, optional
        Name of the litmus function.
    mapper : callable
        What computes the tasks that many series are split into, as `map` does: one after the other by default.
    progress : bool
        Whether work that lasts shows a bar after a second: on a terminal and in a notebook, nowhere else, and not with a
        `mapper` of your own.
    **options
        How it is judged: ``statistic="q1"``, ``min_points=5``, ``scaling="auto"``, ``space=None``,
        ``strictness="auto"``; see
        `scalkit.support.options.Judging`.

    Returns
    -------
    Validation

    Raises
    ------
    DataError
        If the data are malformed, no expected function can be judged, or `litmus` is not measured. Functions with too few
        settings, with a value that cannot be fitted, as a time of 0, or with a setting where the expectation has no value,
        are listed in ``unjudged`` where others can be judged.
    ExpectationError
        If an expectation or a search space is wrong, or no measured function has an expectation.
    RuleError
        If a rule cannot be read or names a function that is neither measured nor expected.
    UsageError
        If an option is unknown.

    References
    ----------
    Shudler et al. 2015, sections 2.4 and 3.4 (docs/references.md).
    """
    if not isinstance(data, xr.Dataset):
        raise DataError(
            f"validate needs a Dataset of measurements, got {type(data).__name__}; read one with scalkit.read, "
            "or make one with scalkit.measurements."
        )
    judging, expectations = Judging.of(options), of_every_function(data, opened(expectations))
    baseline = expectations if isinstance(expectations, Baseline) else None
    expected = expectation_set({entry.function: entry.status_quo for entry in baseline} if baseline is not None else expectations)
    all_rules = tuple(dict.fromkeys((*expected.rules, *parsed_rules(rules))))
    with task_bar(sys.stderr, "validate", wanted=progress and mapper is map) as report:
        compute = in_turn(report) if mapper is map else mapper
        judge = Judge(data, expected, baseline, statistic=judging.statistic, mapper=compute)
        if baseline is not None:
            _require_same_parameters(baseline, judge)
        outcome = judge.result(Choices(judging, all_rules), litmus)
    result = outcome.validation
    if not result.verdicts:
        raise outcome.refused[0] if outcome.refused else ExpectationError(_no_match(judge.names, expected, baseline))
    return result


def _require_same_parameters(baseline: Baseline, judge: Judge) -> None:
    """Raise a DataError if something was measured over other parameters than in a baseline."""
    for one in judge.measured.series(baseline.statistic, {}):
        if (one.function, one.metric) in baseline:
            baseline[one.function, one.metric].require_same_kind(one.unit, one.parameters)


def opened(expectations: object) -> object:
    """Return the baseline in a JSON file; anything else as it is. Raises DataError if the file cannot be read."""
    if isinstance(expectations, str | os.PathLike) and os.fspath(expectations).endswith(".json"):
        return Baseline.load(Path(expectations))
    return expectations


def of_every_function(data: xr.Dataset, expectations: object) -> object:
    """Return a growth that was given alone as that of every function; anything else as it is.

    A model that was given alone is that of the only function.

    Raises ExpectationError if several functions were measured and a model was given, or the growth is one of something
    that is no parameter.
    """
    if (model := claimed(expectations)) is not None:
        return _of_metrics(data, model)
    growth = growth_alone(expectations)
    if growth is None:
        return expectations
    parameters = parameters_of(data)
    known = {name.lower() for name in (*parameters, *fixed_parameters(data))} | set(WORDS)
    unknown = [name for name in growth.parameters if name.lower() not in known]
    if unknown:
        text = str(expectations)
        # A single word may be meant as the name of a file or of a bundled set.
        others = f", or name a TOML file or one of {', '.join(CATALOGUES)}" if text.isidentifier() else ""
        raise ExpectationError(
            f"the expectation '{growth}' is in terms of {_quoted(unknown)}, the data in terms of {_quoted(parameters)}; "
            f"write it in terms of {joined(parameters)}{others}.{did_you_mean(text, [*CATALOGUES, *WORDS])}"
        )
    return dict.fromkeys(data["function"].values.tolist(), expectations)


def growth_alone(expectations: object) -> GrowthSum | None:
    """Return the growth that a text says; None if it is something else, or names a bundled set or a file.

    Raises ExpectationError if the text has signs of a formula and cannot be read.
    """
    if not isinstance(expectations, str) or expectations in CATALOGUES:
        return None
    if (expectations.strip() and _is_there(expectations)) or expectations.endswith(".toml"):
        return None
    try:
        return GrowthSum.parse(expectations)
    except ExpectationError:
        if expectations.strip() and _FORMULA.isdisjoint(expectations):
            return None  # the reader of files says what is wrong
        raise


def _quoted(names: Sequence[str]) -> str:
    return joined([f"'{name}'" for name in names])


def _is_there(path: str) -> bool:
    """Return whether there is something at a path; False for texts that can be none."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def parameters_named(expectations: object, functions: Collection[str] | None = None) -> frozenset[str]:
    """Return the parameters that expectations name, as far as they can be read; words such as ``linear`` are none.

    `functions`: the measured ones, with or without settings as in ``f[n=10]``. Expectations of others do not count, unless
    all are of others: another parameter may bring these functions.
    """
    try:
        names = set(_parameters_by_function(expectations, functions))
    except ScalkitError:
        return frozenset()  # validating reports it
    return frozenset(name for name in names if name.lower() not in WORDS)


def _parameters_by_function(expectations: object, functions: Collection[str] | None) -> Iterator[str]:
    """Yield the parameters that the expectation of each of the functions names."""
    growth = growth_alone(expectations)
    if growth is not None:
        yield from growth.parameters
        return
    stems = None if functions is None else {name.partition("[")[0] for name in functions}
    if isinstance(expectations, Baseline):
        found = [(entry.function, entry.parameters) for entry in expectations]
    else:
        known = expectation_set(expectations).functions.items()
        found = [(function_in(name), one.expectation.growth.parameters) for name, one in known]
    measured = [one for one in found if stems is None or one[0].partition("[")[0] in stems]
    for _, names in measured or found:
        yield from names


def _of_metrics(data: xr.Dataset, model: Claimed) -> dict[str, dict[str, object]]:
    """Return a model that was given alone as what is expected of the only function, in the metrics of its unit."""
    metrics = metrics_of(data)
    found = [one for one in metrics if data[one].attrs.get("units") == model.unit] or list(metrics)
    return {_only_function(data, f"the model '{model.name}'", "model"): dict.fromkeys(found[:1], model.model)}


def _only_function(data: xr.Dataset, what: str, shown: str) -> str:
    functions = [str(name) for name in data["function"].values.tolist()]
    if len(functions) != 1:
        raise ExpectationError(
            f"{what} is the expectation of one function, and {', '.join(in_short(functions))} were measured; name it, "
            f"as in {{'{functions[0]}': {shown}}}."
        )
    return functions[0]


def _no_match(names: tuple[Name, ...], expected: ExpectationSet, baseline: Baseline | None) -> str:
    wanted = list(expected.functions) if baseline is None else [named(one.function, one.metric) for one in baseline]
    functions = list(dict.fromkeys(function for function, _ in names))
    is_there = not set(functions).isdisjoint(map(function_in, wanted))  # the function is, the metric is not
    measured = [named(*one) for one in names] if is_there else functions
    hint = next(filter(None, (did_you_mean(name, measured) for name in wanted)), "")
    return (
        f"no measured function has an expectation: measured are {', '.join(measured) or 'nothing'}; "
        f"expectations name {', '.join(wanted) or 'nothing'}.{hint}"
    )
