"""A Dataset of what readers found in one or more files of one format."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.readers.observed import Found, Observed, Setting, identifier, named
from scalkit.measure.filling import Filling
from scalkit.measure.schema import FUNCTION, LARGEST_INT, METRICS, POINT, RESERVED, RUN, Metric, as_grid, whole_labels
from scalkit.measure.virtual_time import clock_attributes, machine_of
from scalkit.support.text import did_you_mean

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


class _Placed(NamedTuple):
    """An observation with the place where it belongs: the name of the function, the point, and the run."""

    place: tuple[str, tuple[float, ...], int]
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
    if not metrics:
        cut = next((f"{name}: {one.cut}" for name, one in files if one.cut), None)
        if cut is not None:
            raise DataError(f"{where} holds no measurement before it ends ({cut}); copy it again, or measure again.")
        raise DataError(f"{where} has no benchmark with a run time; run some, without errors.")
    chosen = chosen_parameters(found, where, parameter)
    size = constant_size(metrics, chosen)
    idle = [name for each in found for name in each.incidental if len({one.settings.get(name) for one in metrics}) == 1]
    apart = (*chosen, *idle, SIZE) if size is not None else (*chosen, *idle)
    placed, left = _placed(found, chosen, apart)
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


def _placed(files: Sequence[Found], chosen: Sequence[str], apart: Sequence[str]) -> tuple[list[_Placed], list[str]]:
    """Return what has a point, and the names of functions that have none.

    The runs of a file are raised until none of its places is taken by another file.
    """
    placed: list[_Placed] = []
    left: dict[str, None] = {}
    taken: set[tuple[str, tuple[float, ...], int]] = set()
    for found in files:
        here: list[_Placed] = []
        for one in found.observed:
            point = point_of(one.settings, chosen)
            if point is not None:
                here.append(_Placed((named(one.function, one.settings, apart), point, one.run), one))
            elif one.role == "metric":
                left[_described(one, chosen)] = None
        while not taken.isdisjoint(place for place, _ in here):
            here = [_Placed((name, point, run + 1), one) for (name, point, run), one in here]
        taken.update(place for place, _ in here)
        placed += here
    return placed, list(left)


def _described(one: Observed, chosen: Sequence[str]) -> str:
    """Return the name of what is left out, with a value that is no parameter's: ``MPI_Bcast[S=0]``."""
    wrong = {name: one.settings[name] for name in chosen if name in one.settings}
    odd = {name: value for name, value in wrong.items() if point_of({name: value}, [name]) is None}
    return named(one.function, odd if len(odd) < len(chosen) or (len(chosen) == 1 and SIZE in odd) else {}, ())


def _filled(placed: Sequence[_Placed], chosen: tuple[str, ...], where: str) -> xr.Dataset:
    functions = dict.fromkeys(place[0] for place, one in placed if one.role == "metric")
    points = sorted({place[1] for place, one in placed if one.role == "metric"})
    runs = sorted({place[2] for place, _ in placed if place[0] in functions})
    known = set(points)
    filling = Filling()
    described: dict[str, Observed] = {}
    for place, one in sorted(placed, key=lambda item: item.one.role != "metric"):
        if place[0] not in functions or place[1] not in known:
            continue
        name = _variable(one.metric, chosen)
        first = described.setdefault(name, one)
        if first.unit != one.unit:
            raise DataError(f"{where}: {first.metric!r} is in {first.unit!r} and in {one.unit!r}; convert one of them.")
        if first.role == "metric":
            filling.extend(place, name, one.values)
        elif place not in filling.values.get(name, ()):
            filling.put(place, {name: _count(one.values[0]) if first.role == "quality" else one.values[0]})
    depth = sum(max(map(len, filling.values[name].values())) for name in described if described[name].role == "metric")
    cells = len(functions) * len(runs) * (depth + sum(one.role != "metric" for one in described.values()))
    if cells * len(points) > _MOST_CELLS:
        raise DataError(
            f"{where} would fill a table of {cells * len(points)} values (functions times settings times repetitions), "
            f"{_MOST_CELLS} are the most; read fewer functions or settings at once."
        )
    axis = POINT if len(chosen) > 1 else chosen[0]
    variables = filling.variables({FUNCTION: list(functions), axis: points, RUN: runs})
    data = {name: (*variables[name], _attributes(name, one, where)) for name, one in described.items()}
    columns = np.array(points).T
    coords: dict[str, Any] = {FUNCTION: np.array(list(functions), dtype=np.str_), RUN: np.array(runs, dtype=np.int64)}
    coords |= {name: (axis, whole_labels(column)) for name, column in zip(chosen, columns, strict=True)}
    ds = xr.Dataset(data, coords, {"parameter": ",".join(chosen)})
    return as_grid(ds) if cells * math.prod(len(np.unique(column)) for column in columns) <= _MOST_CELLS else ds


def _count(value: float) -> int:
    return int(min(max(value, 0), LARGEST_INT)) if math.isfinite(value) else 0


def _attributes(name: str, one: Observed, where: str) -> dict[str, object]:
    """Return the attributes of a variable. Raises DataError if a metric that scalkit knows is in another unit than its own."""
    if one.role == "quality":
        return {"role": "quality"}
    if one.role == "detail":
        return {"role": "detail", "units": one.unit, "long_name": one.metric}
    known = METRICS.get(name, Metric(name, one.unit, one.metric, exact=one.exact))
    if one.unit != known.unit:
        raise DataError(f"{where}: {one.metric!r} is in {one.unit!r}; write it in {known.unit!r}.")
    long_name = "run time" if name == "time" else known.long_name
    return Metric(name, known.unit, long_name, one.exact or known.exact).attrs()


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
    more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
    attrs.setdefault("title", f"the code measured in {files[0][0]}{more}")
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
