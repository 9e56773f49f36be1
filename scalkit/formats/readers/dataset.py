"""A Dataset of what readers found in one or more files of one format."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.formats.readers.observed import Found, Observed, Setting, identifier, named
from scalkit.measure.schema import FUNCTION, LARGEST_INT, METRICS, POINT, REPETITION, RESERVED, RUN, Metric, as_grid, whole_labels
from scalkit.measure.virtual_time import clock_attributes, machine_of
from scalkit.text import did_you_mean

SIZE = "S"
"""The setting that message sizes are called, in bytes."""


def chosen_parameters(files: Sequence[Found], where: str, wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the parameters.

    Those that are asked for; else those that the format says; else the first of the format's favourites that varies; else the
    argument that varies in most functions, of several the one with most values.

    `where`: for messages.
    Raises DataError if no argument varies, or one that is asked for is not there.
    """
    values = _values([one for found in files for one in found.observed if one.role == "metric"])
    if wanted is not None:
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        if not names:
            raise DataError("the parameters are an empty list; name one or more arguments of the benchmarks.")
        for name in names:
            _require(name, values, where)
        return names
    declared = list(dict.fromkeys(found.parameters for found in files))
    if len(declared) > 1:
        shown = " and ".join(repr(",".join(names)) for names in declared)
        raise DataError(f"the files at {where} have different parameters: {shown}; read them apart.")
    return declared[0] or (_varying(files, values, where),)


def point_of(settings: Mapping[str, Setting], parameters: Sequence[str]) -> tuple[float, ...] | None:
    """Return the values of the parameters; None where one is missing or no positive number."""
    values = [settings.get(name) for name in parameters]
    numbers = [value for value in values if isinstance(value, float) and 0 < value < math.inf]
    return tuple(numbers) if len(numbers) == len(values) else None


def constant_size(observed: Sequence[Observed], parameters: Sequence[str]) -> int | None:
    """Return the message size if it is no parameter and all that have one have the same, in bytes; else None."""
    sizes = {one.settings[SIZE] for one in observed if SIZE in one.settings}
    if SIZE in parameters or len(sizes) != 1:
        return None
    (size,) = sizes
    is_whole = isinstance(size, float) and 0 <= size < 2**53 and size.is_integer()
    return int(size) if is_whole and isinstance(size, float) else None


def _values(observed: Sequence[Observed]) -> dict[str, dict[str, set[float]]]:
    """Return the positive numbers of each argument, by function."""
    values: dict[str, dict[str, set[float]]] = {}
    for one in observed:
        for name, value in one.settings.items():
            if isinstance(value, float) and 0 < value < math.inf:
                values.setdefault(name, {}).setdefault(one.function, set()).add(value)
    return values


def _require(name: str, values: Mapping[str, object], where: str) -> None:
    if name in values:
        return
    known = ", ".join(map(repr, values)) or "none"
    raise DataError(
        f"{where} has no benchmark with a number for {name!r}; arguments with numbers are {known}.{did_you_mean(name, values)}"
    )


def _varying(files: Sequence[Found], values: Mapping[str, Mapping[str, set[float]]], where: str) -> str:
    favourites = [name for name in files[0].first if name in values]
    for name in favourites:
        if len(set().union(*values[name].values())) > 1:
            return name
    rank = {
        name: (sum(len(v) > 1 for v in found.values()), max(len(v) for v in found.values())) for name, found in values.items()
    }
    best = max(rank, key=lambda name: rank[name], default=None)
    if best is not None and rank[best][0] > 0:
        return best
    if favourites:
        return favourites[0]
    raise DataError(f"{where} has no benchmark that ran with several values of one argument; {files[0].advice}.")


_MOST_CELLS = 2**25
_NAMES_SHOWN = 6

Place = tuple[str, tuple[float, ...]]


@dataclass(frozen=True)
class _Placed:
    """An observation with its name, its point and its run."""

    name: str
    point: tuple[float, ...]
    run: int
    one: Observed


