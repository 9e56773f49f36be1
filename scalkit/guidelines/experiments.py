"""Measurements of a campaign: experiments, runs, and the median of each run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scalkit.errors import DataError
from scalkit.guidelines.tables import read_tables
from scalkit.measure.virtual_time import is_virtual, machine_of, said_of
from scalkit.stats.samples import Flags, Floats, Integers
from scalkit.stats.shift import fenced_medians
from scalkit.support.text import as_percent

MISSING = -1

CROWDED, LOAD = "oversubscribed", "foreign_load"
"""Columns that are no parameters: more processes than cores, and the share of the cores that other programs used."""

_BUSY = 0.1
"""Share of the cores: on idle machines others take 1 to 3 %; the pages of the store warn from the same share on."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Experiments by runs.

    Attributes
    ----------
    parameters : tuple of str
        Names of the columns that distinguish experiments.
    levels : mapping from str to tuple
        The values of each parameter, ascending.
    codes : ndarray of int of shape (experiments, parameters)
        Places in `levels`; -1 where an experiment has no such parameter.
    runs : tuple
        Labels of the launches.
    rows : ndarray of int of shape (experiments, runs)
        Places in `values`; -1 where a run lacks an experiment.
    values : ndarray of shape (rows, repetitions)
        Positive; NaN fills up.
    crowded : ndarray of bool of shape (experiments,)
        Whether its times cannot decide: a run of it had more processes than cores, or other programs used the cores.
    caveats : tuple of str
    unit : str
        Of the values; empty if the table does not say.
    exact : bool
        Whether values repeat exactly: then one run is enough, and needs no test.
    machine : mapping
        The machine whose virtual clock the values were read from; empty for a real clock.
    """

    parameters: tuple[str, ...]
    levels: Mapping[str, tuple[Any, ...]]
    codes: Integers
    runs: tuple[Any, ...]
    rows: Integers
    values: Floats
    crowded: Flags
    caveats: tuple[str, ...] = ()
    unit: str = ""
    exact: bool = False
    machine: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def medians(self) -> Floats:
        """Median of each run without its outliers, by Tukey's fence; NaN where there is none; (experiments, runs)."""
        return np.where(self.rows == MISSING, np.nan, fenced_medians(self.values)[self.rows])

    def level(self, parameter: str, code: int) -> Any:
        """Return a level, None for a missing one."""
        return None if code == MISSING else self.levels[parameter][code]

    def __repr__(self) -> str:
        n, m = self.rows.shape
        return f"<Measured: {n} experiments in {m} runs over {', '.join(self.parameters)}>"


def measured(source: Any, value: str = "time") -> Measured:
    """Return measurements as experiments by runs.

    Parameters
    ----------
    source : paths, Dataset, pandas.DataFrame, mapping of columns, or Measured
        See `scalkit.guidelines.tables.read_tables`. A row is one repetition, or one experiment in one run whose values are a
        list. All columns but `value`, ``run``, ``repetition``, ``oversubscribed`` and ``foreign_load`` are parameters.
    value : str
        Column of the measured value.

    Raises
    ------
    DataError
        If a column is missing, a value is not positive or is infinite, or an experiment appears twice in a run.
    """
    if isinstance(source, Measured):
        return source
    frame = read_tables(source, value=value)
    for needed, what in ((value, "the measured values"), ("run", "the launch that a value comes from")):
        if needed not in frame:
            raise DataError(f"there is no column '{needed}' with {what}; there are {', '.join(frame) or 'none'}.")
    names = [name for name in frame.columns if name not in (value, "run", "repetition", CROWDED, LOAD)]
    if not len(frame):
        raise DataError("the table of measurements is empty.")
    if not names:
        raise DataError(f"the table has no parameter: columns next to '{value}' and 'run' distinguish experiments.")
    codes, levels = pd.DataFrame(), {}
    for name in names:
        codes[name], levels[name] = _factorized(frame[name])
    run_codes, runs = _factorized(frame["run"])
    if (run_codes == MISSING).any():
        raise DataError(f"row {int(np.argmax(run_codes == MISSING))} has no 'run'; number the launches.")
    values = _values(frame, value, names)
    experiment = codes.groupby(names, sort=False).ngroup().to_numpy()
    kinds = codes.drop_duplicates().to_numpy(dtype=np.int64)
    values, places = _by_run(values, experiment * len(runs) + run_codes)
    rows = np.full(len(kinds) * len(runs), MISSING, dtype=np.int64)
    rows[places] = np.arange(len(places))
    machine = machine_of(frame.attrs) if is_virtual(frame.attrs) else {}
    exact = is_virtual(frame.attrs) and machine.get("compute", "none") == "none"
    crowded, caveats = _doubts(frame, experiment, exact)
    result = Measured(
        parameters=tuple(names),
        levels=levels,
        codes=kinds,
        runs=runs,
        rows=rows.reshape(len(kinds), len(runs)),
        values=values,
        crowded=crowded,
        caveats=(*_caveats(frame.attrs), *caveats),
        unit=str(frame.attrs.get("units", "")),
        exact=exact,
        machine=machine,
    )
    if len(repeated := places[pd.Series(places).duplicated().to_numpy()]):
        at, run = divmod(int(repeated[0]), len(runs))
        shown = [f"{name}={result.level(name, code)}" for name, code in zip(names, kinds[at], strict=True) if code != MISSING]
        raise DataError(
            f"the experiment {', '.join(shown)} appears twice in run {runs[run]}; give a column that tells them apart, or give "
            "each launch a number of its own."
        )
    return result


