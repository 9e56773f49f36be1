"""What a reader must know of a series, and whether it may decide: disturbances, wrong results, missing parts."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from scalkit.measure.schema import FUNCTION, is_list, parameters_of, points_in
from scalkit.measure.virtual_time import TIMED, is_virtual, said_of
from scalkit.support.arrays import Flags, Floats
from scalkit.support.text import as_percent

_FOREIGN_LOAD_WORTH_A_WORD = 0.05
"""Half of the 10 % from which on guidelines do not decide: a warning comes first."""

_TOO_BUSY = 0.5
"""Share of the CPU that others used from which on run times decide nothing: what was measured had less than half of it."""

_OFTEN = 50
"""Involuntary context switches of a process a second that are worth a word: Linux lets a process that computes beside another
one on the same core run for 3 to 10 ms, which makes 50 to 160; in containers with a limit the load of others is not seen."""

_TOO_LONG = 1 / 2
"""Share of the run time that a program of one thread was without a CPU, beside others, from which on the same holds."""

_POINTS_SHOWN = 3


class Details:
    """What a Dataset says beside its metrics; taken out of it once, as each function is asked for."""

    def __init__(self, ds: xr.Dataset, parameter: str) -> None:
        self.ds, self.parameter, self.n = ds, parameter, ds.sizes[parameter]
        self._places = {str(name): place for place, name in enumerate(np.asarray(ds[FUNCTION]).tolist())}
        self._names = frozenset(map(str, ds.data_vars))
        self._found: dict[str, tuple[Any, bool] | None] = {}

    @cached_property
    def crowded(self) -> Flags:
        """Where there are more processes than cores, of shape (points,)."""
        if "oversubscribed" not in self.ds.coords or self.ds["oversubscribed"].dims != (self.parameter,):
            return np.zeros(self.n, dtype=bool)
        return np.asarray(self.ds["oversubscribed"]).astype(bool)

    def of(self, name: str, function: str) -> tuple[Any, bool] | None:
        """Return the values of a detail, and whether their first axis is the points; None where it is not known."""
        if name not in self._found:
            found = self.ds[name] if name in self._names and FUNCTION in self.ds[name].dims else None
            if found is not None:
                along = self.parameter in found.dims
                values = np.asarray(found.transpose(FUNCTION, *([self.parameter] if along else []), ...))
                self._found[name] = values, along
            else:
                self._found[name] = None
        kept = self._found[name]
        return None if kept is None else (kept[0][self._places[function]], kept[1])

    def along(self, name: str, function: str) -> Any:
        """Return the values of a detail at each point, of shape (points, others); None where it is not known."""
        found = self.of(name, function)
        return found[0].reshape(self.n, -1) if found is not None and found[1] else None


def caveats(details: Details, metric: str, function: str, there: Flags) -> tuple[tuple[str, ...], bool]:
    """Return the remarks on one series, and whether it may decide."""
    ds, parameter = details.ds, details.parameter
    grave: list[str] = []
    light: list[str] = []
    if metric == "time":
        crowded = there & details.crowded
        if crowded.any():
            grave.append(
                f"more processes than cores at {_places(ds, parameter, crowded)}: "
                "the run times there describe the scheduler as much as the library"
            )
    if metric == "process_memory" and _varies(ds, there):
        grave.append("the number of processes per node varies, and memory pages shared by them count proportionally")
    wrong = there & ~_of_function(details, "verified", function, np.all, True)
    if wrong.any():
        grave.append(f"the results were wrong at {_places(ds, parameter, wrong)}")
    bypassed = there & _of_function(details, "bypassed", function, np.any, False)
    if bypassed.any() and metric == "object_memory":
        grave.append(
            f"the library bypasses malloc at {_places(ds, parameter, bypassed)}: the bytes counted are fewer than the memory used"
        )
    kept = there & _of_function(details, "flagged_kept", function, np.any, False)
    if kept.any() and metric == "time":
        light.append(f"late repetitions count at {_places(ds, parameter, kept)}, because too few began in time")
    lost = most(details, "object_memory_leaked", function)
    leaking = there & (lost > 0)
    if leaking.any() and metric == "object_memory":
        light.append(
            f"up to {lost[leaking].max():g} B are not given back when the objects of a launch are freed, at "
            f"{_places(ds, parameter, leaking)}"
        )
    short = there & _of_function(details, "incomplete", function, np.any, False)
    if short.any():
        light.append(f"some run files at {_places(ds, parameter, short)} end early")
    if is_virtual(ds.attrs) and metric in TIMED:
        light.append(said_of(ds.attrs))
    if metric == "time" and not is_virtual(ds.attrs):
        said, is_grave = _busy(details, function)
        (grave if is_grave else light).extend(said)
    return (*grave, *light), not grave


def _varies(ds: xr.Dataset, there: Flags) -> bool:
    """Return whether the processes per node differ between points; 0 stands for different values at one point."""
    if "processes_per_node" not in ds.coords:
        return False
    per_node = np.asarray(ds["processes_per_node"])[there]
    return bool((per_node == 0).any() or np.unique(per_node).size > 1)


def _of_function(details: Details, name: str, function: str, join: Callable[..., Flags], default: bool) -> Flags:
    """Return a flag for each point, joined over the runs."""
    values = details.along(name, function)
    return np.full(details.n, default) if values is None else np.asarray(join(values.astype(bool), axis=1), dtype=bool)


def most(details: Details, name: str, function: str) -> Floats:
    """Return the largest value of a detail at each point, over the runs; 0 where it is unknown."""
    values = details.along(name, function)
    if values is None or values.dtype.kind not in "iuf":
        return np.zeros(details.n)
    return np.asarray(np.max(np.nan_to_num(values.astype(np.float64), nan=0.0), axis=1, initial=0.0))


def _busy(details: Details, function: str) -> tuple[list[str], bool]:
    """Return what other programs did to the run times of a function, and whether these decide nothing for it."""
    taken = _share(details, "involuntary_switches", function, ~details.crowded)
    load, waited = _share(details, "foreign_load", function), _share(details, "waiting", function)
    said = []
    if load > _FOREIGN_LOAD_WORTH_A_WORD:
        said.append(f"other programs used about {as_percent(load)} of the CPU")
    if taken > _OFTEN:
        said.append(f"the scheduler took the CPU from a process about {taken:.0f} times a second")
    if waited > _TOO_LONG:
        said.append(
            f"run times are {1 / (1 - min(waited, 0.999)):.2g} times the CPU time, which is there as cpu_time: expect "
            f"something of '{function} (cpu_time)'"
        )
    is_grave = load > _TOO_BUSY or len(said) > 1
    return [f"{'; '.join(said)}; measure again on an idle machine"] if is_grave else said, is_grave


def _share(details: Details, name: str, function: str, points: Flags | None = None) -> float:
    """Return the median of a quality of a function, perhaps at some points only; 0 where it is not known."""
    found = details.of(name, function)
    if found is None:
        return 0.0
    values, along = found[0].astype(np.float64), found[1]
    values = values[points] if along and points is not None else values
    return float(np.nanmedian(values)) if np.isfinite(values).any() else 0.0


def _places(ds: xr.Dataset, parameter: str, there: Flags) -> str:
    """Return settings in words: ``p = 8, 16``; of several parameters the first few points."""
    if not is_list(ds):
        return f"{parameter} = {', '.join(f'{float(x):g}' for x in np.asarray(ds[parameter])[there])}"
    names = parameters_of(ds)
    rows = points_in(ds, names)[there]
    shown = "; ".join(", ".join(f"{n} = {x:g}" for n, x in zip(names, row, strict=True)) for row in rows[:_POINTS_SHOWN])
    more = len(rows) - _POINTS_SHOWN
    return f"{shown}; and {more} more point{'s' if more > 1 else ''}" if more > 0 else shown
