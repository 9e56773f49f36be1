"""What a reader must know of a series, and whether it may decide: disturbances, wrong results, missing parts."""

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from scalkit.arrays import Flags, Floats
from scalkit.measure.layout import points_in
from scalkit.measure.schema import FUNCTION, is_list, parameters_of
from scalkit.measure.virtual_time import TIMED, is_virtual, said_of

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


def caveats(ds: xr.Dataset, metric: str, parameter: str, function: str, there: Flags) -> tuple[tuple[str, ...], bool]:
    """Return the remarks on one series, and whether it may decide."""
    n = ds.sizes[parameter]
    grave: list[str] = []
    light: list[str] = []
    if metric == "time":
        crowded = there & _over_points(ds, "oversubscribed", parameter, n)
        if crowded.any():
            grave.append(
                f"more processes than cores at {_places(ds, parameter, crowded)}: "
                "the run times there describe the scheduler as much as the library"
            )
    if metric == "process_memory" and _varies(ds, there):
        grave.append("the number of processes per node varies, and memory pages shared by them count proportionally")
    wrong = there & ~_of_function(ds, "verified", function, parameter, np.all, True)
    if wrong.any():
        grave.append(f"the results were wrong at {_places(ds, parameter, wrong)}")
    bypassed = there & _of_function(ds, "bypassed", function, parameter, np.any, False)
    if bypassed.any() and metric == "object_memory":
        grave.append(
            f"the library bypasses malloc at {_places(ds, parameter, bypassed)}: the bytes counted are fewer than the memory used"
        )
    kept = there & _of_function(ds, "flagged_kept", function, parameter, np.any, False)
    if kept.any() and metric == "time":
        light.append(f"late repetitions count at {_places(ds, parameter, kept)}, because too few began in time")
    lost = most(ds, "object_memory_leaked", function, parameter)
    leaking = there & (lost > 0)
    if leaking.any() and metric == "object_memory":
        light.append(
            f"up to {lost[leaking].max():g} B are not given back when the objects of a launch are freed, at "
            f"{_places(ds, parameter, leaking)}"
        )
    short = there & _of_function(ds, "incomplete", function, parameter, np.any, False)
    if short.any():
        light.append(f"some run files at {_places(ds, parameter, short)} end early")
    if is_virtual(ds.attrs) and metric in TIMED:
        light.append(said_of(ds.attrs))
    if metric == "time" and not is_virtual(ds.attrs):
        said, is_grave = _busy(ds, function, parameter)
        (grave if is_grave else light).extend(said)
    return (*grave, *light), not grave


def _over_points(ds: xr.Dataset, name: str, parameter: str, n: int) -> Flags:
    if name not in ds.coords or ds[name].dims != (parameter,):
        return np.zeros(n, dtype=bool)
    return np.asarray(ds[name]).astype(bool)


def _varies(ds: xr.Dataset, there: Flags) -> bool:
    """Return whether the processes per node differ between points; 0 stands for different values at one point."""
    if "processes_per_node" not in ds.coords:
        return False
    per_node = np.asarray(ds["processes_per_node"])[there]
    return bool((per_node == 0).any() or np.unique(per_node).size > 1)


def _of_function(ds: xr.Dataset, name: str, function: str, parameter: str, join: Callable[..., Flags], default: bool) -> Flags:
    """Return a flag for each point, joined over the runs."""
    n = ds.sizes[parameter]
    if name not in ds.data_vars or not {FUNCTION, parameter} <= set(ds[name].dims):
        return np.full(n, default)
    values = np.asarray(ds[name].sel({FUNCTION: function}).transpose(parameter, ...)).astype(bool).reshape(n, -1)
    return np.asarray(join(values, axis=1), dtype=bool)


def most(ds: xr.Dataset, name: str, function: str, parameter: str) -> Floats:
    """Return the largest value of a detail at each point, over the runs; 0 where it is unknown."""
    n = ds.sizes[parameter]
    if name not in ds.data_vars or not {FUNCTION, parameter} <= set(ds[name].dims) or ds[name].dtype.kind not in "iuf":
        return np.zeros(n)
    values = np.asarray(ds[name].sel({FUNCTION: function}).transpose(parameter, ...), dtype=np.float64).reshape(n, -1)
    return np.asarray(np.max(np.nan_to_num(values, nan=0.0), axis=1, initial=0.0))


def _busy(ds: xr.Dataset, function: str, parameter: str) -> tuple[list[str], bool]:
    """Return what other programs did to the run times of a function, and whether these decide nothing for it."""
    alone = ~_over_points(ds, "oversubscribed", parameter, ds.sizes[parameter])
    taken = _share(ds, "involuntary_switches", function, {parameter: alone})
    load, waited = _share(ds, "foreign_load", function), _share(ds, "waiting", function)
    said = []
    if load > _FOREIGN_LOAD_WORTH_A_WORD:
        said.append(f"other programs used about {100 * load:.0f} % of the CPU")
    if taken > _OFTEN:
        said.append(f"the scheduler took the CPU from a process about {taken:.0f} times a second")
    if waited > _TOO_LONG:
        said.append(
            f"run times are {1 / (1 - min(waited, 0.999)):.2g} times the CPU time, which is there as cpu_time: expect "
            f"something of '{function} (cpu_time)'"
        )
    is_grave = load > _TOO_BUSY or len(said) > 1
    return [f"{'; '.join(said)}; measure again on an idle machine"] if is_grave else said, is_grave


def _share(ds: xr.Dataset, name: str, function: str, points: Mapping[str, Flags] | None = None) -> float:
    """Return the median of a quality of a function, perhaps at some points only; 0 where it is not known."""
    if name not in ds.data_vars or FUNCTION not in ds[name].dims:
        return 0.0
    found = ds[name].sel({FUNCTION: function})
    values = np.asarray(found, dtype=np.float64)
    for dim, kept in (points or {}).items():
        values = np.compress(kept, values, axis=found.dims.index(dim)) if dim in found.dims else values
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