def _factorized(column: pd.Series) -> tuple[Integers, tuple[Any, ...]]:
    """Return codes and ascending levels; empty text is a missing level, as in CSV files."""
    try:
        codes, levels = pd.factorize(column.mask(column == ""), sort=True)
    except TypeError:
        raise DataError(f"'{column.name}' has a value that is neither text nor a number; a parameter is one of these.") from None
    return codes.astype(np.int64), tuple(levels.tolist())


def _values(frame: pd.DataFrame, value: str, names: list[str]) -> Floats:
    """Return the values of shape (rows,), or (rows, repetitions) where they are lists, filled up with NaN."""
    column = frame[value]
    try:
        if column.dtype == object and np.ndim(column.iloc[0]):
            lengths = column.map(len).to_numpy()
            values = np.full((len(column), lengths.max(initial=0)), np.nan)
            values[np.arange(values.shape[1]) < lengths[:, None]] = np.concatenate(column.to_list())
        else:
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(f"'{value}' must hold numbers, or a list of numbers in each row.") from None
    wrong = ~((values > 0) & (values < np.inf) | np.isnan(values))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        named = ", ".join(f"{name}={frame[name].iloc[row]}" for name in names)
        raise DataError(
            f"'{value}' is {values[wrong].ravel()[0]:g} in row {row} ({named}, run {frame['run'].iloc[row]}); values must be "
            "positive and finite, NaN stands for a missing one."
        )
    return values


def _by_run(values: Floats, key: Integers) -> tuple[Floats, Integers]:
    """Return one row of values for each experiment and run, and which these are."""
    if values.ndim == 2:
        kept = ~np.isnan(values).all(axis=1)
        return values[kept], key[kept]
    long = pd.DataFrame({"key": key, "value": values}).dropna()
    wide = long.assign(at=long.groupby("key").cumcount()).pivot(index="key", columns="at", values="value")
    return wide.to_numpy(), wide.index.to_numpy()


def _doubts(frame: pd.DataFrame, experiment: Integers, exact: bool) -> tuple[Flags, tuple[str, ...]]:
    """Return which experiments cannot decide, and the sentences that say why."""
    none = pd.Series(np.nan, index=frame.index)
    crowded = np.asarray(frame.get(CROWDED, none).eq(True).groupby(experiment).any())
    caveats: tuple[str, ...] = ()
    if crowded.any():
        caveats = ("some runs had more processes than cores: their times describe the scheduler and do not decide",)
    load = frame.get(LOAD, none).astype(np.float64)
    disturbed = np.asarray(load.groupby(experiment).median() > _BUSY) & (not exact)
    if disturbed.any():
        caveats += (
            f"other programs used more than {as_percent(_BUSY)} of the cores during {disturbed.sum()} of {len(disturbed)} "
            f"experiments, {as_percent(float(load.mean()))} on average over all: the times of these do not decide",
        )
    return crowded | disturbed, caveats


def _caveats(attributes: Mapping[Any, Any]) -> tuple[str, ...]:
    simulated = ("these measurements are simulated",) if attributes.get("simulated") else ()
    virtual = (f"run times of {said_of(attributes)}",) if said_of(attributes) else ()
    return (*simulated, *virtual, *(note.rstrip(".") for note in dict.fromkeys(attributes.get("notes", ()))))