def dataset_of(files: Sequence[tuple[str, Found]], where: str, parameter: str | Sequence[str] | None = None) -> xr.Dataset:
    """Return a Dataset of all functions that have the parameters; ``attrs["notes"]`` names the others.

    Values of the same function, metric and setting in one file are repetitions, in several files further runs.

    `files`: the short name of each file and what is in it, all of one format.
    `where`: the files, for messages.
    `parameter`: as `scalkit.formats.readers.dataset.chosen_parameters` says.
    Raises DataError if there is nothing, no argument varies, `parameter` is none of them, or the Dataset would be too
    large.
    """
    found = [one for _, one in files]
    metrics = [one for each in found for one in each.observed if one.role == "metric"]
    cut = next((f"{name}: {one.cut}" for name, one in files if one.cut), None)
    if not metrics and cut is not None:
        raise DataError(f"{where} holds no measurement before it ends ({cut}); copy it again, or measure again.")
    if not metrics:
        raise DataError(f"{where} has no benchmark with a run time; run some, without errors.")
    chosen = chosen_parameters(found, where, parameter)
    size = constant_size(metrics, chosen)
    idle = [name for each in found for name in each.incidental if len({one.settings.get(name) for one in metrics}) == 1]
    apart = (*chosen, *idle, SIZE) if size is not None else (*chosen, *idle)
    placed, left = _placed(files, chosen, apart)
    if not any(one.one.role == "metric" for one in placed):
        raise DataError(
            f"{where} has no benchmark with a positive number for each of {', '.join(map(repr, chosen))}; name one of them, or "
            "run benchmarks that have all."
        )
    ds = _filled(placed, chosen, where)
    notes = [note for each in found for note in each.notes]
    if left:
        more = f" and {len(left) - _NAMES_SHOWN} more" if len(left) > _NAMES_SHOWN else ""
        needed = " and ".join(map(repr, chosen))
        notes.append(f"left out, as they have no positive number for {needed}: {', '.join(left[:_NAMES_SHOWN])}{more}")
    ds.attrs |= _attrs(files, notes) | ({"message_size_B": size} if size is not None else {})
    return ds


def _placed(files: Sequence[tuple[str, Found]], chosen: Sequence[str], apart: Sequence[str]) -> tuple[list[_Placed], list[str]]:
    """Return what has a point, and the names of functions that have none."""
    placed: list[_Placed] = []
    left: dict[str, None] = {}
    taken: dict[int, set[Place]] = {}
    for _, found in files:
        here: list[_Placed] = []
        for one in found.observed:
            point = point_of(one.settings, chosen)
            if point is not None:
                here.append(_Placed(named(one.function, one.settings, apart), point, one.run, one))
            elif one.role == "metric":
                left[_described(one, chosen)] = None
        shift = _free_run(here, taken)
        for each in here:
            taken.setdefault(each.run + shift, set()).add((each.name, each.point))
            placed.append(_Placed(each.name, each.point, each.run + shift, each.one))
    return placed, list(left)


def _described(one: Observed, chosen: Sequence[str]) -> str:
    """Return the name of what is left out, with a value that is no parameter's: ``MPI_Bcast[S=0]``."""
    wrong = {name: one.settings[name] for name in chosen if name in one.settings}
    odd = {name: value for name, value in wrong.items() if point_of({name: value}, [name]) is None}
    return named(one.function, odd if len(odd) < len(chosen) or (len(chosen) == 1 and SIZE in odd) else {}, ())


def _free_run(here: Sequence[_Placed], taken: Mapping[int, set[Place]]) -> int:
    """Return by how much to raise the runs of a file so that none of its places is taken; 0 if it measured elsewhere."""
    places: dict[int, set[Place]] = {}
    for one in here:
        places.setdefault(one.run, set()).add((one.name, one.point))
    shift = 0
    while any(not there.isdisjoint(taken.get(run + shift, ())) for run, there in places.items()):
        shift += 1
    return shift


def _filled(placed: Sequence[_Placed], chosen: tuple[str, ...], where: str) -> xr.Dataset:
    functions = {name: i for i, name in enumerate(dict.fromkeys(one.name for one in placed if one.one.role == "metric"))}
    kept = [one for one in placed if one.name in functions]
    table = np.unique(np.array([one.point for one in kept if one.one.role == "metric"], dtype=np.float64), axis=0)
    points = {tuple(row): i for i, row in enumerate(table.tolist())}
    runs = {run: i for i, run in enumerate(sorted({one.run for one in kept}))}
    axis = POINT if len(chosen) > 1 else chosen[0]
    variables: dict[str, list[_Placed]] = {}
    for one in kept:
        if one.point in points:
            variables.setdefault(_variable(one.one.metric, chosen), []).append(one)
    variables = dict(sorted(variables.items(), key=lambda item: item[1][0].one.role != "metric"))
    deepest = {name: _deepest(ones) for name, ones in variables.items()}
    _require_room(len(functions) * len(points) * len(runs) * sum(deepest.values()), where)
    depth = max((deepest[name] for name, ones in variables.items() if ones[0].one.role == "metric"), default=1)
    data = {}
    for name, ones in variables.items():
        is_deep = ones[0].one.role == "metric"
        shape = (len(functions), len(points), len(runs), depth if is_deep else 1)
        array = np.full(shape, np.nan)
        used: dict[tuple[int, int, int], int] = {}
        for one in ones:
            place = (functions[one.name], points[one.point], runs[one.run])
            first = used.get(place, 0)
            values = one.one.values if is_deep else one.one.values[:1]
            if is_deep or first == 0:
                array[place][first : first + len(values)] = values
                used[place] = first + len(values)
        data[name] = _described_variable(name, ones, array, axis, where)
    coords: dict[str, Any] = {FUNCTION: np.array(list(functions), dtype=np.str_)}
    coords |= {name: (axis, whole_labels(column)) for name, column in zip(chosen, table.T, strict=True)}
    coords[RUN] = np.array(list(runs), dtype=np.int64)
    ds = xr.Dataset(data, coords, {"parameter": ",".join(chosen)})
    cells = math.prod(len(np.unique(column)) for column in table.T)
    return as_grid(ds) if cells * len(functions) * len(runs) * sum(deepest.values()) <= _MOST_CELLS else ds


