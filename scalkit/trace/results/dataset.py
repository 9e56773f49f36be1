"""The result of an analysis as an xarray Dataset: severity[metric, call path, location], and who caused what."""

import gzip
import json
import os
import zlib
from collections.abc import Sequence

import numpy as np
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.support.arguments import path_of
from scalkit.support.files import whole_file
from scalkit.support.text import brief
from scalkit.trace.files.checks import Problem
from scalkit.trace.files.definitions import Definitions
from scalkit.trace.files.reader import Header
from scalkit.trace.options import Options
from scalkit.trace.results.summary import FACTS, WHY
from scalkit.trace.results.sums import Found

CAUSES = ("cause_metric", "cause_location", "cause_by", "cause_path", "cause_severity")
TRAFFIC = ("traffic_location", "traffic_peer", "traffic_operations", "traffic_bytes", "traffic_messages", "traffic_message_bytes")

_FORMAT = "scalkit trace analysis"
_LARGEST = 1 << 53


def build(
    header: Header,
    definitions: Definitions,
    found: Found,
    options: Options,
    problems: Sequence[Problem | str],
    gains: list[tuple[int, int, int]] | None,
    absent: frozenset[str] = frozenset(),
) -> xr.Dataset:
    """Return the Dataset of an analysis.

    `problems`: what was left out.
    Returns: `severity` (metric, path, location) as int64 in the unit of its metric; the waits of a path are its own,
    without those of the paths below it. Rows `cause`: during `cause_metric`, `cause_location` waited `cause_severity`
    for `cause_by`, which had spent most of the time since its call before that in `cause_path`. Rows `traffic`:
    `traffic_location` began `traffic_operations` one-sided operations on `traffic_peer`, of `traffic_bytes`, and sent
    it `traffic_messages` with `traffic_message_bytes`. Rows `gain`, of the largest delays: the run is `gain_ns` shorter, at
    most, if `gain_location` is a tenth faster in `gain_path`. `gains`: these, in tenths of a ns; None: causes are not known.
    `absent`: metrics that are not known, as calls are missing that they need.
    """
    from scalkit import __version__

    names = [name for name, one in FACTS.items() if not (header.is_asynchronous and one.of_progress)]
    names = [name for name in names if name not in absent and (gains is not None or name not in WHY)]
    gain = np.array(gains or [], dtype=np.int64).reshape(-1, 3).T
    severity = np.zeros((len(FACTS), len(definitions.paths), header.locations), dtype=np.int64)
    metric, path, location, value = found.severity
    severity[metric, path, location] = value
    numbers = [number for number, name in enumerate(FACTS) if name in names]
    kept = np.isin(found.causes[0], numbers)
    causes = [column[kept] for column in found.causes]
    n_paths = len(definitions.paths)
    return xr.Dataset(
        {
            "severity": (("metric", "path", "location"), severity[numbers]),
            "unit": ("metric", [FACTS[name].unit for name in names]),
            "path_name": ("path", [definitions.text(k) for k in range(n_paths)]),
            "region": ("path", [definitions.region(k) for k in range(n_paths)]),
            "parent": ("path", definitions.parents),
            "cause_metric": ("cause", np.array([names.index(list(FACTS)[k]) for k in causes[0]], dtype=np.int64)),
            **{name: ("cause", column) for name, column in zip(CAUSES[1:], causes[1:], strict=True)},
            **{name: ("traffic", column) for name, column in zip(TRAFFIC, found.traffic, strict=True)},
            "gain_path": ("gain", gain[0]),
            "gain_location": ("gain", gain[1]),
            "gain_ns": ("gain", gain[2] // 10),
        },
        coords={"metric": names, "path": np.arange(n_paths), "location": np.arange(header.locations)},
        attrs={
            "format": _FORMAT,
            "schema": 1,
            "title": "simulated" if header.is_simulated else "measured",
            "simulated": int(header.is_simulated),
            "trace": json.dumps(header.facts, sort_keys=True),
            "options": json.dumps(options.to_dict(), sort_keys=True),
            "problems": json.dumps([str(one) for one in problems]),
            "functions": json.dumps(sorted(definitions.functions)),
            "scalkit": __version__,
        },
    )


def is_result(ds: object) -> bool:
    """Return whether something is the result of an analysis."""
    return isinstance(ds, xr.Dataset) and bool(ds.attrs.get("format") == _FORMAT)


def require_result(ds: object) -> None:
    """Check that an argument is the result of an analysis. Raises UsageError if it is none."""
    if not is_result(ds):
        raise UsageError(f"{brief(ds)} is no result of an analysis; give one of trace.analyse.")


def write_result(ds: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a result as netCDF-3, in which whole numbers up to 2^53 (104 days of waiting) stand as doubles.

    A name that ends in ``.gz`` is compressed: a twentieth of the size with many processes.

    Raises DataError if a sum is larger, or the file cannot be written.
    """
    require_result(ds)
    path = path_of(path, "the result")
    narrow = ds.copy()
    for name, variable in ds.variables.items():
        if variable.dtype == np.int64:
            if variable.size and int(np.abs(variable.values).max()) > _LARGEST:
                raise DataError(f"{name} has a sum above 2^53, which netCDF-3 cannot hold; keep the Dataset as it is.")
            narrow[name] = variable.astype(np.float64)
    with whole_file(path, DataError) as part:
        if path.suffix == ".gz":
            part.write_bytes(gzip.compress(bytes(narrow.to_netcdf(engine="scipy")), mtime=0))
        else:
            narrow.to_netcdf(part, engine="scipy")


def read_result(path: str | os.PathLike[str]) -> xr.Dataset:
    """Return the Dataset of a file that `write_result` wrote, identical to what was written.

    Raises DataError if it cannot be read, or is something else.
    """
    path = path_of(path, "the result")
    try:
        with xr.open_dataset(path, engine="scipy", decode_times=False) as opened:
            ds = opened.load()
    except (OSError, ValueError, TypeError, KeyError, IndexError, AssertionError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise DataError(f"cannot read {path} as an analysis: {reason}; name a file of 'scalkit trace analyse'.") from error
    if not is_result(ds):
        raise DataError(f"{path} is not the result of an analysis; name a file that 'scalkit trace analyse --out' wrote.")
    ds.encoding = {}
    for name, variable in ds.variables.items():
        variable.encoding = {}
        if variable.dtype.kind == "f":
            ds[name] = variable.astype(np.int64)
        elif variable.dtype.kind == "O":
            ds[name] = variable.astype(np.str_)
    ds.attrs = {name: int(value) if isinstance(value, np.integer) else value for name, value in ds.attrs.items()}
    return ds
