"""Validates measurements against expectations."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import xarray as xr

from scalkit.errors import DataError, ExpectationError
from scalkit.fit.several.model import GrowthSum
from scalkit.growth.relation import Relation
from scalkit.measure.schema import metrics_of, parameters_of
from scalkit.mpi_world import mpi_world
from scalkit.options import Judging, JudgingOptions
from scalkit.task_bar import Report, task_bar
from scalkit.text import did_you_mean
from scalkit.validation.against.claimed import Claimed, claimed
from scalkit.validation.baseline import Baseline
from scalkit.validation.catalogue import CATALOGUES, ExpectationSet, expectation_set
from scalkit.validation.expectation import WORDS
from scalkit.validation.judge.along_one import Mapper
from scalkit.validation.judge.judge import Judge
from scalkit.validation.judge.measured import Choices
from scalkit.validation.names import Name, function_in, in_short, named
from scalkit.validation.result import Validation
from scalkit.validation.rules import parsed_rules

_FORMULA = frozenset("(^*√²³")  # a text with one of these is no name of a file
_RANK_0_HELPS = 4  # ranks at most: with more of them it would keep the others waiting for messages


def in_turn(report: Report) -> Mapper:
    """Return what computes tasks one after the other, as `map` does, and reports how far it is."""

    def mapper(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        report(0, len(tasks))
        for done, task in enumerate(tasks, 1):
            found = function(task)
            report(done, len(tasks))
            yield found

    return mapper


@contextmanager
def over_ranks(n_ranks: int | None, report: Report) -> Iterator[Mapper | None]:
    """Yield what computes tasks on all ranks; all of them must enter together.

    `n_ranks`: how many ranks the launcher says that it started; None if it says nothing.
    `report`: is called on rank 0 with the number of tasks that are done, and of all.
    Returns: as `map` on rank 0. None on each other rank, when it has done its part and rank 0 has left.
    Raises LaunchError if mpi4py is missing, cannot be loaded, or belongs to another MPI library than the launcher.
    """
    comm = mpi_world(n_ranks)
    if comm.Get_size() == 1:
        yield in_turn(report)
        return
    from mpi4py.futures import MPICommExecutor

    if comm.Get_rank() > 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 hears it too, and ends the others in order
    with MPICommExecutor(comm) as executor:
        yield None if executor is None else _spreading(executor, report)


def _spreading(executor: Any, report: Report) -> Mapper:
    """Return what computes tasks by an `MPIPoolExecutor`."""

    def mapper(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        from mpi4py.futures import Future, as_completed

        n_ranks = executor.num_workers + 1
        bundles = list(_bundles(tasks, n_ranks))
        futures = [executor.submit(_in_order, function, bundle) for bundle in bundles]

        def tell() -> None:
            done = sum(len(bundle) for bundle, future in zip(bundles, futures, strict=True) if future.done())
            report(done, len(tasks))

        tell()
        try:
            for place in reversed(range(len(bundles) if n_ranks <= _RANK_0_HELPS else 0)):
                if futures[place].cancel():  # the last one that no other rank has begun
                    futures[place] = Future()
                    _compute(futures[place], function, bundles[place])
                    tell()
            for _ in as_completed(futures):
                tell()
            return [found for future in futures for found in future.result()]
        finally:
            for future in futures:
                future.cancel()

    return mapper


def _bundles(tasks: Sequence[Any], n_ranks: int) -> Iterator[Sequence[Any]]:
    """Yield the tasks that are sent together: many in the beginning, so that few messages are needed, one in the end."""
    start = 0
    while start < len(tasks):
        size = max(1, (len(tasks) - start) // (2 * n_ranks))
        yield tasks[start : start + size]
        start += size


def _in_order(function: Callable[[Any], Any], bundle: Sequence[Any]) -> list[Any]:
    return [function(task) for task in bundle]


def _compute(future: Any, function: Callable[[Any], Any], bundle: Sequence[Any]) -> None:
    """Compute here; an error waits for those of earlier tasks, which would be raised without other ranks."""
    try:
        future.set_result(_in_order(function, bundle))
    except Exception as error:
        future.set_exception(error)


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
        Function to expectation, for example ``{"MPI_Bcast": "log(p)"}``, or of the only function ``"log(p)"``. Over several
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
        `scalkit.options.Judging`.

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
    judging, own = Judging.of(options), parsed_rules(rules)
    expectations = of_the_only_function(data, expectations)
    baseline = expectations if isinstance(expectations, Baseline) else None
    expected = expectation_set({entry.function: entry.status_quo for entry in baseline} if baseline is not None else expectations)
    with task_bar(sys.stderr, "validate", wanted=progress and mapper is map) as report:
        compute = in_turn(report) if mapper is map else mapper
        judge = Judge(data, expected, baseline, statistic=judging.statistic, mapper=compute)
        if baseline is not None:
            _require_same_parameters(baseline, judge)
        judge.require_litmus(litmus, set(judge.functions))
        outcome = judge.result(Choices(judging, tuple(dict.fromkeys((*expected.rules, *own)))), litmus)
    result = outcome.validation
    if not result.verdicts:
        raise outcome.refused[0] if outcome.refused else ExpectationError(_no_match(judge.names, expected, baseline))
    return result if baseline is None else replace(result, comparison=baseline.compare(result))


def _require_same_parameters(baseline: Baseline, judge: Judge) -> None:
    """Raise a DataError if something was measured over other parameters than in a baseline."""
    for one in judge.measured.series(baseline.statistic, {}):
        if (one.function, one.metric) in baseline:
            baseline[one.function, one.metric].require_same_kind(one.unit, one.parameters)


def of_the_only_function(data: xr.Dataset, expectations: object) -> object:
    """Return an expectation that was given alone as that of the only function; anything else as it is.

    Raises ExpectationError if several functions were measured.
    """
    if (model := claimed(expectations)) is not None:
        return _of_metrics(data, model)
    if not isinstance(expectations, str) or expectations in CATALOGUES or Path(expectations).exists():
        return expectations
    is_formula = not expectations.endswith(".toml") and not _FORMULA.isdisjoint(expectations)
    try:
        names = GrowthSum.parse(expectations).parameters
    except ExpectationError:
        if is_formula:
            raise
        return expectations  # a file that is not there
    known = {str(name).lower() for name in parameters_of(data)}
    if not is_formula and not {name.lower() for name in names} <= known | set(WORDS):
        return expectations
    return {_only_function(data, f"'{expectations}'", f"'{expectations}'"): expectations}


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