def _deepest(ones: Sequence[_Placed]) -> int:
    """Return the most repetitions at one place."""
    if ones[0].one.role != "metric":
        return 1
    counts: dict[tuple[str, tuple[float, ...], int], int] = {}
    for one in ones:
        key = (one.name, one.point, one.run)
        counts[key] = counts.get(key, 0) + len(one.one.values)
    return max(counts.values())


def _require_room(cells: int, where: str) -> None:
    if cells > _MOST_CELLS:
        raise DataError(
            f"{where} would fill a table of {cells} values (functions times settings times repetitions), {_MOST_CELLS} are "
            "the most; read fewer functions or settings at once."
        )


def _described_variable(
    name: str, ones: Sequence[_Placed], array: Floats, axis: str, where: str
) -> tuple[tuple[str, ...], NDArray[Any], dict[str, object]]:
    first = ones[0].one
    units = list(dict.fromkeys(one.one.unit for one in ones))
    if len(units) > 1:
        raise DataError(f"{where}: {first.metric!r} is in {units[0]!r} and in {units[1]!r}; convert one of them.")
    if first.role == "metric":
        known = METRICS.get(name, Metric(name, first.unit, first.metric, exact=first.exact))
        if name in METRICS and first.unit != known.unit:
            raise DataError(f"{where}: {first.metric!r} is in {first.unit!r}; write it in {known.unit!r}.")
        attrs = Metric(name, known.unit, known.long_name, first.exact or known.exact).attrs()
        if name == "time":
            attrs["long_name"] = "run time"
        return (FUNCTION, axis, RUN, REPETITION), array, attrs
    flat = array[..., 0]
    if first.role == "quality":
        whole = np.nan_to_num(flat, nan=0.0, posinf=0.0, neginf=0.0)
        return (FUNCTION, axis, RUN), np.clip(whole, 0, LARGEST_INT).astype(np.int64), {"role": "quality"}
    return (FUNCTION, axis, RUN), flat, {"role": "detail", "units": first.unit, "long_name": first.metric}


def _variable(metric: str, chosen: Sequence[str]) -> str:
    """Return a name that the variable of a metric can have."""
    if metric in METRICS:
        return metric
    name = identifier(metric)
    return f"{name}_" if name in chosen or name in RESERVED or name == POINT else name


def _attrs(files: Sequence[tuple[str, Found]], notes: Sequence[str]) -> dict[str, object]:
    """Return the attributes of all files together."""
    found = [one for _, one in files]
    attrs: dict[str, object] = {"format": ", ".join(dict.fromkeys(one.format for one in found))}
    attrs |= clock_attributes([machine_of(one.attrs) for one in found])
    if any(one.attrs.get("simulated") for one in found):
        attrs["simulated"] = 1
    for key in dict.fromkeys(key for one in found for key in one.attrs if key not in ("clock", "virtual", "simulated")):
        values = list(dict.fromkeys(str(one.attrs[key]) for one in found if one.attrs.get(key)))
        if key == "started":
            values = sorted(values)[:1]
        if values:
            attrs[key] = values[0] if key == "title" else ", ".join(values)
    hold = "holds" if len(files) == 1 else f"and {len(files) - 1} more files hold"
    attrs.setdefault("title", f"what {files[0][0]} {hold}")
    metadata = _metadata(found)
    if metadata:
        attrs["metadata"] = json.dumps(metadata)
    cut = [name for name, one in files if one.cut]
    told = [f"{name}: {one.cut}" for name, one in files if one.cut]
    if cut:
        attrs["truncated"] = ", ".join(cut)
    if notes or told:
        attrs["notes"] = json.dumps(list(dict.fromkeys([*told, *notes])))
    return attrs


def _metadata(found: Sequence[Found]) -> dict[str, str]:
    """Return what the files say, with all values where they differ."""
    together: dict[str, dict[str, None]] = {}
    for one in found:
        for key, value in one.metadata.items():
            together.setdefault(key, {})[value] = None
    return {key: "; ".join(values) for key, values in together.items()}
