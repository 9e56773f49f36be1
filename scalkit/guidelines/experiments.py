"""Measurements of a campaign: experiments, runs, and the median of each run, from tables of several kinds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.guidelines.columns import Columns, columns_of
from scalkit.stats import fenced_medians
from scalkit.stats.samples import Flags, Floats, Integers
from scalkit.text import as_percent

MISSING = -1

_BUSY = 0.1
"""Share of the cores: on idle machines others take 1 to 3 %; the pages of the store warn from the same share on."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Experiments by runs.

    Attributes
    ----------
    parameters : tuple of str
        What tells experiments apart.
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
        medians, _ = fenced_medians(self.values)
        return np.where(self.rows == MISSING, np.nan, medians[self.rows])

    def level(self, parameter: str, code: int) -> Any:
        """Return a level, None for a missing one."""
        return None if code == MISSING else self.levels[parameter][code]

    def __repr__(self) -> str:
        n, m = self.rows.shape
        return f"<Measured: {n} experiments in {m} runs over {', '.join(self.parameters)}>"


def measured(table: Any, *, value: str = "time", run: str = "run", ignore: Sequence[str] = ("repetition",)) -> Measured:
    """Return the measurements in a table.

    Parameters
    ----------
    table : pandas.DataFrame, xarray.Dataset, structured array, mapping of arrays, or Measured
        A row is one repetition, or one experiment in one run whose values are a list or a second axis. All columns but
        `value`, `run`, ``oversubscribed`` and those in `ignore` are parameters. In a Dataset the dimensions are, and what
        stands along a dimension without a coordinate of its own; ``function`` is taken for ``operation``.
    value, run : str
        Columns of the measured value, and of the launch that it comes from.
    ignore : sequence of str
        Columns that are no parameters.

    Raises
    ------
    DataError
        If a column is missing, a value is not positive or is infinite, or an experiment stands twice in a run.
    """
    if isinstance(table, Measured):
        return table
    columns = columns_of(table, value, run, ignore)
    names = tuple(columns.parameters)
    levels, codes = {}, np.empty((len(columns.values), len(names)), dtype=np.int64)
    for place, name in enumerate(names):
        codes[:, place], levels[name] = _factorized(columns.parameters[name], name)
    run_codes, runs = _factorized(columns.run, run)
    if (run_codes == MISSING).any():
        raise DataError(f"row {int(np.argmax(run_codes == MISSING))} has no '{run}'; number the launches.")
    _require_positive(columns, value)
    experiment, kinds = _experiments(codes)
    values, places = _by_row(columns, experiment * len(runs) + run_codes)
    rows = np.full(len(kinds) * len(runs), MISSING, dtype=np.int64)
    rows[places] = np.arange(len(places))
    crowded = np.bincount(experiment, columns.crowded, len(kinds)) > 0
    disturbed = np.zeros(len(kinds), dtype=bool) if columns.exact else _busy(columns.load, experiment, len(kinds))
    shape = len(kinds), len(runs)
    own = (columns.caveats + _disturbance(disturbed, columns.load), columns.unit, columns.exact, columns.machine)
    result = Measured(names, levels, kinds, runs, rows.reshape(shape), values, crowded | disturbed, *own)
    if len(places) != len(np.unique(places)):
        at = int(places[np.flatnonzero(np.bincount(places)[places] > 1)[0]])
        shown = ", ".join(_shown(result, at // len(runs)))
        raise DataError(
            f"the experiment {shown} stands twice in run {runs[at % len(runs)]}; give a column that tells them apart, or give "
            "each launch a number of its own."
        )
    return result


def _busy(load: Floats, experiment: Integers, n: int) -> Flags:
    """Return during which experiments other programs used too much: in half of its runs or more."""
    import pandas as pd

    median = pd.Series(load).groupby(experiment).median().reindex(range(n)).to_numpy()
    return np.asarray(median > _BUSY)


def _disturbance(disturbed: Flags, load: Floats) -> tuple[str, ...]:
    if not disturbed.any():
        return ()
    return (
        f"other programs used more than {as_percent(_BUSY)} of the cores during {disturbed.sum()} of {len(disturbed)} "
        f"experiments, {as_percent(float(np.nanmean(load)))} on average over all: the times of these do not decide",
    )


def _shown(data: Measured, experiment: int) -> Iterator[str]:
    for place, name in enumerate(data.parameters):
        if data.codes[experiment, place] != MISSING:
            yield f"{name}={data.level(name, int(data.codes[experiment, place]))}"


def _factorized(column: Any, name: str) -> tuple[Integers, tuple[Any, ...]]:
    """Return codes and ascending levels; empty text is a missing level, as in CSV files."""
    import pandas as pd

    if isinstance(column, np.ndarray) and column.dtype.kind in "US":
        column = column.astype(object)
    codes, found = pd.factorize(column)
    levels = [level.item() if isinstance(level, np.generic) else level for level in found]
    kept = [place for place, level in enumerate(levels) if level != ""]
    try:
        kept.sort(key=lambda place: levels[place])
    except TypeError:
        kept.sort(key=lambda place: str(levels[place]))
    new = np.full(len(levels) + 1, MISSING, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    ordered = tuple(levels[place] for place in kept)
    for level in ordered:
        if isinstance(level, list | dict | set):
            raise DataError(f"'{name}' has the value {level!r}; a parameter is text or a number.")
    return new[codes], ordered  # the code -1 takes the last place, which is missing


def _require_positive(columns: Columns, value: str) -> None:
    wrong = ~((columns.values > 0) & (columns.values < np.inf) | np.isnan(columns.values))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        found = columns.values[wrong].ravel()[0]
        named = ", ".join(f"{name}={column[row]}" for name, column in columns.parameters.items())
        raise DataError(
            f"'{value}' is {found:g} in row {row} ({named}, run {columns.run[row]}); values must be positive and finite, NaN "
            "stands for a missing one."
        )


def _experiments(codes: Integers) -> tuple[Integers, Integers]:
    """Return the experiment of each row, and the codes of each experiment."""
    sizes = [int(column.max(initial=MISSING)) + 2 for column in codes.T]
    key = np.zeros(len(codes), dtype=np.int64)
    bound = 1
    for column, size in zip(codes.T, sizes, strict=True):
        bound *= size
        if bound > 1 << 62:
            _, key = np.unique(key, return_inverse=True)
            bound = (int(key.max(initial=0)) + 1) * size
        key = key * size + column + 1
    import pandas as pd

    which, _ = pd.factorize(key)
    first = np.full(int(which.max(initial=-1)) + 1, len(which), dtype=np.int64)
    np.minimum.at(first, which, np.arange(len(which)))
    return which.astype(np.int64), codes[first]


def _by_row(columns: Columns, key: Integers) -> tuple[Floats, Integers]:
    """Return one row of values for each experiment and run, and which these are."""
    values = columns.values
    if values.ndim == 2:
        kept = np.flatnonzero(~np.isnan(values).all(axis=1))
        return values[kept], key[kept]
    kept = np.flatnonzero(~np.isnan(values))
    order = kept[np.argsort(key[kept], kind="stable")]
    ordered = key[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(starts, append=len(ordered))
    if len(counts) and (counts == counts[0]).all():
        return values[order].reshape(len(starts), counts[0]), ordered[starts]
    table = np.full((len(starts), int(counts.max(initial=0))), np.nan)
    row = np.repeat(np.arange(len(starts)), counts)
    table[row, np.arange(len(ordered)) - np.repeat(starts, counts)] = values[order]
    return table, ordered[starts]
